"""What a view answers with a file, as WSGI servers wrap it."""

from __future__ import annotations

import io

from ctxweb.gateway import FileBody


def test_a_caller_may_suggest_how_much_is_read_at_once() -> None:
    """PEP 3333: ``file_wrapper(file, block_size)``, as Django's handler calls it."""
    assert list(FileBody(io.BytesIO(b"abcde"), 2)) == [b"ab", b"cd", b"e"]
    assert list(FileBody(io.BytesIO(b"abcde"))) == [b"abcde"]
