"""The copies that ``ctxweb hook precompact`` keeps: which there are, one message of one, and the whole file back."""

from __future__ import annotations

import gzip
import shutil
import tempfile
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from ctxweb.commands._engine import choose, read
from ctxweb.commands.hook import FOLDER
from ctxweb.env import data_dir
from ctxweb.terminal import tell
from sessions.engine.base.words import counted
from sessions.engine.reading.texts import Texts, texts_in

SUFFIX = ".jsonl.gz"
WRITTEN = "%Y%m%dT%H%M%S%f"
LATEST = "latest"


@dataclass(frozen=True, slots=True)
class Copy:
    """One kept transcript: its file, the session's id, when it was kept, bytes packed."""

    path: Path
    session: str
    kept: datetime
    size: int

    def document(self) -> dict[str, Any]:
        """One entry of ``copies[]``."""
        return {"copy": self.path.name, "session": self.session, "kept": self.kept.isoformat(), "bytes": self.size}


def copies() -> list[Copy]:
    """Those in the data folder, the newest first; files of other names are passed over."""
    found = []
    for path in (data_dir() / FOLDER).glob(f"*{SUFFIX}"):
        written, _, session = path.name.removesuffix(SUFFIX).partition("-")
        try:
            kept = datetime.strptime(written, WRITTEN).replace(tzinfo=UTC)
            found.append(Copy(path, session, kept, path.stat().st_size))
        except (ValueError, OSError):
            continue
    return sorted(found, key=lambda copy: (copy.kept, copy.path.name), reverse=True)


def copy_named(word: str) -> Path | None:
    """The copy that ``word`` names: "latest", the beginning of its name or of its session's id, or its path."""
    path = Path(word)
    if word.endswith(SUFFIX) and path.is_file():
        return path
    if not word or path.exists():
        return None
    return next(
        (c.path for c in copies() if word == LATEST or c.path.name.startswith(word) or c.session.startswith(word)), None
    )


def show_copies() -> None:
    """A line for each, and what can be done with it."""
    found = copies()
    for copy in found:
        kept = copy.kept.astimezone().strftime("%Y-%m-%d %H:%M")
        tell(f"{kept}  {copy.size / 1e6:,.2f} MB  session {copy.session}\n  {copy.path}")
    if found:
        tell("A message of one: `ctxweb restore latest --message 12`. The file: `ctxweb restore latest --into FOLDER`.")
        return
    tell(f"No copy in {data_dir() / FOLDER}. `ctxweb hook --help` says how Claude Code keeps one.")


def message_text(path: Path, number: int) -> str:
    """The exact text of message ``number`` of a copy; raises ClickException where there is none."""
    with tempfile.TemporaryDirectory() as folder:
        whole = write_back(path, Path(folder))
        parsed = read(whole, None)
        transcript = choose(parsed, None)
        if not 0 <= number < len(transcript.messages):
            said = f"No message {number} in {path.name}: it has {counted(len(transcript.messages), 'message')}, from 0."
            raise click.ClickException(said)
        with closing(Texts(lambda: whole.open("rb"), parsed.format)) as texts:
            return "\n".join(texts_in(texts.of(transcript.messages[number]))) or "This message holds no text."


def write_back(path: Path, folder: Path) -> Path:
    """Unpack a copy into ``folder`` under its own name; a file that is there is left alone (ClickException)."""
    target = folder / path.name.removesuffix(".gz")
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with gzip.open(path, "rb") as source, target.open("xb") as file:
            target.chmod(0o600)
            shutil.copyfileobj(source, file)
    except FileExistsError:
        raise click.ClickException(f"{target} is there already, and was not changed.") from None
    except (gzip.BadGzipFile, EOFError) as error:
        target.unlink(missing_ok=True)
        raise click.ClickException(
            f"{path}: {error}. The copy is damaged; `ctxweb restore --copies` lists others."
        ) from None
    return target
