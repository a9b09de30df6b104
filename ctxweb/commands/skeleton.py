"""``ctxweb skeleton``: the shape of a transcript without its texts, for a report."""

from __future__ import annotations

import gzip
from contextlib import nullcontext
from itertools import islice
from pathlib import Path

import click

from ctxweb.commands._each import EachFile
from ctxweb.commands._options import files_argument
from ctxweb.commands._writing import TARGET, force_option, new_file
from ctxweb.terminal import say, tell


@click.command("skeleton", cls=EachFile)
@files_argument()
@click.option(
    "-o", "--out", type=TARGET,
    help="File, compressed where its name ends in .gz; default: standard output.",
)  # fmt: skip
@force_option
@click.option("--first", type=click.IntRange(1, 1_000_000_000), metavar="N", help="The first N lines only.")
def command(file: Path, out: Path | None, first: int | None, *, force: bool) -> None:
    """Write the shape of FILE without its texts, small enough for a report.

    Keys, types, lengths and numbers stay. Texts become filler of the same length; ids, names and paths become made-up
    words, the same everywhere. Pictures become filler. Read it before you send it: names of fields are kept.
    """
    from sessions.engine.reading.jsonio import Source
    from sessions.engine.reading.skeleton import Skeleton

    with file.open("rb") as stream:
        lines = islice(Skeleton().lines(Source(stream, file.name)), first)
        if out is None:
            for line in lines:
                tell(line)
            return
        n_lines = 0
        with new_file(out, force=force, source=file) as target:
            packed = gzip.GzipFile("", "wb", fileobj=target) if out.suffix == ".gz" else nullcontext(target)
            with packed as whole:
                for n_lines, line in enumerate(lines, 1):  # noqa: B007  told below
                    whole.write(f"{line}\n".encode())
    say(f"{out}: {n_lines:,} line{'s' * (n_lines != 1)}, {out.stat().st_size:,} bytes")
