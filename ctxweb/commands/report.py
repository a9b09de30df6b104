"""``ctxweb report``: a replay as Markdown for an issue tracker, its chart, and a skeleton that reproduces it."""

from __future__ import annotations

import gzip
import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ctxweb.commands._each import EachFile
from ctxweb.commands._engine import choose
from ctxweb.commands._options import takes
from ctxweb.commands._replaying import compaction_option, replay_options
from ctxweb.commands._writing import TARGET, force_option, leave_alone, new_file
from ctxweb.commands.share import TOLD, handed_out
from ctxweb.terminal import say, tell

if TYPE_CHECKING:
    from sessions.engine.replays.replay import Replay
    from sessions.pages.links.file import Handout
    from sessions.runs.replay_state import ReplayState


@click.command("report", cls=EachFile)
@replay_options
@click.option("-o", "--out", type=TARGET, help="File to write. [default: standard output]")
@click.option("--svg", type=TARGET, help="Write the chart here, too, as SVG.")
@click.option(
    "--skeleton", type=TARGET,
    help="Write FILE's skeleton here, too, compressed, and say whether it reproduces the figures.",
)  # fmt: skip
@force_option
@compaction_option("Whose losses it shows", default=0)
@takes(*TOLD)
def command(file: Path, out: Path | None, svg: Path | None, skeleton: Path | None, event: int, **options: Any) -> None:
    """FILE's verdict, evidence, setting and losses as Markdown for an issue; secrets are taken out."""
    from ctxweb.startup import load_django

    for path in filter(None, (out, svg, skeleton)):
        leave_alone(path, force=options["force"], source=file)
    load_django()
    from sessions.pages.links.file import report_markdown
    from sessions.runs import drawing

    made, state = handed_out(file, options, event, patient="Replaying", alone=True)
    force = options["force"]
    text = report_markdown(made, "" if skeleton is None else _skeleton(file, skeleton, made, state, force=force))
    if svg is not None:
        _write(svg, drawing.svg(made.document, title=made.title, choice=made.choice).encode(), file, force=force)
    if out is None:
        tell(text, end="")
    else:
        _write(out, text.encode(), file, force=force)


def _write(path: Path, data: bytes, source: Path, *, force: bool) -> None:
    """One of the report's files: never over the transcript ``source``."""
    with new_file(path, force=force, source=source) as out:
        out.write(data)
    say(f"{path}: {len(data):,} bytes")


def _skeleton(file: Path, path: Path, made: Handout, state: ReplayState, *, force: bool) -> str:
    """Write the skeleton, replay it with the same setting, and say in words how its figures compare."""
    from sessions.engine.base.errors import UnreadableInput
    from sessions.engine.reading.jsonio import Source
    from sessions.engine.reading.reading import read_transcripts
    from sessions.engine.reading.skeleton import Skeleton
    from sessions.engine.replays.replay import replay
    from sessions.engine.weigh.calibration.calibrate import weigh
    from sessions.engine.why.verdicts import verdicts_of
    from sessions.runs import replays

    with file.open("rb") as stream:
        data = "\n".join(Skeleton().lines(Source(stream, file.name))).encode() + b"\n"
    _write(path, gzip.compress(data, mtime=0), file, force=force)
    how = f"The attached “{path.name}” holds the shape of the transcript without its texts."
    try:
        parsed = read_transcripts(io.BytesIO(data), file.name, format=made.document["session"]["format"])
        weighed_again = weigh(choose(parsed, None))
        again = replay(weighed_again, **replays.options(state), summarizer=state.summarizer)
    except (UnreadableInput, ValueError) as error:
        return f"{how} It cannot be replayed: {error}."
    causes = [[(one.request, one.cause) for one in found] for found in (verdicts_of(weighed_again), made.verdicts)]
    return f"{how} {_compared(again, made.document, *causes)}"


def _compared(again: Replay, document: dict[str, Any], causes: Sequence[object], causes_here: Sequence[object]) -> str:
    """What the skeleton's replay gives otherwise than the transcript's, and what no skeleton can give."""
    from sessions.engine.base.words import counted

    position = document["positions"][document["chosen"]]
    peak = max((tokens for tokens in again.context_tokens if tokens is not None), default=0)
    figures = f"{counted(len(again.events), 'compaction')} and a peak of {peak:,} tokens"
    differs = [*_moved(again, position), *_cost(again, position)]
    if list(causes) != list(causes_here):
        differs.append(f"causes: {len(causes):,}, here {len(causes_here):,}, not all the same")
    lost = "Losses are read from words, so the skeleton cannot reproduce them."
    if not differs:
        same = "compactions, context at each request, cost and causes"
        return f"The same command on it gives the same {same}: {figures}. {lost}"
    return (
        f"The same command on it gives {figures}; here {position['compactions']:,} and {position['peak']:,}. "
        f"What differs: {'; '.join(differs)}. Words are counted by their filler. {lost}"
    )


def _moved(again: Replay, position: dict[str, Any]) -> list[str]:
    """Compactions that stand elsewhere or weigh otherwise, and the context at each request, in words."""
    from sessions.runs.handout import drawn

    pairs = list(zip(drawn(again.context_tokens), position["context"], strict=False))
    off = [abs(one - other) / other for one, other in pairs if one != other and one is not None and other]
    events = [(event.request, event.before_tokens, event.after_tokens) for event in again.events]
    told = [(event["request"], event["before"], event["after"]) for event in position["events"]]
    n_told = len(told)
    found = []
    if [one[0] for one in events[:n_told]] != [one[0] for one in told] or len(events) != position["compactions"]:
        found.append("compactions stand elsewhere")
    elif events[:n_told] != told:
        found.append("tokens of compactions")
    if off:
        found.append(f"context at {len(off):,} of {len(pairs):,} points, by at most {100 * max(off):.1f}%")
    return found


def _cost(again: Replay, position: dict[str, Any]) -> list[str]:
    from sessions.engine.costs.cost import totals
    from sessions.engine.costs.cost_report import span
    from sessions.engine.costs.prices import prices_of

    cost = totals(again, prices=prices_of(again.weighed.model)).cost
    here = position["cost"]
    if cost is None or here is None:
        return [] if cost is None and here is None else ["whether the model has a price"]
    theirs = [round(cost.low, 4), round(cost.high, 4)]
    return [] if theirs == here else [f"cost {span(*theirs)}, here {span(*here)}"]
