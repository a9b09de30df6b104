"""The file of the user's own model table: read into this process, again when it has changed, written by the page."""

from __future__ import annotations

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
