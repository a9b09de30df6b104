"""The demo: a generated session with the founding example in it."""
