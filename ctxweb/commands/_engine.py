"""What the engine's commands share: reading a file, choosing a session, printing documents.  No database, no Django."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from ctxweb.terminal import Head, patience, say, show_table, tell, terminal, words
from sessions.engine.base.errors import BadParameter, UnknownName
from sessions.engine.base.suggestions import unknown
from sessions.engine.costs.prices import Prices, prices_of
from sessions.engine.reading.reading import read_transcripts
from sessions.engine.redact.escaping import csv_lines, json_printable
from sessions.engine.transcript.types import Parsed, Transcript
from sessions.engine.weigh.calibration.weighed import Weighed

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
NAMES, SEVERAL = "ctxweb.names", "ctxweb.several"
"""Of a click context: what readers are told a file is called; where documents go while several files are read."""


@contextmanager
def wrong_usage(*kinds: type[Exception]) -> Iterator[None]:
    """A name or a value that the engine does not take, and errors of ``kinds``, as wrong usage (exit status 2)."""
    expected: tuple[type[Exception], ...] = (BadParameter, UnknownName, *kinds)
    try:
        yield
    except expected as error:
        raise click.UsageError(str(error)) from error


def emit(document: dict[str, Any]) -> None:
    """One JSON document to standard output, or to the document of several files."""
    if not _kept(document):
        tell(json_text(document))


def write_csv(rows: Sequence[Sequence[object]]) -> None:
    """A table, its heading first, to standard output, or to the table of several files."""
    if not _kept(rows):
        tell("".join(csv_lines(rows)), end="")


def _kept(document: Any) -> bool:
    context = click.get_current_context(silent=True)
    several = context.meta.get(SEVERAL) if context else None
    if several is not None:
        several.append(document)
    return several is not None


def name_of(file: Path) -> str:
    """What a file is called for those who read it: with its folders where these are known."""
    context = click.get_current_context(silent=True)
    found = context.meta.get(NAMES, {}).get(file) if context else None
    return found or file.name


def json_text(document: dict[str, Any]) -> str:
    """``document`` as JSON that standard output can take: escaped where its encoding, or UTF-8, has no such letter."""
    text = json_printable(json.dumps(document, ensure_ascii=False, separators=(",", ":"), allow_nan=False))
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        return json.dumps(document, separators=(",", ":"), allow_nan=False)
    return text


def use_own_models() -> None:
    """Have the user's own model table stand above the built-in one; what is wrong with it is wrong usage."""
    from ctxweb.env import env_str, models_path
    from sessions.adapters.own_models import use_models_in

    with wrong_usage():
        use_models_in(models_path(), named=bool(env_str("CTXWEB_MODELS")))


def read(file: Path, format_name: str | None, branch: str | None = None, name: str = "") -> Parsed:
    """Parse one file, called ``name`` if its path does not say; says what is skipped.  No such branch: wrong usage."""
    use_own_models()
    size = file.stat().st_size
    with file.open("rb") as stream, patience(f"Reading {name or file.name}", lambda: stream.tell() / size):
        try:
            parsed = read_transcripts(stream, name or name_of(file), format=format_name, branch=branch)
        except BadParameter as error:
            raise click.UsageError(str(error)) from error
    for skipped in parsed.skipped:
        say(f"{file.name}: line {skipped.line}, byte {skipped.offset:,}: {skipped.reason}; skipped")
    return parsed


def choose(parsed: Parsed, session: str | None) -> Transcript:
    """The session called ``session``, else the root session with most requests, the first of equals."""
    if session is None:
        roots = [t for t in parsed.transcripts if t.parent_id is None] or list(parsed.transcripts)
        return max(roots, key=lambda t: len(t.requests))
    for transcript in parsed.transcripts:
        if transcript.id == session:
            return transcript
    raise BadParameter(unknown("session", session, [t.id for t in parsed.transcripts]))


def settings(pairs: tuple[str, ...], option: str = "--set") -> dict[str, object]:
    """``key=value`` pairs of an option as a mapping; wrong usage for one without ``=``."""
    values: dict[str, object] = {}
    for pair in pairs:
        key, found, value = pair.partition("=")
        if not found or not key:
            raise click.UsageError(f"{option} takes key=value, not {pair!r}")
        values[key.strip()] = value
    return values


def given_prices(weighed: Weighed, pairs: tuple[str, ...]) -> Prices | None:
    """List prices with those of ``--price`` in their place; wrong usage for what is no price."""
    given: dict[str, float] = {}
    for pair in pairs:
        key, found, value = pair.partition("=")
        try:
            given[key.strip()] = float(value)
        except ValueError:
            found = ""
        if not found:
            raise click.UsageError(f"--price takes key=dollars, not {pair!r}")
    with wrong_usage():
        return prices_of(weighed.model, given)


def warn(warnings: tuple[str, ...]) -> None:
    """Warnings on standard error, one a line."""
    for warning in warnings:
        say(f"Warning: {warning}")


def entry_of(plugin: Any) -> dict[str, Any]:
    """What every plugin says of itself."""
    return {name: getattr(plugin, name) for name in ("name", "label", "source")}


def show(kind: str, entries: Sequence[dict[str, Any]], *, as_json: bool) -> None:
    """``entries`` under ``kind`` as JSON, or as a table of name, label and source."""
    if as_json:
        emit({"schema": f"ctxweb.{kind}/1", kind: list(entries)})
        return
    rows = [(entry["name"], entry["label"], entry["source"]) for entry in entries]
    show_table(terminal(), (Head("name"), words("label"), words("source")), rows)
