"""What a link showed when it was made: kept with it, redacted, so that a later version can show the same again."""

from __future__ import annotations

import dataclasses
import gzip
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ctxweb.version import ctxweb_version
from sessions.engine.base.errors import BadParameter, UnreadableInput
from sessions.engine.reading import jsonio
from sessions.engine.replays.diff import diff_lists
from sessions.models import ReplayLink, Session
from sessions.pages.diff.compared import compared
from sessions.pages.links import shared_views, steering
from sessions.pages.links.file import TABLES, groups
from sessions.pages.links.opened import Opened
from sessions.pages.links.redaction import cleaned
from sessions.pages.session.facts import Fact, facts
from sessions.pages.ui import figures, results
from sessions.pages.ui.results import Cell, weakest_label
from sessions.runs import losses, replays
from sessions.runs.handout import MOST_ROWS, of_session, row_document
from sessions.runs.overview import overview
from sessions.runs.recognised import with_known
from sessions.runs.replay_state import ReplayState
from sessions.services import links as service
from sessions.services.prices import prices_for

SCHEMA = "ctxweb.shared/1"


@dataclass(frozen=True, slots=True)
class Changed:
    """One figure that comes out otherwise now."""

    name: str
    then: str
    now: str


def keep(link: ReplayLink) -> None:
    """Keep what the link shows now of the sender's setting; a claim written here, not by the sender, follows."""
    before, shown = kept(link), _shown(link)
    title = shown["claim"] if before and before["claim"] == link.title else link.title
    data = gzip.compress(json.dumps(shown, ensure_ascii=False).encode("utf-8", "replace"), mtime=0)
    version, prices = computed_with(link.session)
    service.keep_results(link_id=link.pk, results=data, version=version, prices=prices, title=title)


def computed_with(session: Session) -> tuple[str, str]:
    """What figures depend on besides the session: this version, and a digest of its model's prices here."""
    prices = prices_for(overview(session.pk).weighed.model)
    return ctxweb_version(), hashlib.sha256(repr(prices).encode()).hexdigest()[:16]


def kept(link: ReplayLink) -> dict[str, Any]:
    """What was kept; empty where nothing was, or another version kept it in another form."""
    if not link.results:
        return {}
    found: dict[str, Any] = jsonio.loads(gzip.decompress(bytes(link.results)))
    if found.get("schema") != SCHEMA:
        return {}
    if link.version != ctxweb_version():  # it knew less of what has to be hidden
        found = cleaned(found, with_known(link.choice, link.session))
    return found


def changed(opened: Opened, then: dict[str, Any]) -> tuple[Changed, ...]:
    """Figures that another version or other prices change; of one compaction alone only its own lists or losses."""
    now = _figures(opened)
    others = {fact["name"]: fact for fact in now["facts"]}
    rows = [
        Changed(fact["name"], _words(fact), _words(others[fact["name"]]))
        for fact in then["figures"]["facts"]
        if fact["name"] in others and _words(fact) != _words(others[fact["name"]])
    ]
    for key, name in () if opened.alone else (("n_events", "Compactions"), ("headline", "Verdict")):
        if then["figures"][key] != now[key]:
            rows.append(Changed(name, str(then["figures"][key]), str(now[key])))
    if not rows and then["figures"]["lists"] != now["lists"]:
        name = "Lists before and after" if opened.alone else "Context at each request"
        rows.append(Changed(name, "as shown here", "otherwise"))
    if not rows and then["figures"].get("losses") and now["losses"] not in (None, then["figures"]["losses"]):
        rows.append(Changed("What was lost", "as shown here", "otherwise"))
    return tuple(rows)


def shown(opened: Opened, then: dict[str, Any]) -> dict[str, Any]:
    """What the page needs to show what was kept."""
    document, lists = then["handout"], then["lists"]
    position = document["positions"][document["chosen"]] if document else None
    events = position["events"] if position else []
    figures_then, is_session = then["figures"]["facts"], opened.link.view == "session"
    if lists and lists["event"] is not None:
        events = [event for event in events if event["event"] == lists["event"]] if opened.alone else events
    return {
        "frozen": then,
        "shared_facts": [
            results.Fact(one["name"], Cell(one["value"], one["unit"], one["label"], lost=one["lost"]), one["note"])
            for one in (() if is_session or opened.alone else figures_then)
        ],
        "facts": [Fact(**fact) for fact in (figures_then if is_session else ())],
        "view": None,
        "events": tuple(_event(event) for event in events),
        "n_events": position["compactions"] if position and not opened.alone else len(events),
        "groups": groups(lists["rows"]) if lists else (),
        "n_left": lists["n_rows"] - len(lists["rows"]) if lists else 0,
        "losses": document["losses"] if document and lists and lists["event"] is not None else None,
        "chart": "" if opened.alone or document is None else opened.to("link_svg"),
        "headline": "" if opened.alone else then["figures"]["headline"],
        "verdicts": () if opened.alone else [(None, words) for words in then["verdicts"]],
        "about": shared_views.about(opened) if opened.alone else then["about"],
        "options": then["options"],
    }


def chart(opened: Opened) -> dict[str, Any] | None:
    """The document to draw the chart of: as it was kept, else computed now; None where it cannot be worked out."""
    then = kept(opened.link)
    return then["handout"] if then else document(opened)


