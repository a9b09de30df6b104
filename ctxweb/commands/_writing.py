"""Files that a person names for a command to write, or has written in: nothing of theirs is lost."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

import click

TARGET = click.Path(dir_okay=False, path_type=Path)
force_option = click.option("--force", is_flag=True, help="Write over a file that is there.")


def leave_alone(path: Path, *, force: bool, source: Path | None = None) -> None:
    """Raise ClickException where writing to ``path`` would lose a file; over ``source``, which is read, always."""
    if _is_no_file(path) or not os.path.lexists(path):
        return
    if source is not None and os.path.exists(path) and os.path.exists(source) and path.samefile(source):
        raise click.ClickException(f"{path} is the file that is read. Choose another name.")
    if not force:
        raise click.ClickException(f"{path} is there already. Choose another name, or pass --force.")


@contextmanager
def new_file(path: Path, *, force: bool, source: Path | None = None) -> Iterator[BinaryIO]:
    """The file to write into, replaced once the new one is whole; raises ClickException, also for ``leave_alone``."""
    leave_alone(path, force=force, source=source)
    try:
        if _is_no_file(path):
            with path.open("wb") as out:
                yield out
        elif path.exists():
            with _beside(path) as out:
                yield out
        else:
            with path.open("xb") as out, _gone_unless_whole(path):
                yield out
    except OSError as error:
        raise click.ClickException(f"{path}: {error.strerror}. Choose another file.") from error


def write_text(path: Path, text: str, *, force: bool, source: Path | None = None) -> None:
    """A whole text as a file, in UTF-8; raises as ``new_file``."""
    with new_file(path, force=force, source=source) as out:
        out.write(text.encode())


def replace_bytes(path: Path, data: bytes) -> None:
    """The file's bytes, whole or not at all, under the same mode; raises OSError."""
    with _beside(path) as out:
        out.write(data)


def copy_beside(path: Path) -> Path:
    """A copy of the file as it is, under a new name in its folder; raises OSError."""
    copy = path.with_name(f"{path.name}.{datetime.now(UTC):%Y%m%dT%H%M%S%f}.bak")
    with path.open("rb") as source, copy.open("xb") as target:
        shutil.copyfileobj(source, target)
    shutil.copymode(path, copy)
    return copy


def _is_no_file(path: Path) -> bool:
    """A pipe, a terminal, a device: it holds nothing that could be lost."""
    return os.path.exists(path) and not stat.S_ISREG(path.stat().st_mode)


@contextmanager
def _gone_unless_whole(path: Path) -> Iterator[None]:
    try:
        yield
    except BaseException:
        path.unlink(missing_ok=True)
        raise


@contextmanager
def _beside(path: Path) -> Iterator[BinaryIO]:
    """A draft in the file's own folder that takes its place when the block ends well; links lead where they did."""
    path = Path(os.path.realpath(path))
    number, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    draft = Path(name)
    try:
        with os.fdopen(number, "wb") as out:
            yield out
            out.flush()
            os.fsync(out.fileno())
        with suppress(FileNotFoundError):
            shutil.copymode(path, draft)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
