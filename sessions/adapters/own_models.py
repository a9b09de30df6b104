"""The user's own model table: its file, read again by a server when it has changed, and written by the page."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from pathlib import Path

from sessions.adapters.whole import write_whole
from sessions.engine.base.errors import BadParameter
from sessions.engine.models.model_info import OwnModel, use_own_models
from sessions.engine.models.own_models import read_models, write_models

MOST_BYTES = 1024 * 1024


def models_in(path: Path, *, named: bool = False) -> dict[str, OwnModel]:
    """The models of the file, none where it is not there; raises BadParameter, also where a ``named`` one is not."""
    if not path.is_file():
        if named:
            raise BadParameter(f"there is no model table {path}: make it, or leave CTXWEB_MODELS empty")
        return {}
    if path.stat().st_size > MOST_BYTES:
        raise BadParameter(f"{path} is larger than a model table may be: {MOST_BYTES:,} bytes")
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadParameter(f"the model table {path} cannot be read: {error}") from error
    return read_models(text, str(path))


def use_models_in(path: Path, *, named: bool = False) -> bool:
    """Have the file's models stand above the built-in table; whether that changed anything.  Raises BadParameter."""
    return use_own_models(models_in(path, named=named))


def keep_models(path: Path, models: Mapping[str, OwnModel]) -> None:
    """Write the file whole, or not at all, and use it; raises OSError."""
    write_whole(path, write_models(models))
    use_own_models(models)


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
    from django.conf import settings  # which read the table, too

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
