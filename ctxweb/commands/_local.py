"""Sessions that agents keep on this machine, as words of the command line: ``latest``, or an id of ``ctxweb list``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ctxweb.terminal import say

if TYPE_CHECKING:
    from sessions.adapters.local import LocalFile

LATEST = "latest"
AN_ID = re.compile(r"[0-9a-f]{10}")
NOTHING = "No agent on this machine keeps transcripts where ctxweb looks. `ctxweb list --where` names the folders."


def latest_file() -> Path:
    """The transcript that was written last; raises ClickException where there is none."""
    found = _newest(1)[0]
    say(f"{found.agent.label}: {found.path}")
    return found.path


def latest_files(most: int) -> tuple[str, ...]:
    """The paths of the ``most`` transcripts that were written last; raises ClickException where there is none."""
    return tuple(str(one.path) for one in _newest(most))


def _newest(most: int) -> list[LocalFile]:
    from sessions.adapters.local import local_files

    found = local_files()[:most]
    if not found:
        raise click.ClickException(f"{NOTHING} Name a file.")
    return found


def named_locally(words: Sequence[str]) -> tuple[str, ...]:
    """The words of a command with ``latest`` and ids replaced by their paths; a file of that name comes first."""
    return tuple(_path(word) if word == LATEST or AN_ID.fullmatch(word) else word for word in words)


def _path(word: str) -> str:
    if Path(word).exists():
        return word
    if word == LATEST:
        return str(latest_file())
    from sessions.adapters.local import local_files

    return next((str(one.path) for one in local_files() if one.id == word), word)
