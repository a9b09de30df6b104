"""Threshold policies replayed by jumping from compaction to compaction."""
