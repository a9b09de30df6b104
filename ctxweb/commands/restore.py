"""``ctxweb restore``: a data folder from a backup, whole or not at all; or what the hook kept before a compaction."""

from __future__ import annotations

import gzip
import os
import shutil
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ctxweb.commands._engine import choose, read
from ctxweb.commands._options import PRINTS_JSON
from ctxweb.commands.hook import FOLDER, SUFFIX, WRITTEN
from ctxweb.env import data_dir
from ctxweb.terminal import say, tell, tell_json
from sessions.engine.base.words import counted
from sessions.engine.reading.texts import Texts, texts_in

if TYPE_CHECKING:
    from sessions.services.backups.reading import Backup
    from sessions.services.backups.restoring import Restored


@click.command("restore")
@click.argument("file", required=False)
@click.option("--into", type=click.Path(file_okay=False, path_type=Path), help="Folder. [default: the data folder]")
@click.option("--copies", "lists", is_flag=True, help="List the transcripts that `ctxweb hook precompact` kept.")
@click.option("--message", type=click.IntRange(min=0), help="Print the text of this message of a kept transcript.")
@click.option("--force", is_flag=True, help="Put a folder that is not empty aside, under another name.")
@PRINTS_JSON
def command(
    file: str | None, into: Path | None, message: int | None, *, lists: bool, force: bool, as_json: bool
) -> None:
    """Make a data folder from FILE, a backup, and bring it to this version. Stop the server first.

    Every file is compared with its hash. The folder appears when all of it is there; until then nothing is changed.

    FILE may also be a transcript that `ctxweb hook precompact` kept before a compaction: "latest", the id of its
    session, or its path. Then --message prints one message of it, and --into FOLDER unpacks it there.
    """
    if lists:
        show_copies(as_json=as_json)
        return
    if not file:
        raise click.UsageError("Name a backup, or a kept transcript: `ctxweb restore --copies` lists those.")
    if _kept(file, into, message, as_json=as_json):
        return
    if message is not None:
        raise click.UsageError("No kept transcript of that name: `ctxweb restore --copies` lists those.")
    if Path(file).exists() and not Path(file).is_file():
        raise click.BadParameter(f"{file!r} is no file on a disk. Save the backup to one first.")
    if not Path(file).is_file():
        raise click.BadParameter(f"File {file!r} does not exist, and no kept transcript has that name.")
    _whole(Path(file), into, force=force, as_json=as_json)


def _kept(file: str, into: Path | None, message: int | None, *, as_json: bool) -> bool:
    """Answer for a transcript that the hook kept; False where ``file`` names none."""
    copy = copy_named(file)
    if copy is None:
        return False
    document: dict[str, Any] = {"schema": "ctxweb.copied/1", "copy": copy.name}
    if message is not None:
        words = message_text(copy, message)
        document |= {"message": message, "text": words}
    elif into is None:
        raise click.UsageError(f"{copy.name} is a kept transcript. Add --message N, or --into FOLDER to unpack it.")
    else:
        target = write_back(copy, into.expanduser())
        words = f"Unpacked to {target}. `ctxweb why {target}` reads it."
        document["file"] = str(target)
    tell_json(document) if as_json else tell(words)
    return True


def _whole(file: Path, into: Path | None, *, force: bool, as_json: bool) -> None:
    from sessions.services.backups.reading import opened

    target = (into or data_dir()).expanduser().absolute()
    if target.is_mount():
        hint = f"Choose a folder inside it: --into {target / 'ctxweb'}"
        raise click.ClickException(f"{target} is a mount point, which cannot be exchanged whole. {hint}")
    full = target.is_dir() and any(target.iterdir())
    if full and not force:
        raise click.ClickException(f"{target} is not empty. Choose another with --into, or put it aside with --force.")
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}-restore-"))
    try:
        with opened(file) as backup:
            restored = _restore(backup, draft)
        aside = _exchange(draft, target, full=full)
    except OSError as error:
        raise click.ClickException(f"{error.strerror or error}: check that the disk of {target} has room.") from None
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    if as_json:
        tell_json({
            "schema": "ctxweb.restore/1", "folder": str(target), "aside": str(aside) if aside else None,
            "blobs": restored.n_blobs, "bytes": restored.n_bytes, "lost": restored.n_lost,
        })  # fmt: skip
        return
    say(f"Restored {restored.n_blobs:,} stored files and the database to {target}.")
    if aside:
        say(f"The folder that was there is now {aside}.")
    if restored.n_lost:
        say(f"{restored.n_lost:,} stored files were lost before the backup: see `ctxweb doctor`.")
    say(f"Start it with CTXWEB_DATA={target} ctxweb serve")


def _restore(backup: Backup, draft: Path) -> Restored:
    """Fill ``draft`` as the data folder of this process."""
    from sessions.services.backups import KEY

    if KEY in backup.members:
        (draft / KEY).touch(mode=0o600)
        with backup.open(KEY) as source, (draft / KEY).open("wb") as key:
            shutil.copyfileobj(source, key)
    os.environ["CTXWEB_DATA"] = str(draft)
    from ctxweb.startup import load_django

    load_django()
    from sessions.services.backups.restoring import restore

    return restore(backup)


def _exchange(draft: Path, target: Path, *, full: bool) -> Path | None:
    """Give the finished folder its name; what was there before is kept under another."""
    aside = None
    if full:
        aside = target.with_name(f"{target.name}.before-{time.strftime('%Y%m%d-%H%M%S')}")
        target.rename(aside)
    try:
        draft.rename(target)
    except OSError:
        if aside is not None:
            with suppress(OSError):
                aside.rename(target)
        raise
    return aside


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


def show_copies(*, as_json: bool) -> None:
    """A line for each, and what can be done with it."""
    found = copies()
    if as_json:
        tell_json({"schema": "ctxweb.copies/1", "copies": [copy.document() for copy in found]})
        return
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
        with Texts(lambda: whole.open("rb"), parsed.format) as texts:
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
