"""The data folder: what broken-off work left in it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from sessions.adapters import leftovers as temporary
from sessions.services.doctor.finding import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator


def leftovers() -> Iterator[Finding]:
    """Files that an upload, a backup or a start wrote half and left."""
    for path in temporary.leftovers():
        text = f"A temporary file was left: {path} ({path.stat().st_size:,} bytes)."
        yield Finding("leftover", text, "deletes it", partial(path.unlink, missing_ok=True))
