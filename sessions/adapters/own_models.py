"""The user's own model table in a server: used from the start, read again when its file has changed."""

from __future__ import annotations

import logging
import time
from pathlib import Path

from django.conf import settings

from sessions.adapters.models_file import use_models_in
from sessions.engine.base.errors import BadParameter

SECONDS = 2.0
"""The file is looked at again after this long: another process, or an editor, may have changed it."""
_looked: list[float] = []
_used: list[object] = []
"""Which file the models in use are from."""
log = logging.getLogger(__name__)


def refresh() -> bool:
    """Use the file as it stands now; whether that changed anything.  What is wrong with it is logged, and it waits."""
    now = time.monotonic()
    if any(now - then < SECONDS for then in tuple(_looked)):
        return False
    path = settings.MODELS_FILE
    found = _version(path)
    is_new = _used != [found]
    _looked[:], _used[:] = [now], [found]
    if not is_new:
        return False
    try:
        return use_models_in(path)
    except BadParameter as error:
        log.warning("%s; the models known before stay", error)
        return False


def _version(path: Path) -> object:
    """What tells a file from the one before, however soon it was written; None where there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_ino, found.st_size


def look_again(**_: object) -> None:
    """Look at the file when next asked, however soon: at every request, for another process may have written it."""
    _looked.clear()
