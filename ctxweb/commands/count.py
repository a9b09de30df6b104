"""``ctxweb count``: tokens of a transcript's messages by the provider's own count."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ctxweb.commands._each import EachFile
from ctxweb.commands._engine import choose, emit, read, wrong_usage
from ctxweb.commands._options import AS_JSON, BRANCH, FORMAT, SESSION, files_argument, takes
from ctxweb.terminal import say, tell

if TYPE_CHECKING:
    from sessions.services.exact_counts import Counted, RangeCount

NO_KEY = (
    "no key: set ANTHROPIC_API_KEY (or ANTHROPIC_API_KEY_FILE) to have the provider count. It costs nothing, and sends "
    "the text of the messages to Anthropic. `ctxweb inspect` counts without."
)


@click.command("count", cls=EachFile)
@files_argument()
@click.option("--from", "start", type=click.IntRange(min=0), default=0, show_default=True, help="First message.")
@click.option("--to", "last", type=click.IntRange(min=0), help="Last message; default: the session's last.")
@click.option("--model", default="", help="Count for this model; default: the session's, where it is a Claude.")
@takes(FORMAT, SESSION, BRANCH, AS_JSON)
def command(file: Path, as_json: bool, start: int, last: int | None, model: str, **options: Any) -> None:
    """Count the messages of FILE with Anthropic's count_tokens, which needs a key and sends them there.

    The count is the provider's own estimate.  Counts are kept: what was counted once is not sent again.
    """
    from ctxweb.startup import start_django
    from sessions.engine.reading.texts import Texts
    from sessions.engine.weigh.calibration.calibrate import weigh

    parsed = read(file, options["format_name"], options["branch"])
    start_django()
    from sessions.services import exact_counts
    from sessions.services.model_access import environment_access

    with wrong_usage():
        weighed = weigh(choose(parsed, options["session"]))
        ranges = exact_counts.cut(weighed, start, None if last is None else last + 1)
    chosen = exact_counts.counting_model(weighed.model.name, model)
    with Texts(lambda: file.open("rb"), parsed.format) as texts:
        counted = exact_counts.count(weighed, texts.of, environment_access(), chosen, ranges, on_range=_progress)
    if as_json:
        emit(_document(counted, weighed.transcript.id))
    elif counted.difference is not None:
        tell(
            f"{counted.provider:,} tokens, counted by the provider for {counted.model} (its own estimate); ctxweb says "
            f"{counted.ours:,}, {counted.difference:+.1f}%"
        )
    _finish(counted, has_key=environment_access() is not None)


def _progress(one: RangeCount) -> None:
    said = f"{one.provider:,} tokens" if one.provider is not None else one.error
    if not said:
        return
    notes = f" ({'; '.join(one.notes)})" if one.notes else ""
    say(f"messages {one.start}–{one.stop - 1}: {said}{notes}")


def _finish(counted: Counted, *, has_key: bool) -> None:
    """Exit 1 where something is left uncounted, with the reason."""
    if counted.complete:
        return
    left = len(counted.ranges) - len(counted.done)
    if not has_key:
        raise click.ClickException(NO_KEY)
    raise click.ClickException(counted.stopped or f"{left} of {len(counted.ranges)} ranges could not be counted")


def _document(counted: Counted, session: str) -> dict[str, Any]:
    """``ctxweb.count/1``: message positions from 0, ``to`` included; tokens null where they are not known."""
    return {
        "schema": "ctxweb.count/1",
        "session": session,
        "model": counted.model,
        "source": "counted by the provider",
        "label": "estimated",
        "complete": counted.complete,
        "provider_tokens": counted.provider if counted.done else None,
        "ctxweb_tokens": counted.ours if counted.done else None,
        "difference_percent": counted.difference,
        "ranges": [
            {
                "from": one.start,
                "to": one.stop - 1,
                "provider_tokens": one.provider,
                "ctxweb_tokens": one.ours,
                "notes": list(one.notes),
                "error": one.error or None,
            }
            for one in counted.ranges
        ],
        "stopped": counted.stopped or None,
    }
