"""The input files of commands: from folders, patterns, standard input, archives, databases, branches of checkpoints.

Nothing is written where the user's files are.  What has to be unpacked or joined lies in a temporary folder until the
next input is asked for.
"""

from __future__ import annotations

import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, BinaryIO

import click

from ctxweb.terminal import say
from sessions.engine.base import limits
from sessions.engine.base.errors import UnreadableInput
from sessions.engine.reading.database import MAGIC, snapshot
from sessions.engine.reading.jsonio import JsonProblem, loads
from sessions.engine.reading.reading import claims
from sessions.engine.reading.unpacking import packing, unpack

if TYPE_CHECKING:
    from sessions.adapters.local import LocalFile


STDIN = "-"
PATTERN = frozenset("*?[")
SHOWN_HIDDEN = frozenset({".system_generated", ".crush", ".aider.chat.history.md"})
"""Hidden names that agents give to transcripts in folders that people name (formats 25, 43)."""
BESIDE = ("-wal", "-shm", "-journal")
CHUNK_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Given:
    """One file to read: ``path`` has its bytes, ``name`` is what readers are told, folders included.

    ``shown`` is how the user knows it; ``named`` tells a file that was asked for from one that was only found.
    """

    path: Path
    name: str
    shown: str
    named: bool = True


def files_under(folder: Path) -> list[Path]:
    """The files in a folder, hidden ones left out, sorted."""
    found = [one for one in sorted(folder.rglob("*")) if one.is_file() and not _hidden(one.relative_to(folder))]
    return longest([(one.as_posix(), one) for one in found])


def inputs(words: Sequence[str | Path], *, unpacked: bool = True, kept: ExitStack | None = None) -> Iterator[Given]:
    """Every file that the ``words`` of a command line stand for; ``unpacked``: archives are opened, too.

    What had to be unpacked is there until the next word is asked for, or until ``kept`` is closed.  Raises
    click.UsageError for a word that stands for nothing, UnreadableInput for an archive that cannot be opened.
    """
    root = _common(words)
    for word in map(str, words):
        with ExitStack() as own:
            stack = own if kept is None else kept
            for found in _found(word, root, stack):
                yield from _unpacked(found, stack) if unpacked else (_whole(found, stack),)


def first_inputs(words: Sequence[str | Path], kept: ExitStack) -> tuple[list[Given], Iterator[Given]]:
    """The first inputs, one of several words, up to two of one word, and all: tells one file from several."""
    found = inputs(words, kept=kept)
    first = list(islice(found, 1 if len(words) > 1 else 2))
    return first, chain(first, found)


def _found(word: str, root: Path | None, stack: ExitStack) -> Iterator[Given]:
    """The files of one word, not yet unpacked."""
    path = Path(word)
    if not word:
        raise click.UsageError("The name of a file is empty.")
    if word == STDIN:
        yield Given(_copied(sys.stdin.buffer, "standard input", stack), "stdin", "standard input")
    elif path.is_dir():
        base = path.resolve().parent
        for one in files_under(path):
            yield Given(one, one.resolve().relative_to(base).as_posix(), str(one), named=False)
    elif path.is_file():
        yield Given(path, _name(path, root), word)
    elif path.exists():
        yield _piped(path, word, stack)
    elif PATTERN & set(word):
        yield from _matching(word)
    elif (at := word.find("@")) > 0 and Path(word[:at]).is_dir():
        yield from _branch(Path(word[:at]), word[at + 1 :], stack)
    else:
        raise click.UsageError(f"File '{word}' does not exist.")


def _matching(pattern: str) -> Iterator[Given]:
    """The files that a pattern matches, for shells that leave it to programs."""
    found = [Path(name) for name in sorted(glob.glob(pattern, recursive=True)) if Path(name).is_file()]
    if not found:
        raise click.UsageError(f"No file matches '{pattern}'.")
    root = _common(found)
    for path in longest([(path.as_posix(), path) for path in found]):
        yield Given(path, _name(path, root), str(path))


def _common(words: Sequence[str | Path]) -> Path | None:
    """The folder above the one that several files share; None for one file alone."""
    paths = [Path(word).resolve() for word in words if Path(word).is_file()]
    return Path(os.path.commonpath([path.parent for path in paths])).parent if len(paths) > 1 else None


def _name(path: Path, root: Path | None) -> str:
    """A file's name with the folders below ``root``, as some agents pair sessions by folder."""
    return path.resolve().relative_to(root).as_posix() if root else path.name


def _hidden(path: Path) -> bool:
    hidden = any(part.startswith(".") and part not in SHOWN_HIDDEN for part in path.parts)
    return hidden or path.name.endswith(BESIDE)


def _folder(stack: ExitStack) -> Path:
    return Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="ctxweb-")))


def _piped(path: Path, word: str, stack: ExitStack) -> Given:
    """A named pipe, ``<(…)`` or a device: read once, and kept meanwhile."""
    try:
        with path.open("rb", buffering=0) as stream:
            kept = _copied(stream, word, stack)
    except OSError as error:
        raise click.UsageError(f"{word} cannot be read: {error.strerror}.") from error
    return Given(kept, "stdin" if path.parts[1:2] in {("dev",), ("proc",)} else path.name, word)


def _copied(stream: IO[bytes], word: str, stack: ExitStack) -> Path:
    """What a stream holds, as a file: it is read more than once."""
    if stream.isatty():
        raise click.UsageError(f"Nothing is piped into {word}. For example: cat session.jsonl | ctxweb inspect -")
    path, n_bytes = _folder(stack) / "stdin", 0
    with path.open("wb") as out:
        while chunk := stream.read(CHUNK_BYTES):
            n_bytes += len(chunk)
            if n_bytes > limits.MAX_UPLOAD_BYTES:
                raise UnreadableInput(f"{word} holds more than {limits.MAX_UPLOAD_BYTES:,} bytes")
            out.write(chunk)
    return path


