"""``ctxweb check``: limits that a policy must meet on many sessions; exit status 1 when one is exceeded."""

from __future__ import annotations

import dataclasses
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ctxweb.amount import Amount
from ctxweb.commands._check_reports import amount, markdown_table, outcome, write_junit, write_sarif
from ctxweb.commands._engine import emit, given_prices, price_option, read, settings
from ctxweb.commands._files import inputs
from ctxweb.commands._patience import patience
from ctxweb.commands._replaying import check_options, chosen_policy
from ctxweb.commands._writing import leave_alone
from ctxweb.terminal import Head, figure, say, show_table, tell, terminal
from sessions.engine.base.errors import BadParameter, UnknownName, UnreadableInput
from sessions.engine.base.words import counted
from sessions.engine.reading.texts import Texts
from sessions.engine.replays.replay import replay
from sessions.engine.sweeps.checks import QUALITY, check, read_limits
from sessions.engine.sweeps.floors import CHECKED
from sessions.engine.weigh.calibration.calibrate import weigh

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sessions.engine.quality.assess import Assessment
    from sessions.engine.replays.replay import Replay
    from sessions.engine.sweeps.checks import Floor
    from sessions.engine.transcript.types import Transcript


def _floors(command: Callable[..., None]) -> Callable[..., None]:
    for measure in reversed(CHECKED):
        option = "--" + measure.check.replace("_", "-")
        word = "At least" if measure.least else "At most"
        kind = Amount(whole=False, share_of=100 if measure.help.endswith("per cent") else None)
        command = click.option(option, measure.check, type=kind, help=f"{word}: {measure.help}.")(command)
    return command


@click.command("check")
@check_options
@_floors
@price_option
@click.option("--allow-unknown", is_flag=True, help="Pass where a cost or a loss cannot be known.")
@click.option("--markdown", is_flag=True, help="A Markdown table on standard output, for a comment.")
@click.option("--junit", type=click.Path(dir_okay=False, path_type=Path), help="Write a JUnit report to this file.")
@click.option("--sarif", type=click.Path(dir_okay=False, path_type=Path), help="Write a SARIF report to this file.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output.")
def command(
    corpus: tuple[str, ...], prices: tuple[str, ...], *, markdown: bool, junit: Path | None, sarif: Path | None,
    as_json: bool, **options: Any,
) -> None:  # fmt: skip
    """Fail a build when a policy exceeds your limits on the sessions of CORPUS (files and folders).

    All root sessions with requests are checked.  Exit status 1 when a limit is exceeded, a value is unknown, or a
    named file cannot be read.
    """
    for path in filter(None, (junit, sarif)):
        for word in corpus:
            leave_alone(path, force=True, source=Path(word))
    try:
        limits = read_limits({measure.check: options[measure.check] for measure in CHECKED})
        found, broken = _checked(corpus, limits, prices, options)
    except (BadParameter, UnknownName) as error:
        raise click.UsageError(str(error)) from error
    if not found and not broken:
        broken = ["no session with requests in the corpus"]
    passed = all(floor.ok for floor in found) and not broken
    if junit:
        write_junit(junit, found, broken)
    if sarif:
        write_sarif(sarif, found, broken)
    if as_json:
        emit({
            "schema": "ctxweb.check/1",
            "passed": passed,
            "policy": options["policy"] or options["policy_cmd"],
            "floors": [dataclasses.asdict(floor) for floor in found],
            "unread": broken,
        })  # fmt: skip
    elif markdown:
        tell(markdown_table(found, broken))
    else:
        _print(found, passed=passed)
    for line in broken:
        say(line)
    if not passed:
        raise SystemExit(1)


def _checked(
    corpus: tuple[str, ...], limits: dict[str, float], prices: tuple[str, ...], options: dict[str, Any]
) -> tuple[list[Floor], list[str]]:
    """The floors of every session, and what could not be read; a folder may hold files that are no transcripts."""
    policy = chosen_policy(options)
    found: list[Floor] = []
    broken: list[str] = []
    for given in inputs(corpus):
        path = given.path
        try:
            parsed = read(path, options["format_name"], name=given.name)
        except UnreadableInput as error:
            if given.named:
                broken.append(f"{given.shown}: {error}")
            continue
        for transcript in _sessions(parsed.transcripts):
            texts = Texts(lambda path=path: path.open("rb"), parsed.format)  # type: ignore[misc]
            with closing(texts), patience(f"Replaying {given.shown}"):
                weighed = weigh(transcript)
                made = replay(
                    weighed, policy, params=settings(options["pairs"]), base=options["base"],
                    estimator=options["estimator"], summarizer=options["summarizer"], window=options["window"],
                    texts=texts, fail=options["fail"], start=options["start"],
                )  # fmt: skip
                assessed = _assessed(made, texts) if QUALITY & limits.keys() else ()
            name = f"{given.shown}#{transcript.id}"
            if options["policy_cmd"] and made.attempts:
                broken.append(f"{name}: {made.attempts[0].reason}")
            found += check(
                made, limits, name, prices=given_prices(weighed, prices), assessed=assessed,
                allow_unknown=options["allow_unknown"],
            )  # fmt: skip
    return found, broken


def _sessions(transcripts: tuple[Transcript, ...]) -> Iterator[Transcript]:
    return (t for t in transcripts if t.parent_id is None and t.requests)


def _assessed(made: Replay, texts: Texts) -> tuple[Assessment, ...]:
    from sessions.engine.quality.assess import assess_replay
    from sessions.engine.quality.index import build_index

    return assess_replay(made, build_index(made.weighed.transcript, texts.of))


def _print(found: list[Floor], *, passed: bool) -> None:
    heads = (Head("session"), Head("limit"), figure("allowed"), figure("value"), Head(""))
    rows = [(floor.session, floor.name, amount(floor.limit), amount(floor.value), outcome(floor)) for floor in found]
    console = terminal()
    show_table(console, heads, rows)
    n = sum(not floor.ok for floor in found)
    console.print("All limits met." if passed else f"{n} of {counted(len(found), 'limit')} exceeded or unknown.")
