"""What a compaction lost: what later work depended on, the rules that bound it, and questions it must still answer."""
