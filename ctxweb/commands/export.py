"""``ctxweb export``: a message list as JSON lines, an Anthropic request or a chat request."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, BinaryIO

import click

from ctxweb.commands._engine import choose, read, settings, warn, wrong_usage
from ctxweb.commands._files import first_inputs
from ctxweb.commands._options import ESTIMATOR, SETTINGS, WINDOW, takes
from ctxweb.commands._replaying import compaction_option
from ctxweb.commands._writing import TARGET, force_option, leave_alone, new_file
from ctxweb.env import expect_data
from ctxweb.terminal import patience, say
from sessions.engine.base import registry
from sessions.engine.reading.texts import Texts
from sessions.engine.redact.escaping import json_printable
from sessions.engine.weigh.calibration.weighed import Weighed

if TYPE_CHECKING:
    from sessions.engine.replays.replay import Replay
    from sessions.engine.reports.exports import Listing


@click.command("export")
@click.argument("what", metavar="FILE|SESSION")
@click.option("--to", "target", required=True, help="What to write: jsonl, anthropic or openai.")
@click.option("-o", "--out", type=TARGET, help="File; default: standard output.")
@force_option
@click.option("--policy", help="Write a list of a replay under this policy; see `ctxweb policies`.")
@compaction_option("The list beside this compaction of the replay")
@click.option("--side", type=click.Choice(["before", "after"]), help="Which list of the compaction; default: after.")
@click.option("--request", type=click.IntRange(min=0), help="The list sent at this request, from 0.")
@click.option("--format", "format_name", help="Transcript format of FILE, instead of sniffing.")
@click.option("--session", help="Session id in FILE; default: the root session with most requests.")
@click.option("--branch", metavar="LEAF", help="A branch of FILE that a rewind left; default: the latest.")
@click.option("--base", type=click.Choice(["full", "recorded"]), help="Which history; default: full under a policy.")
@ESTIMATOR
@click.option("--summarizer", default="recorded", show_default=True, help="recorded, stub:N or extractive.")
@takes(WINDOW, SETTINGS)
def command(what: str, target: str, out: Path | None, **options: Any) -> None:
    """Write the messages of a transcript FILE, or of a stored SESSION, as another tool reads them.

    Without further options it is the whole session; --compaction or --request choose one list of a replay.  FILE needs
    no database.  What the target cannot carry is counted on standard error.
    """
    from sessions.engine.reports.export import export, reader
    from sessions.engine.reports.exports import Report

    report, source = Report(), Path(what) if Path(what).exists() else None
    if out is not None:
        leave_alone(out, force=options["force"], source=source)
    with _opened(what, options) as (weighed, file):
        with wrong_usage():
            registry.get("exports", target)
            texts = Texts(lambda: file, weighed.transcript.format)
            with patience("Replaying"):
                made = _replayed(weighed, options, texts)
            listing = _listing(weighed, made, options)
        contents = reader(made, texts.of, report)
        with (
            _output(out, source, force=options["force"]) as stream,
            patience("Writing messages") if out else nullcontext(),
        ):
            for piece in export(listing, target, contents, report):
                stream.write(piece if out else json_printable(piece))
    warn(made.warnings if made else ())
    say(f"{listing.what}: {report.line()}")


@contextmanager
def _opened(what: str, options: dict[str, Any]) -> Iterator[tuple[Weighed, BinaryIO]]:
    """The weighed session and its bytes: of a file, else of the session with that id in the database."""
    from sessions.engine.weigh.calibration.calibrate import weigh

    if Path(what).exists() or not what.startswith("s_"):
        with ExitStack() as kept:
            try:
                first, _ = first_inputs([what], kept)
            except click.UsageError as error:
                raise click.UsageError(f"{error.message} Ids of stored sessions begin with s_.") from error
            if len(first) != 1:
                raise click.UsageError(f"{what!r} holds several files; name one")
            parsed = read(first[0].path, options["format_name"], options["branch"], first[0].name)
            with wrong_usage():
                transcript = choose(parsed, options["session"])
            with first[0].path.open("rb") as file:
                yield weigh(transcript), file
        return
    from ctxweb.startup import start_django

    expect_data()
    start_django()
    from sessions import selectors
    from sessions.models import Session

    try:
        session = selectors.get_session(what)
    except Session.DoesNotExist as error:
        raise click.UsageError(f"no file and no session {what!r}") from error
    with selectors.open_whole_text(session) as file:
        yield selectors.load_weighed(session.pk), file


def _replayed(weighed: Weighed, options: dict[str, Any], texts: Texts) -> Replay | None:
    """The replay whose list is asked for; None for the whole session."""
    from sessions.engine.replays.replay import replay

    chosen = options["event"] is not None or options["request"] is not None
    if not chosen and not options["policy"]:
        if options["side"]:
            raise click.UsageError("--side needs --compaction and --policy")
        return None
    if not chosen:
        raise click.UsageError("--policy needs --compaction or --request: which list of the replay?")
    if options["event"] is not None and options["request"] is not None:
        raise click.UsageError("--compaction and --request name two lists; give one")
    if options["event"] is not None and not options["policy"]:
        raise click.UsageError("--compaction needs --policy")
    base = options["base"] or ("full" if options["policy"] else "recorded")
    how = {name: options[name] for name in ("estimator", "summarizer", "window")}
    return replay(
        weighed, options["policy"] or "none", params=settings(options["pairs"]), base=base, texts=texts, **how
    )


def _listing(weighed: Weighed, made: Replay | None, options: dict[str, Any]) -> Listing:
    from sessions.engine.reports import export

    if made is None:
        return export.whole(weighed.transcript)
    if options["event"] is not None:
        return export.event_side(made, options["event"], options["side"] or "after")
    return export.sent_at(made, options["request"])


@contextmanager
def _output(out: Path | None, source: Path | None, *, force: bool) -> Iterator[IO[str]]:
    if out is None:
        yield sys.stdout
        return
    with new_file(out, force=force, source=source) as raw:
        stream = io.TextIOWrapper(raw, encoding="utf-8")
        yield stream
        stream.flush()
        stream.detach()
