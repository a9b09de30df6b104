"""Commands of one FILE that take several: one file gives what it always gave, several give a part each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from typing import Any

import click

from ctxweb.commands._engine import NAMES, SEVERAL, emit, write_csv
from ctxweb.commands._files import Given, first_inputs, latest_files, named_locally
from ctxweb.terminal import say, terminal, titled
from sessions.engine.base.errors import EngineError
from sessions.engine.reading.reading import NotATranscript


class EachFile(click.Command):
    """A command whose callback takes ``file``: it is called for every input that the argument ``files`` names."""

    def invoke(self, ctx: click.Context) -> Any:
        """Call the command once for one file, else once for each; exit status 1 where one that was named failed."""
        latest = ctx.params.pop("latest", None)
        words = named_locally(ctx.params.pop("files"))
        if latest is not None:
            if words:
                raise click.UsageError("FILE or --latest, not both")
            words = latest_files(latest)
        call = self.callback
        if call is None:
            return None
        if not words:
            return ctx.invoke(call, file=None, **ctx.params)
        with ExitStack() as kept:
            first, every = first_inputs(words, kept)
            if len(words) == 1 and len(first) == 1:
                return ctx.invoke(call, file=_known(ctx, first[0]), **ctx.params)
            return _each(ctx, every, call)


def _known(ctx: click.Context, given: Given) -> Any:
    ctx.meta.setdefault(NAMES, {})[given.path] = given.name
    return given.path


def _each(ctx: click.Context, every: Iterator[Given], call: Callable[..., None]) -> None:
    """Every file in turn; what fails is said and does not stop the others."""
    plain = not (ctx.params.get("as_json") or ctx.params.get("as_csv"))
    found: list[dict[str, Any]] = []
    failed, n_read = False, 0
    for given in every:
        document: list[Any] = []
        ctx.meta[SEVERAL] = document
        error = ""
        try:
            if plain:
                terminal().print(titled(f"== {given.shown}"))
            ctx.invoke(call, file=_known(ctx, given), **ctx.params)
            n_read += 1
        except (EngineError, OSError) as problem:
            if isinstance(problem, NotATranscript) and not given.named:
                continue
            error, failed = str(problem), failed or given.named
            say(f"{given.shown}: {error}")
        found.append({"file": given.shown, "error": error or None, "document": document[0] if document else None})
    ctx.meta.pop(SEVERAL, None)
    if ctx.params.get("as_json"):
        emit({"schema": "ctxweb.files/1", "files": found})
    elif ctx.params.get("as_csv"):
        write_csv(_joined(found))
    if not n_read:
        say("No transcript among these files.")
    if failed or not n_read:
        ctx.exit(1)


def _joined(found: list[dict[str, Any]]) -> list[Sequence[object]]:
    """The rows of all files in one table, its first column the file."""
    lines: list[Sequence[object]] = []
    head: Sequence[object] = ()
    for one in found:
        rows = one["document"] or ()
        if rows and rows[0] != head:
            head = rows[0]
            lines.append(("file", *head))
        lines += [(one["file"], *row) for row in rows[1:]]
    return lines
