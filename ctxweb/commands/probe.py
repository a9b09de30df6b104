"""``ctxweb probe``: what the compactions of a replay lose."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ctxweb.commands._each import EachFile
from ctxweb.commands._engine import emit, given_prices, warn
from ctxweb.commands._options import AS_JSON
from ctxweb.commands._replaying import compaction_option, replay_options, run_replay
from ctxweb.terminal import Terminal, figure, patience, table_of, terminal, titled
from sessions.engine.base.errors import BadParameter

SHOWN = 8


@click.command("probe", cls=EachFile)
@replay_options
@compaction_option("Only this compaction")
@click.option(
    "--horizon", type=click.IntRange(min=1), help="Requests after an event that count as later; default: all."
)
@click.option("--oracle", is_flag=True, help="Add the lines that would have covered most later needs, with hindsight.")
@click.option("--find", metavar="TEXT", help="Which compaction lost this text?")
@click.option(
    "--ask",
    "questions",
    metavar="TEXT",
    multiple=True,
    help='A probe of your own, "Which port? 5433, PORT"; ! in front makes it critical. May be given several times.',
)
@click.option("--critical", metavar="KINDS", help="Kinds of probes that are critical, with commas; none for none.")
@AS_JSON
def command(file: Path, event: int | None, horizon: int | None, as_json: bool, **options: Any) -> None:
    """What compactions of FILE lose: rules, what the agent goes on to use, questions they must still answer."""
    from sessions.engine.quality.document import add_extras, probe_document
    from sessions.engine.quality.index import build_index
    from sessions.engine.quality.probes import AS_GENERATED, Question, critical_kinds, own_probes
    from sessions.engine.reading.texts import Texts

    result = run_replay(file, **options)
    transcript = result.weighed.transcript
    with Texts(lambda: file.open("rb"), transcript.format) as texts, patience("Looking for losses"):
        index = build_index(transcript, texts.of)
        try:
            critical = options["critical"]
            asked = Question(
                own_probes(options["questions"], transcript, texts.of),
                AS_GENERATED.critical if critical is None else critical_kinds(critical),
            )
            prices = given_prices(result.weighed, ())
            document = probe_document(result, index, horizon=horizon, event=event, asked=asked, prices=prices)
        except BadParameter as error:
            raise click.ClickException(str(error)) from error
        if options["oracle"] or options["find"] is not None:
            add_extras(document, result, index, texts.of, oracles=options["oracle"], find=options["find"])
    if as_json:
        emit(document)
        return
    console = terminal()
    console.print(titled(document["policy"], f" on {document['session']}. Assumes the agent sends the same messages."))
    _print_events(console, document["events"])
    if document["recorded"]:
        console.print(titled("\nThe recorded compactions"))
        _print_events(console, document["recorded"])
    _print_extras(console, document)
    warn(tuple(document["warnings"]))


def _print_extras(console: Terminal, document: dict[str, Any]) -> None:
    for side, fate in document.get("survival", {}).items():
        where = "the replay" if side == "events" else "the recording"
        if not fate["places"]:
            said = "stands in no message"
        elif fate["lost_at"] is None:
            said = f"first stands in message {fate['places'][0][0]}; no compaction of {where} lost it"
        else:
            said = (
                f"first stands in message {fate['places'][0][0]}; lost at compaction {fate['lost_at'] + 1} of {where}"
            )
        console.print(f"{fate['text']!r} {said}", highlight=False, soft_wrap=True)
    for word, entries in (("compaction", document["events"]), ("recorded compaction", document["recorded"])):
        for entry in entries:
            found = entry.get("oracle")
            if found:
                facts = (
                    f", with hindsight: {found['tokens']:,} tokens would have "
                    f"covered {found['covered']} of {found['wanted']} needs; its summary of "
                    f"{found['summary_tokens']:,} tokens mentions {found['summary_covered']}."
                )
                console.print(titled(f"\n{word} {entry['event'] + 1}", facts))
                console.print(found["instructions"], highlight=False, soft_wrap=True)


def _print_events(console: Terminal, events: list[dict[str, Any]]) -> None:
    unknown = ("depends on\nsummary",) if any(event["open"] for event in events) else ()
    states = ("used\nlater", "verbatim", "mentioned", *unknown, "lost", "probes\npassed")
    table = table_of(map(figure, ("compaction", "request", "rules\nlost", *states, "tokens to\nre-read")))
    for event in events:
        rules = f"{sum(c['state'] == 'gone' for c in event['constraints'])} of {len(event['constraints'])}"
        score = event["score"]["score"]
        table.add_row(
            str(event["event"] + 1), str(event["request"]), rules, str(event["needed"]), str(event["verbatim"]),
            str(event["mentioned"]), *((str(len(event["open"])),) if unknown else ()), str(len(event["gone"])),
            "–" if score is None else f"{score:.0%}", f"{event['refetch']['tokens']:,}",
        )  # fmt: skip
    console.print(table)
    for event in events:
        _print_gone(console, event)


def _print_gone(console: Terminal, event: dict[str, Any]) -> None:
    """The first losses of a compaction, what may be read again, and what really was fetched again."""
    number = event["event"] + 1
    if event["likely_again"]["words"]:
        source = f"shares from {event['likely_again']['source']}"
        console.print(f"  {number}: {event['likely_again']['words']}; {source}", highlight=False, soft_wrap=True)
    for gone in event["gone"][:SHOWN]:
        at = f", needed at message {gone['needed_at']}" if gone["needed_at"] is not None else ""
        kind = "rule" if gone["kind"] == "constraint" else gone["kind"]
        what = f"{kind} {gone['text'][:100]!r} from message {gone['source_message']}"
        console.print(f"  {number}: {what}{at}", highlight=False, soft_wrap=True)
    more = len(event["gone"]) - SHOWN
    if more > 0:
        console.print(f"  … and {more:,} more (--json has them all)", highlight=False)
    again = event.get("fetched_again")
    if again and again["rate"] is not None:
        usual = "no baseline" if again["baseline"] is None else f"{again['baseline']:.0%} without a compaction"
        console.print(
            f"  really fetched again within {again['n_calls']} calls: {again['n_again']} of {again['n_dropped']} "
            f"targets ({again['rate']:.0%}; {usual})", highlight=False,
        )  # fmt: skip
