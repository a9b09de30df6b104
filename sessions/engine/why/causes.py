"""The closed list of causes, as slugs and in words."""

from __future__ import annotations

MEDIA = "image_or_document_as_text"
DOUBLE = "usage_double_counted"
STALE = "usage_stale_after_compaction"
CACHE = "cache_tokens_left_out"
WINDOW = "wrong_window"
OVERHEAD = "overhead_near_threshold"
RETAINED = "retained_through_compaction"
BODY = "body_size_limit"
MANUAL = "manual"
REACHED = "threshold_reached"
CANNOT_TELL = "cannot_tell"
CAUSES = {
    MEDIA: "an image or a document counted as text",
    DOUBLE: "usage counted twice",
    STALE: "usage from before the last compaction",
    CACHE: "cached tokens left out",
    WINDOW: "the wrong window, or the wrong share of it",
    OVERHEAD: "fixed overhead near the threshold",
    RETAINED: "too much kept through the last compaction",
    BODY: "the size of the request's body, not its tokens",
    MANUAL: "by hand",
    REACHED: "the threshold honestly reached",
    CANNOT_TELL: "cannot be told",
}
WRONG_COUNT = frozenset({MEDIA, DOUBLE, STALE, CACHE, WINDOW})
"""Causes that say that a counter was wrong."""
