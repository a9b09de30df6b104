"""Bounds that keep a hostile or broken upload from taking the worker down; all sizes in bytes unless named."""

from __future__ import annotations

import re

MAX_LINE_BYTES = 64 * 1024 * 1024
"""A longer line is kept as opaque: its bytes are counted, its content is not read."""

MAX_DOCUMENT_BYTES = 128 * 1024 * 1024
"""A single JSON document (not JSONL) larger than this is refused with its size."""

MAX_DEPTH = 500
"""JSON nested deeper than this is opaque (the standard library's parser gives up near 1,000)."""

HEAD_BYTES = 64 * 1024
"""How much of a file sniffing looks at before it asks for whole lines."""

LONG_TEXT_CHARS = 200_000
"""Texts over this many characters are counted in windows (estimators 5.4): tiktoken panics on huge runs."""

MAX_SIDE_PIXELS = 65_535
"""Image sides are clamped to this; a header that claims more is lying or broken."""

PREVIEW_CHARS = 200
TITLE_CHARS = 80
"""Characters of a message kept for lists."""

MAX_ARCHIVE_MEMBERS = 20_000
"""A zip archive with more members is refused."""

MAX_ARCHIVE_BYTES = 1024 * 1024 * 1024
"""Bytes that all members of an archive may unpack to; one member is a document (``MAX_DOCUMENT_BYTES``)."""

MAX_ARCHIVE_RATIO = 300
"""An archive that unpacks to more than this many times its size is refused, once past ``ARCHIVE_RATIO_FLOOR``."""

ARCHIVE_RATIO_FLOOR = 16 * 1024 * 1024
"""Below this many unpacked bytes, any ratio is harmless."""

MAX_UPLOAD_MEMBERS = 10_000
"""Files in an uploaded archive of transcripts, those of archives inside it included."""

MAX_UPLOAD_BYTES = 4 * 1024 * 1024 * 1024
"""Bytes that an uploaded archive of transcripts may unpack to."""

MAX_UPLOAD_RATIO = 200
"""An uploaded archive may unpack to this many times its size, once past ``ARCHIVE_RATIO_FLOOR``."""

MAX_UPLOAD_NESTING = 1
"""Archives inside an uploaded archive are opened this many levels deep."""

MAX_UNPACK_MEMORY = 256 * 1024 * 1024
"""Memory that an xz stream may ask for; ``xz -9`` needs 65 MB."""

MAX_ARCHIVE_LISTING = 8 * 1024 * 1024
"""Bytes of a zip's directory, and of the headers between two members of a tar: both are held in memory."""

DATABASE_ROUND = 100_000
"""Steps of SQLite's machine between two looks at how long a file has been read."""

MAX_DATABASE_ROUNDS = 100_000
"""So many rounds a database may take: some minutes, which only a damaged or hostile one needs."""

MAX_TABLES = 1_000
"""Tables of a database that are looked at."""

MAX_TOKENS = 100_000_000
"""More tokens than any model call has: such a count in a transcript is a mistake, and is not taken as measured."""

MAX_KEPT = 2_000_000
"""Messages that the recorded compactions of a session may keep, those of each added up; a file with more is refused."""

MAX_COUNT = 10**15
"""Counts are cut at this size while a file is read, so that sums of them stay exact and fit a database column."""

CUT_AT = frozenset({PREVIEW_CHARS, TITLE_CHARS, 255})
"""Lengths of texts that were cut: previews, titles, and titles as the database keeps them."""


def cut_clean(text: str) -> str:
    """A text that may be cut, by its length, without its last word: the beginning of a secret is not known as one."""
    return re.sub(r"\S{1,300}\Z", "", text) if len(text) in CUT_AT else text
