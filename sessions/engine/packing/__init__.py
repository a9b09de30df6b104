"""Stored bytes: one codec, sequences that wait packed, temporary files."""