def _unpacked(given: Given, stack: ExitStack) -> Iterator[Given]:
    """What a packed file holds, file by file; every other file as it is."""
    with given.path.open("rb") as file:
        if not packing(file) or claims(file):
            yield _whole(given, stack)
            return
        found = _members(given, file, stack)
    yield from found
    if not found:
        raise UnreadableInput(f"{given.shown} holds no file that can be read", next_step="Name a transcript")


def _members(given: Given, file: BinaryIO, stack: ExitStack) -> list[Given]:
    """An archive's files, copied under names of our own; a file compressed alone keeps its place and its name."""
    folder = _folder(stack)
    kept: list[Given] = []
    for number, member in enumerate(unpack(file, given.name, is_whole=claims)):
        label = f"{given.shown}:{member.name}" if "/" in member.name or number else given.shown
        if member.problem and member.is_file:
            say(f"{label}: {member.problem}")
        if member.file is None:
            continue
        path = folder / str(number) / _safe(member.name)
        path.parent.mkdir()
        with path.open("wb") as out:
            shutil.copyfileobj(member.file, out, CHUNK_BYTES)
        parent = given.name.rpartition("/")[0]
        name = f"{parent}/{member.name}" if parent else member.name or path.name
        kept.append(Given(path, name, label, named=False))
    if len(kept) == 1:
        kept = [replace(kept[0], shown=given.shown, named=given.named)]
    chosen = set(longest([(one.name, one.path) for one in kept]))
    return [one for one in kept if one.path in chosen]


def _safe(name: str) -> str:
    """The last part of a member's name, fit for our own folder."""
    base = "".join(c for c in name.replace("\\", "/").rpartition("/")[2] if c.isalnum() or c in "-_. ")
    return base[-100:].strip(" .") or "unnamed"


def _whole(given: Given, stack: ExitStack) -> Given:
    """The file itself; a database with a write-ahead log beside it is joined with that."""
    log = given.path.with_name(f"{given.path.name}-wal")
    try:
        if not log.is_file() or not log.stat().st_size:
            return given
        with given.path.open("rb") as file:
            if file.read(len(MAGIC)) != MAGIC:
                return given
    except OSError:
        return given
    return replace(given, path=snapshot(given.path, _folder(stack)))


def _branch(repository: Path, branch: str, stack: ExitStack) -> Iterator[Given]:
    """The transcripts that a git branch stores, of each session the longest (formats 2.1)."""
    folder = _folder(stack)
    git = ["git", "-C", str(repository), "-c", "core.fsmonitor=false"]
    found = subprocess.run(
        [*git, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{branch}^{{tree}}"],
        capture_output=True, check=False, text=True,
    )  # fmt: skip
    if found.returncode:
        raise click.UsageError(f"No branch '{branch}' in the git repository {repository}.")
    packed = folder / "branch.tar"
    subprocess.run([*git, "archive", "--format=tar", "-o", str(packed), found.stdout.strip()], check=True)
    given = Given(packed, f"{branch}/{packed.name}", f"{repository}@{branch}", named=False)
    with packed.open("rb") as file:
        yield from (replace(one, named=False) for one in _members(given, file, stack))


TRANSCRIPT, FACTS = "full.jsonl", "metadata.json"
MAX_FACTS_BYTES = 1 << 20
_PLACE = re.compile(r"(?:^|/)[0-9a-f]{2}/[0-9a-f]{10}/(?:\d+/)?[^/]+$")


def longest(files: Sequence[tuple[str, Path]]) -> list[Path]:
    """The files, given by name and place; of what checkpoints hold the longest of each session (formats 2.1)."""
    folders = {_above(name) for name, _ in files if _PLACE.search(name) and name.endswith(f"/{TRANSCRIPT}")}
    inside = {name for name, _ in files if _PLACE.search(name) and _of_checkpoint(name, folders)}
    places = dict(files)
    best: dict[str, tuple[int, str]] = {}
    stored = [name for name in inside if name.endswith(f"/{TRANSCRIPT}")]
    for name in sorted(stored):
        size = places[name].stat().st_size
        key = _session(places.get(f"{_above(name)}/{FACTS}")) or name
        best[key] = max(best.get(key, (-1, "")), (size, name))
    kept = {name for _, name in best.values()}
    if len(stored) > len(kept):
        say(f"Checkpoints of the same sessions: {len(stored) - len(kept):,} left out, the longest are read")
    return [place for name, place in files if name not in inside or name in kept]


def _above(name: str) -> str:
    return name.rpartition("/")[0]


def _of_checkpoint(name: str, folders: set[str]) -> bool:
    """Whether the file lies in a checkpoint's folder, or in the one above that is of all its sessions."""
    folder = _above(name)
    return folder in folders or any(_above(one) == folder for one in folders)


def _session(facts: Path | None) -> str:
    """The session that a checkpoint's metadata names, "" where they are missing or broken."""
    if facts is None:
        return ""
    try:
        with facts.open("rb") as file:
            found = loads(file.read(MAX_FACTS_BYTES))
    except (OSError, JsonProblem):
        return ""
    session = found.get("session_id") if isinstance(found, dict) else None
    return session if isinstance(session, str) else ""


def entry(shown: str, status: str, **found: Any) -> dict[str, Any]:
    """What became of a file, an entry of ``uploads[]``; what was not ``found`` is null, nothing or none."""
    none: dict[str, Any] = {
        "file": shown, "sha256": None, "status": status, "format": None, "sessions": [], "new_messages": None,
        "skipped": 0, "error": None, "members": [],
    }  # fmt: skip
    return none | found


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
