"""``ctxweb share``: a replay as one HTML file that opens anywhere."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import click

from ctxweb.commands._each import EachFile
from ctxweb.commands._engine import name_of, settings
from ctxweb.commands._patience import patience
from ctxweb.commands._replaying import compaction_option, opened
from ctxweb.commands._replaying import replay_options as options_of_replay
from ctxweb.commands._writing import force_option, leave_alone, write_text
from ctxweb.terminal import tell


@click.command("share", cls=EachFile)
@options_of_replay
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File to write. [default: FILE's name with .html, here]",
)
@force_option
@compaction_option("Whose lists it shows", default=0)
@click.option("--title", default="", help="What there is to see, in one line.")
@click.option("--note", default="", help="A note to the reader.")
@click.option("--show", "shown", multiple=True, metavar="KIND", help="Leave this kind of secret in; may be repeated.")
@click.option("--hide", "words", multiple=True, metavar="WORD", help="Take this word out, too; /…/ is an expression.")
def command(file: Path, out: Path | None, event: int, title: str, note: str, **options: Any) -> None:
    """FILE's replay as one HTML file: works offline, its slider moves, secrets are taken out."""
    from ctxweb.startup import load_django

    out = out or Path(Path(name_of(file)).name).with_suffix(".html")
    leave_alone(out, force=options["force"], source=file)
    load_django()
    from sessions.engine.base import limits
    from sessions.engine.base.errors import BadParameter, UnknownName
    from sessions.engine.costs.prices import prices_of
    from sessions.engine.quality.index import build_index
    from sessions.engine.redact import BY_KEY, Choice
    from sessions.engine.why.headline import headline
    from sessions.engine.why.verdicts import verdicts_of
    from sessions.pages.links.file import handout_html
    from sessions.runs.handout import handout

    try:
        choice = Choice(frozenset(BY_KEY) - known_kinds(options["shown"], BY_KEY), options["words"])
        weighed, texts = opened(file, options)
        state = state_of(options, event)
        with closing(texts), patience("Replaying at every position of the slider"):
            index = build_index(weighed.transcript, texts.of)
            said = headline(weighed, verdicts_of(weighed))
            prices = prices_of(weighed.model)
            document = handout(weighed, state, index, texts=texts, prices=prices, headline=said)
    except (BadParameter, UnknownName, ValueError) as error:
        raise click.UsageError(str(error)) from error
    label = "estimated" if not any(r.usage for r in weighed.transcript.requests) else "measured where usage is recorded"
    title = title or f"{document['policy']['label']} on {limits.cut_clean(weighed.transcript.title) or file.name}"
    page = handout_html(document, title=title, note=note, choice=choice, label=label)
    write_text(out, page, force=options["force"], source=file)
    tell(f"{out} ({out.stat().st_size / 1e6:.1f} MB): open it in any browser.")


def known_kinds(given: tuple[str, ...], kinds: Any) -> frozenset[str]:
    unknown = [kind for kind in given if kind not in kinds]
    if unknown:
        raise click.UsageError(f"Unknown kind {unknown[0]!r}. Kinds: {', '.join(kinds)}.")
    return frozenset(given)


def state_of(options: dict[str, Any], event: int) -> Any:
    """The options as a page's address has them."""
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
