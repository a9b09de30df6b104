"""``ctxweb share``: a replay as one HTML file; what ``ctxweb report`` shares with it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ctxweb.commands._each import EachFile
from ctxweb.commands._engine import name_of, settings, wrong_usage
from ctxweb.commands._options import takes
from ctxweb.commands._replaying import compaction_option, opened, replay_options
from ctxweb.commands._writing import TARGET, force_option, leave_alone, write_text
from ctxweb.terminal import patience, tell

if TYPE_CHECKING:
    from sessions.pages.links.file import Handout
    from sessions.runs.replay_state import ReplayState


TOLD = (
    click.option("--title", default="", help="What there is to see, in one line."),
    click.option("--note", default="", help="A note to the reader."),
    click.option("--show", "shown", multiple=True, metavar="KIND",
                 help="Leave this kind of secret in; may be repeated."),
    click.option("--hide", "words", multiple=True, metavar="WORD",
                 help="Take this word out, too; /…/ is an expression."),
)  # fmt: skip


def handed_out(
    file: Path, options: dict[str, Any], event: int, *, patient: str, alone: bool = False
) -> tuple[Handout, ReplayState]:
    """``file`` as the options say, and its replay's state; ``patient`` in words; wrong usage for unknown values."""
    from sessions.engine.base import limits
    from sessions.engine.costs.prices import prices_of
    from sessions.engine.quality.index import build_index
    from sessions.engine.redact import BY_KEY, Choice, name_in
    from sessions.engine.redact.kinds import HOMES
    from sessions.engine.redact.known import Known
    from sessions.engine.why.headline import headline
    from sessions.engine.why.verdicts import verdicts_of
    from sessions.pages.links.file import Handout
    from sessions.runs import replay_state
    from sessions.runs.handout import handout
    from sessions.runs.recognised import values_in

    with wrong_usage(ValueError):
        kinds = frozenset(BY_KEY) - _known_kinds(options["shown"], BY_KEY)
        weighed, texts = opened(file, options)
        name = name_in(weighed.transcript.project) if HOMES.key in kinds else ()
        state, verdicts = _state_of(options, event), verdicts_of(weighed)
        with texts, patience(patient):
            known = Known(value for one in weighed.transcript.messages for value in values_in(texts, one))
            choice = Choice(kinds, (*options["words"], *name), known)
            document = handout(
                weighed, state, build_index(weighed.transcript, texts.of), texts=texts,
                prices=prices_of(weighed.model), headline=headline(weighed, verdicts), alone=alone,
            )  # fmt: skip
    is_measured = any(request.usage for request in weighed.transcript.requests)
    named = limits.cut_clean(weighed.transcript.title) or ("" if alone else file.name)
    run = replay_state.replay_command(state, Path(name_of(file)).name)
    title = options["title"] or f"{document['policy']['label']} on {named}"
    label = "measured where usage is recorded" if is_measured else "estimated"
    return Handout(document, title, options["note"], choice, label, verdicts, run), state


def _known_kinds(given: tuple[str, ...], kinds: Any) -> frozenset[str]:
    unknown = [kind for kind in given if kind not in kinds]
    if unknown:
        raise click.UsageError(f"Unknown kind {unknown[0]!r}. Kinds: {', '.join(kinds)}.")
    return frozenset(given)


def _state_of(options: dict[str, Any], event: int) -> ReplayState:
    from sessions.runs.replay_state import ReplayState

    return ReplayState(
        policy=options["policy"] or "claude_code",
        base=options["base"],
        estimator=options["estimator"] or "",
        summarizer=options["summarizer"],
        window=options["window"],
        fail=options["fail"],
        params=tuple((name, str(value)) for name, value in settings(options["pairs"]).items()),
        event=event,
    )


@click.command("share", cls=EachFile)
@replay_options
@click.option("--out", type=TARGET, help="File to write. [default: FILE's name with .html, here]")
@force_option
@compaction_option("Whose lists it shows", default=0)
@takes(*TOLD)
def command(file: Path, out: Path | None, event: int, **options: Any) -> None:
    """FILE's replay as one HTML file: works offline, its slider moves, secrets are taken out."""
    from ctxweb.startup import load_django

    out = out or Path(Path(name_of(file)).name).with_suffix(".html")
    leave_alone(out, force=options["force"], source=file)
    load_django()
    from sessions.pages.links.file import handout_html

    made, _ = handed_out(file, options, event, patient="Replaying at every position of the slider")
    write_text(out, handout_html(made), force=options["force"], source=file)
    tell(f"{out} ({out.stat().st_size / 1e6:.1f} MB): open it in any browser.")
