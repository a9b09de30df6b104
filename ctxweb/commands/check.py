"""``ctxweb check``: limits that a policy must meet on many sessions; exit status 1 when one is exceeded."""

from __future__ import annotations

import dataclasses
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ctxweb.amount import Amount
from ctxweb.commands._check_reports import amount, markdown_table, outcome, write_junit, write_sarif
from ctxweb.commands._engine import emit, given_prices, read, wrong_usage
from ctxweb.commands._files import inputs
from ctxweb.commands._options import AS_JSON, CORPUS, FORMAT, PRICES, takes
from ctxweb.commands._patience import patience
from ctxweb.commands._replaying import POLICY_OR_PROGRAM, chosen_policy, how_replayed, replayed
from ctxweb.commands._writing import TARGET, leave_alone
from ctxweb.terminal import Head, figure, say, show_table, tell, terminal
from sessions.engine.base.errors import UnreadableInput
from sessions.engine.base.words import counted
from sessions.engine.reading.texts import Texts
from sessions.engine.sweeps.checks import QUALITY, check, read_limits
from sessions.engine.sweeps.floors import CHECKED
from sessions.engine.weigh.calibration.calibrate import weigh

if TYPE_CHECKING:
    from ctxweb.commands._options import Option
    from sessions.engine.quality.assess import Assessment
    from sessions.engine.replays.replay import Replay
    from sessions.engine.sweeps.checks import Floor
    from sessions.engine.sweeps.floors import Bound


def _floor(measure: Bound) -> Option:
    word = "At least" if measure.least else "At most"
    kind = Amount(whole=False, share_of=100 if measure.help.endswith("per cent") else None)
    option = f"--{measure.check.replace('_', '-')}"
    return click.option(option, measure.check, type=kind, help=f"{word}: {measure.help}.")


@click.command("check")
@takes(CORPUS, *POLICY_OR_PROGRAM, FORMAT, *how_replayed(), *map(_floor, CHECKED), PRICES)
@click.option("--allow-unknown", is_flag=True, help="Pass where a cost or a loss cannot be known.")
@click.option("--markdown", is_flag=True, help="A Markdown table on standard output, for a comment.")
@click.option("--junit", type=TARGET, help="Write a JUnit report to this file.")
@click.option("--sarif", type=TARGET, help="Write a SARIF report to this file.")
@AS_JSON
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
    with wrong_usage():
        limits = read_limits({measure.check: options[measure.check] for measure in CHECKED})
        found, broken = _checked(corpus, limits, prices, options)
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
        for transcript in (t for t in parsed.transcripts if t.parent_id is None and t.requests):
            texts = Texts(lambda path=path: path.open("rb"), parsed.format)  # type: ignore[misc]
            with closing(texts), patience(f"Replaying {given.shown}"):
                weighed = weigh(transcript)
                made = replayed(weighed, policy, options, texts)
                assessed = _assessed(made, texts) if QUALITY & limits.keys() else ()
            name = f"{given.shown}#{transcript.id}"
            if options["policy_cmd"] and made.attempts:
                broken.append(f"{name}: {made.attempts[0].reason}")
            found += check(
                made, limits, name, prices=given_prices(weighed, prices), assessed=assessed,
                allow_unknown=options["allow_unknown"],
            )  # fmt: skip
    return found, broken


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