def document(opened: Opened) -> dict[str, Any] | None:
    """``ctxweb.handout/1`` of what is looked at, redacted; None where it cannot be worked out."""
    recorded = ReplayState(policy="none", base="recorded")
    try:
        found = of_session(opened.session, recorded if opened.link.view == "session" else opened.setting, alone=True)
    except (UnreadableInput, OSError, BadParameter):
        return None
    return {key: part if key in TABLES else cleaned(part, opened.choice) for key, part in found.items()}


def _shown(link: ReplayLink) -> dict[str, Any]:
    opened = Opened(link, "", {})
    choice, is_session = opened.choice, link.view == "session"
    made = document(opened)  # first: then the index is there that losses are read from
    return {
        "schema": SCHEMA,
        "version": ctxweb_version(),
        "claim": _claim(opened),
        "about": shared_views.about(opened),
        "options": cleaned(shared_views.VIEWS[link.view].options(opened), choice),
        "figures": _figures(opened),
        "label": "" if is_session else str(weakest_label(replays.run(link.session_id, opened.senders).replay.labels)),
        "verdicts": [words for _, words in cleaned(shared_views.verdicts(opened), choice)],
        "handout": made,
        "lists": None if is_session else _lists(opened),
    }


def _claim(opened: Opened) -> str:
    """The line that ctxweb itself writes over the link."""
    link = opened.link
    if link.reply_to is not None:
        first = Opened(link.reply_to, "", {}).senders
        return (shared_views.against(link.session, first, opened.senders) or shared_views.SAME)[:255]
    return shared_views.VIEWS[link.view].claim(link.session, link.state)[:255]


def _figures(opened: Opened) -> dict[str, Any]:
    """The figures by which a later answer is compared, as JSON holds them."""
    session, view = opened.session, overview(opened.session.pk)
    rows: list[dict[str, Any]] = []
    lists, lost = "", None
    if opened.link.view == "session":
        rows = [
            dataclasses.asdict(dataclasses.replace(fact, message=None))
            for fact in facts(view, replays.recording(session.pk).cost)
        ]
        n_events = len(view.weighed.transcript.compactions)
    else:
        found = replays.run(session.pk, opened.senders).replay
        if not opened.alone:
            rows = [
                {"name": fact.name, "note": fact.note, **dataclasses.asdict(fact.cell)}
                for fact in steering.facts(opened, opened.senders)
            ]
        shown = opened.compactions_of(found)
        events = [(one.request, one.before_tokens, one.after_tokens, one.n_before, one.n_after) for one in shown]
        contexts = () if opened.alone else tuple(found.context_tokens)
        lists = hashlib.sha256(repr((events, contexts)).encode()).hexdigest()
        n_events = len(events)
        lost = _lost(opened, losses.of_replay(session, found), [one.index for one in shown])
    headline = shared_views.headline(opened)
    whole = {"facts": rows, "n_events": n_events, "lists": lists, "losses": lost, "headline": headline}
    found_again: dict[str, Any] = jsonio.loads(json.dumps(cleaned(whole, opened.choice)).encode())
    return found_again


def _lost(opened: Opened, found: losses.Losses | None, shown: Sequence[int]) -> str | None:
    """A digest of the rules that the ``shown`` compactions lost, and of what the sender's did; None: not at hand."""
    if found is None:
        return None
    own = found.of(min(opened.senders.event or 0, len(found.events) - 1))
    rules = [[fate.text for fate in one.rules] for one in found.events if one.number in shown]
    gone = [(need.reference.kind, need.reference.text) for need in own.gone] if own else []
    return hashlib.sha256(repr(cleaned((rules, gone), opened.choice)).encode("utf-8", "replace")).hexdigest()


def _lists(opened: Opened) -> dict[str, Any] | None:
    """The lists before and after that the sender chose; None where nothing was compacted."""
    two = compared(opened.session.pk, opened.senders)
    if two is None:
        return None
    rows = diff_lists(two.before, two.after, two.first.weighed)
    found: dict[str, Any] = cleaned(
        {
            "event": None if two.event is None else two.event.index,
            "title": two.heading.title,
            "n_rows": len(rows),
            "rows": [row_document(row) for row in rows[:MOST_ROWS]],
        },
        opened.choice,
    )
    return found


def _event(event: dict[str, Any]) -> dict[str, Any]:
    """One compaction in words; what it lost is "" where that depends on a summary without text."""
    is_open = event["open"] and not event["rules"] + event["gone"]
    return {
        "number": str(event["event"] + 1),
        "request": f"{event['request']:,}",
        "context": f"{event['before']:,} → {event['after']:,}",
        "messages": f"{event['messages_before']:,} → {event['messages_after']:,}",
        "lost": "" if is_open else f"{figures.plural(event['rules'], 'rule')}, {event['gone']:,} used later",
    }


def _words(fact: dict[str, Any]) -> str:
    value = fact["value"]
    number = value if isinstance(value, str) else f"{value:,.2f}" if isinstance(value, float) else f"{value:,}"
    return f"{number} {fact['unit']}".strip() if fact["unit"] in ("tokens", "bytes") else number
