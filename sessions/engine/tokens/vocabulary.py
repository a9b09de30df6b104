"""Builds tiktoken encodings offline from the vendored vocabularies.

``vocab/<name>.bin.xz`` is LZMA of ``n`` length bytes followed by the ``n`` tokens' bytes in rank order (ranks are
contiguous, no token is longer than 128 bytes).  That is lossless: ``rank_file`` rebuilds tiktoken's file byte for
byte, and ``SHA256`` are the checksums tiktoken itself expects (estimators 2.1, 2.3).
"""

from __future__ import annotations

import lzma
import os
import threading
from functools import cache
from itertools import accumulate, pairwise
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import tiktoken

FOLDER = Path(__file__).with_name("vocab")
RANKS = {"o200k_base": 199_998, "cl100k_base": 100_256}

_lock = threading.Lock()


def encoding(name: str = "o200k_base") -> tiktoken.Encoding:
    """The tiktoken encoding ``name``, built once, offline unless TIKTOKEN_CACHE_DIR is set; raises KeyError."""
    if name not in RANKS:
        raise KeyError(f"no vendored vocabulary {name!r}; known: {', '.join(RANKS)}")
    with _lock:
        return _build(name)


def is_vendored(name: str) -> bool:
    """Whether our own copy of the vocabulary is used: TIKTOKEN_CACHE_DIR asks for tiktoken's own loading."""
    return name in RANKS and not os.environ.get("TIKTOKEN_CACHE_DIR")  # noqa: TID251  tiktoken's own switch


def is_built(name: str) -> bool:
    """Whether ``encoding(name)`` costs nothing any more."""
    return name in _built


_built: set[str] = set()


@cache
def _build(name: str) -> tiktoken.Encoding:
    import tiktoken  # its start takes longer than counting a small file (see tokenizer)
    from tiktoken_ext import openai_public  # type: ignore[import-untyped]

    _built.add(name)
    if not is_vendored(name):
        return tiktoken.get_encoding(name)
    # A tiktoken_ext plugin of the same name would raise "Duplicate encoding name"; lending our loader for the length of
    # one call keeps tiktoken's own pattern and special tokens (estimators 2.4).
    theirs = openai_public.load_tiktoken_bpe
    try:
        openai_public.load_tiktoken_bpe = lambda *_args, **_kwargs: ranks(name)
        made = tiktoken.get_encoding(name)
        made._mergeable_ranks = {}  # noqa: SLF001  23 MB: its core has tables of its own and never looks here again
        return made
    finally:
        openai_public.load_tiktoken_bpe = theirs


def tokens(name: str) -> list[bytes]:
    """All tokens of the vocabulary in rank order."""
    data = lzma.decompress((FOLDER / f"{name}.bin.xz").read_bytes())
    n = RANKS[name]
    ends = accumulate(data[:n], initial=n)
    return [data[start:end] for start, end in pairwise(ends)]


def ranks(name: str) -> dict[bytes, int]:
    """Token bytes to rank, as tiktoken takes them."""
    return dict(zip(tokens(name), range(RANKS[name]), strict=True))
