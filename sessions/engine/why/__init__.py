"""Why a session was compacted: cases, causes, verdicts, and the gates of known harnesses laid over it."""
