"""Base64 that holds what is redacted where it stands in the open."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator

from sessions.engine.redact.values import telling

_RUN = re.compile(r"(?<![A-Za-z0-9+/_=-])[A-Za-z0-9+/_-]{16,}={0,2}(?![A-Za-z0-9+/_])")
MOST = 200_000
"""Characters of a run that is decoded: longer ones are images and archives."""
_FIRST = 24


def texts(text: str) -> Iterator[tuple[int, int, str]]:
    """Where base64 of text stands, and the text."""
    for match in _RUN.finditer(text):
        run = match[0]
        if len(run) <= MOST and _read(run[:_FIRST]):
            found = _read(run)
            if found:
                yield (*match.span(), found)


def _read(run: str) -> str:
    """The text of a run, also where Windows wrote two bytes for a letter; nothing where it is none."""
    bare = run.rstrip("=").replace("-", "+").replace("_", "/")
    bare = bare[: len(bare) - 1] if len(bare) % 4 == 1 else bare
    try:
        data = base64.b64decode(bare + "=" * (-len(bare) % 4), validate=True)
        if data[1:8:2] == b"\0\0\0\0":
            return data.decode("utf-16-le")
        found = data.decode("utf-8", "strict" if len(run) != _FIRST else "ignore")
    except (binascii.Error, UnicodeDecodeError):
        return ""
    return found if all(c.isprintable() or c in "\n\r\t" for c in found) else ""


def is_login(text: str) -> bool:
    """Whether it is a user's name and a password, as a header has them."""
    name, _, password = text.strip().partition(":")
    return (
        re.fullmatch(r"[\w.@-]{0,40}[A-Za-z][\w.@-]{0,40}", name) is not None
        and telling(password)
        and " " not in password
    )
