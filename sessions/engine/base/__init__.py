"""What everything else stands on: errors, limits, the registry, words and amounts."""
