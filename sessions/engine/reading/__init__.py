"""From bytes to transcripts: containers, JSON, databases, archives, and the formats."""
