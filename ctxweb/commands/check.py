"""``ctxweb check``: limits that a policy must meet on many sessions; exit status 1 when one is exceeded."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote
from xml.etree import ElementTree

import click

from ctxweb.commands._engine import emit, given_prices, read, wrong_usage
from ctxweb.commands._files import inputs
from ctxweb.commands._options import AS_JSON, CORPUS, FORMAT, PRICES, Amount, Option, takes
from ctxweb.commands._replaying import POLICY_OR_PROGRAM, chosen_policy, how_replayed, replayed
from ctxweb.commands._writing import TARGET, leave_alone
from ctxweb.terminal import Head, figure, patience, say, show_table, tell, terminal
from sessions.engine.base.errors import UnreadableInput
from sessions.engine.base.words import counted
from sessions.engine.reading.texts import Texts
from sessions.engine.redact.escaping import markdown_code, markdown_text, printable
from sessions.engine.sweeps.checks import QUALITY, Floor, check, read_limits
from sessions.engine.sweeps.floors import CHECKED, Bound
from sessions.engine.weigh.calibration.calibrate import weigh

if TYPE_CHECKING:
    from sessions.engine.quality.assess import Assessment
    from sessions.engine.replays.replay import Replay


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
            with texts, patience(f"Replaying {given.shown}"):
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

    return tuple(assess_replay(made, build_index(made.weighed.transcript, texts.of)))


def _print(found: list[Floor], *, passed: bool) -> None:
    heads = (Head("session"), Head("limit"), figure("allowed"), figure("value"), Head(""))
    rows = [(floor.session, floor.name, amount(floor.limit), amount(floor.value), outcome(floor)) for floor in found]
    console = terminal()
    show_table(console, heads, rows)
    n = sum(not floor.ok for floor in found)
    console.print("All limits met." if passed else f"{n} of {counted(len(found), 'limit')} exceeded or unknown.")


def amount(value: float | None) -> str:
    """A limit or a value: whole with separators, else four significant digits; "unknown" where there is none."""
    if value is None:
        return "unknown"
    return f"{value:,.4g}" if value % 1 else f"{value:,.0f}"


def outcome(floor: Floor) -> str:
    """Met, EXCEEDED or UNKNOWN; nothing where there is nothing to measure and that is allowed."""
    if floor.value is None:
        return "" if floor.ok else "UNKNOWN"
    return "met" if floor.ok else "EXCEEDED"


def markdown_table(found: Sequence[Floor], broken: Sequence[str]) -> str:
    """A heading that says how it went, a row for each limit, and what could not be read."""
    bad = sum(not floor.ok for floor in found)
    said = f"{bad} of {counted(len(found), 'limit')} exceeded or unknown." if bad or broken else "All limits met."
    lines = [f"**Context check:** {said}", "", "| session | limit | allowed | value | |", "|---|---|--:|--:|---|"]
    for floor in found:
        session, name = markdown_text(floor.session), markdown_code(floor.name)
        cells = (session, name, amount(floor.limit), amount(floor.value), outcome(floor))
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join([*lines, *(f"\nNot read: {markdown_text(line)}" for line in broken)])


def write_junit(path: Path, found: Sequence[Floor], broken: Sequence[str]) -> None:
    """A test case for each limit of each session; what could not be read is an error."""
    failures = sum(not floor.ok for floor in found)
    counts = {"tests": str(len(found) + len(broken)), "failures": str(failures), "errors": str(len(broken))}
    suite = ElementTree.Element("testsuite", {"name": "ctxweb check", **counts})
    for floor in found:
        case = ElementTree.SubElement(suite, "testcase", {"classname": printable(floor.session), "name": floor.name})
        if not floor.ok:
            said = f"{amount(floor.value)}, allowed {amount(floor.limit)}"
            ElementTree.SubElement(case, "failure", {"message": said})
    for line in broken:
        case = ElementTree.SubElement(suite, "testcase", {"classname": "ctxweb check", "name": "read"})
        ElementTree.SubElement(case, "error", {"message": printable(line)})
    path.write_bytes(ElementTree.tostring(suite, encoding="utf-8", xml_declaration=True))


SARIF = "https://json.schemastore.org/sarif-2.1.0.json"


def write_sarif(path: Path, found: Sequence[Floor], broken: Sequence[str]) -> None:
    """SARIF 2.1.0, for code scanning: a rule for each limit, a result for each that is exceeded, unknown or unread."""
    from ctxweb.version import ctxweb_version

    names = list(dict.fromkeys(floor.name for floor in found))
    rules = [{"id": name, "shortDescription": {"text": f"Limit {name}"}} for name in [*names, "read"]]
    results = [
        _result(floor.name, floor.session, f"{outcome(floor)}: {amount(floor.value)}, allowed {amount(floor.limit)}.")
        for floor in found
        if not floor.ok
    ]
    results += [_result("read", line.partition(": ")[0], line) for line in broken]
    driver = {"name": "ctxweb check", "version": ctxweb_version(), "rules": rules}
    run = {"tool": {"driver": driver}, "results": results}
    path.write_text(json.dumps({"$schema": SARIF, "version": "2.1.0", "runs": [run]}, indent=1), encoding="utf-8")


def _result(rule: str, session: str, words: str) -> dict[str, Any]:
    """One result; its place is the transcript's file, the session's id stands in the words."""
    file, _, name = session.rpartition("#")
    said = f"{printable(name)}: {printable(words)}" if file else printable(words)
    place = {"artifactLocation": {"uri": quote(printable(file or session))}}
    return {"ruleId": rule, "level": "error", "message": {"text": said}, "locations": [{"physicalLocation": place}]}
