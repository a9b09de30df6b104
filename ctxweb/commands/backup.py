"""``ctxweb backup``: database, uploads and images in one file, made while the server works."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ctxweb.commands._options import PRINTS_JSON
from ctxweb.env import expect_data
from ctxweb.terminal import say, tell_json
from sessions.engine.base.words import counted


@click.command("backup")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--force", is_flag=True, help="Write over FILE if it is there.")
@PRINTS_JSON
def command(file: Path, *, force: bool, as_json: bool) -> None:
    """Write everything that is stored to FILE, a tar archive, while server and workers go on.

    FILE holds all transcripts and the key that signs cookies: keep it as safe as the data folder.
    """
    if file.exists() and not force:
        raise click.ClickException(f"{file} is there already. Choose another name, or pass --force.")
    if not file.absolute().parent.is_dir():
        raise click.ClickException(f"There is no folder {file.absolute().parent}. Make it first.")
    from ctxweb.startup import load_django
    from ctxweb.version import ctxweb_version

    expect_data()
    load_django()
    from sessions.pages.ui.figures import size
    from sessions.services import doctor
    from sessions.services.backups.writing import write_backup

    for problem in doctor.schema():
        raise click.ClickException(f"{problem.text} Run `ctxweb doctor --mend` first.")
    try:
        written = write_backup(file.absolute(), ctxweb_version())
    except OSError as error:
        raise click.ClickException(f"{error.strerror or error}: check that the disk of {file} has room.") from None
    facts: dict[str, Any] = {
        "schema": "ctxweb.backup/1", "file": str(file), "blobs": written.n_blobs, "bytes": file.stat().st_size,
        "missing": list(written.missing), "secret_key": written.has_key,
    }  # fmt: skip
    if as_json:
        tell_json(facts)
        return
    held = f"the database, {counted(written.n_blobs, 'stored file')}"
    say(f"Wrote {file}, {' '.join(size(file.stat().st_size))}: {held}.")
    if written.has_key:
        say("It also holds the key that signs cookies, so only you can read it (0600).")
    if written.missing:
        lost = counted(len(written.missing), "stored file")
        say(f"{lost} had been lost before. `ctxweb doctor` says which.")
