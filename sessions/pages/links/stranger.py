"""Views of a replay link for its recipients: page, compactions, messages, chart, downloads, the form for a reply."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any, cast
from urllib.parse import urlencode

from csp.decorators import csp_replace
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.clickjacking import xframe_options_exempt

from ctxweb.version import ctxweb_version
from sessions.engine.base.errors import UnreadableInput
from sessions.engine.reading import jsonio
from sessions.engine.redact.escaping import csv_lines
from sessions.engine.replays.diff import diff_lists
from sessions.engine.transcript.speaker import speaker
from sessions.engine.transcript.types import Kind, Message
from sessions.models import ReplayLink, viewer
from sessions.pages.diff.compared import compared
from sessions.pages.diff.context import build_run
from sessions.pages.links import frozen, gate, shared_views
from sessions.pages.links.forms import ReplyForm
from sessions.pages.links.gate import for_strangers, gone
from sessions.pages.links.opened import Opened
from sessions.pages.links.redaction import cleaned, without_stump
from sessions.pages.links.steering import facts, side_by_side, steering
from sessions.pages.ui.addresses import with_query
from sessions.pages.ui.blocks import LONG
from sessions.pages.ui.view import as_json, asks_fragment, attached, part_or_page, varied
from sessions.runs import replay_state, replays
from sessions.runs.drawing import svg
from sessions.runs.handout import row_document
from sessions.runs.overview import kinds_of
from sessions.runs.removal import removal
from sessions.runs.texts import message_text
from sessions.services import links as service

NOW = "now"
"""The part of an address that asks for what this version computes, where the link was made by another."""
FRAMES = {"frame-ancestors": ["*"]}
"""The chart of a link without a password may stand in other sites' pages: there is nothing in it to press."""


@for_strangers("GET", "HEAD", "POST", counted=True)
def link(request: HttpRequest, token: str, found: ReplayLink) -> HttpResponse:
    """The page that a stranger sees: the claim and the note, then the view; a POST brings its password."""
    if request.method == "POST":
        return redirect("sessions:link", token)
    return _page(request, Opened(found, token, request.GET), found.view)


@for_strangers()
def link_part(request: HttpRequest, token: str, found: ReplayLink, part: str) -> HttpResponse:
    """The replay or the diff of a link, another compaction of it: a part for htmx, the whole page else."""
    opened = Opened(found, token, request.GET)
    if found.view == "session" or (part == "replay" and opened.alone):
        return gone(request)
    return _page(request, opened, part)


@for_strangers()
def link_compaction(request: HttpRequest, token: str, found: ReplayLink, number: int) -> HttpResponse:
    """The lists before and after one compaction of a link, counted from 1."""
    opened = Opened(found, token, request.GET.dict() | {"event": str(number - 1)})
    if found.view == "session":
        return gone(request)
    n_events = len(replays.run(found.session_id, opened.setting).replay.events)
    if opened.alone and (opened.compaction is None or number != opened.compaction.index + 1):
        return gone(request)
    if not 1 <= number <= n_events:
        return gone(request)
    return _page(request, opened, "diff")


@for_strangers()
def link_message(request: HttpRequest, token: str, found: ReplayLink, index: int) -> HttpResponse:
    """One message of a link: its text redacted, its images as their size."""
    opened = Opened(found, token, request.GET)
    shown = passage(opened, index)
    if shown is None:
        return gone(request)
    context = {
        "link": found,
        "passage": shown,
        "back": opened.to("link"),
        "before": opened.to("link_message", shown.before) if shown.before is not None else "",
        "after": opened.to("link_message", shown.after) if shown.after is not None else "",
    }
    return render(request, "sessions/links/message.html", context)


def _page(request: HttpRequest, opened: Opened, view: str) -> HttpResponse:
    """A view of the link: a run of a diff, the view with what follows the slider, or the whole page."""
    chosen, found = shared_views.VIEWS[view], opened.link
    if view == "diff" and "rows" in request.GET and asks_fragment(request):
        lines = cleaned(build_run(opened.session, opened.state, opened.urls), opened.choice)
        return varied(render(request, "sessions/diff/_rows.html", {"lines": lines}))
    context = chosen.context(opened) | {"link": found, "shown": view, "fragment": chosen.template}
    context["files"] = _files(opened)
    if view != "session":
        context |= _replayed(opened, view)
    if asks_fragment(request):
        return varied(render(request, "sessions/links/_moved.html", context))
    then = frozen.kept(found)
    changed = frozen.changed(opened, then) if then else ()
    context |= {
        "about": shared_views.about(opened),
        "not_understood": shared_views.gaps(opened),
        "options": cleaned(chosen.options(opened), opened.choice),
        "headline": shared_views.headline(opened),
        "removed_url": opened.to("link_removed"),
        "remarks": _remarks(opened) if view != "session" else (),
        "card": not found.password,
        "sent": "sent" in request.GET,
        "version": ctxweb_version(),
        "changed": cleaned(changed, opened.choice),
        "as_sent": opened.to("link"),
    }
    if changed and view == found.view and opened.compact_at is None and NOW not in request.GET:
        context |= frozen.shown(opened, then) | {"steering": None, "now": f"{opened.to('link')}?{NOW}=1"}
    elif found.reply_to is not None and view == "replay":
        whose = (f"sender's setting: {found.reply_to.title}", f"{opened.whose} setting")
        first = Opened(found.reply_to, opened.token, {}).senders
        context["sides"] = side_by_side(opened, first, opened.senders, whose)
    return varied(render(request, "sessions/links/link.html", context))


def _replayed(opened: Opened, view: str) -> dict[str, Any]:
    return {
        "steering": steering(opened) if view == "replay" else None,
        "shared_facts": facts(opened, opened.setting) if not opened.alone else (),
        "here": opened.urls.to_replay(opened.state) or opened.urls.to_diff(opened.state),
        "senders": opened.to("link_replay"),
        "whose": opened.whose,
        "takes_replies": opened.takes_replies,
        "reply_url": opened.to("link_reply"),
        "kept": opened.urls.kept,
        "verdicts": cleaned(shared_views.verdicts(opened), opened.choice),
    }


def _files(opened: Opened) -> tuple[tuple[str, str], ...]:
    """What a recipient may take along, at the setting that is shown: words and address."""
    words = shared_views.VIEWS[opened.link.view].json_words
    routes = [(f"{words}, JSON", "link_json"), ("CSV", "link_csv"), ("JSONL", "link_jsonl")]
    routes += [] if opened.alone else [("Chart, SVG", "link_svg")]
    return tuple((name, with_query(opened.to(route), opened.urls.kept)) for name, route in routes)


def _remarks(opened: Opened) -> tuple[tuple[int, str, str], ...]:
    """The sender's notes on the messages that are shown, with the page of each."""
    shown = opened.messages if opened.alone else range(len(opened.weighed.transcript.messages))
    return tuple(
        (index, opened.to("link_message", index), text) for index, text in opened.link.remarks if index in shown
    )


@for_strangers()
def link_chart(request: HttpRequest, token: str, found: ReplayLink) -> HttpResponse:
    """The chart alone, to stand in a frame of another page unless the link has a password."""
    opened = Opened(found, token, request.GET)
    if found.view != "replay":
        return gone(request)
    context = shared_views.VIEWS["replay"].context(opened) | {"link": found, "back": opened.to("link")}

    def chart(asked: HttpRequest) -> HttpResponse:
        return render(asked, "sessions/links/chart.html", context)

    framed = xframe_options_exempt(csp_replace(FRAMES)(chart))
    return chart(request) if found.password else cast("HttpResponse", framed(request))


@for_strangers()
def link_svg(request: HttpRequest, token: str, found: ReplayLink) -> HttpResponse:
    """The chart as SVG: as the sender saw it, or at the recipient's setting and by this version where that is asked."""
    opened = Opened(found, token, request.GET)
    kept = opened.compact_at is None and NOW not in request.GET
    if opened.alone:
        return gone(request)
    document = frozen.chart(opened) if kept else frozen.document(opened)
    if document is None:
        return gone(request)
    response = HttpResponse(svg(document, title=found.title, choice=opened.choice), content_type="image/svg+xml")
    response["Content-Disposition"] = 'inline; filename="replay.svg"'
    return response


@for_strangers()
def link_removed(request: HttpRequest, token: str, found: ReplayLink) -> HttpResponse:
    """How much was taken out, by sort: numbers only, a stranger is not told where."""
    opened = Opened(found, token, {})
    context: dict[str, Any] = {"link": found, "back": opened.to("link")}
    with suppress(UnreadableInput, OSError):
        context["removal"] = removal(found.session, opened.choice, opened.messages if opened.alone else None)
    return part_or_page(request, "sessions/links/_removed.html", "sessions/links/removed.html", context)


@for_strangers()
def link_json(request: HttpRequest, token: str, found: ReplayLink) -> HttpResponse:
    """The view as one JSON document at the recipient's setting, its text cleaned."""
    opened = Opened(found, token, request.GET)
    made = shared_views.VIEWS[found.view].document(opened)
    if made is None:
        return gone(request)
    document = cleaned(made, opened.choice)
    return attached(as_json(document), f"{found.view}.json")


@for_strangers()
def link_table(request: HttpRequest, token: str, found: ReplayLink, kind: str) -> HttpResponse:
    """The figures of the view as CSV or as JSON lines, at the recipient's setting."""
    opened, columns = Opened(found, token, request.GET), COLUMNS[found.view]
    rows = _lines(opened) if opened.alone else _requests(opened)
    if kind == "csv":
        text = "".join(csv_lines([columns, *([row[name] for name in columns] for row in rows)]))
    else:
        text = "".join(f"{jsonio.dumps(row)}\n" for row in rows)
    media_type = {"csv": "text/csv", "jsonl": "application/jsonl"}[kind]
    return attached(HttpResponse(text, content_type=media_type), f"{found.view}.{kind}")


REQUESTS = ("request", "recorded_tokens", "tokens", "compaction")
LINES = ("message", "op", "role", "kinds", "tokens_before", "tokens_after")
COLUMNS = {"session": REQUESTS[:2], "replay": REQUESTS, "diff": LINES}
"""By view. Tokens are of the whole context, requests and messages count from 0, compactions from 1."""


def _requests(opened: Opened) -> Iterator[dict[str, Any]]:
    recorded = replays.as_sent(opened.session.pk).replay.context_tokens
    if opened.link.view == "session":
        yield from ({"request": at, "recorded_tokens": tokens} for at, tokens in enumerate(recorded))
        return
    ran = replays.run(opened.session.pk, opened.setting).replay
    numbers = {event.request: event.index + 1 for event in ran.events}
    for at, (before, tokens) in enumerate(zip(recorded, ran.context_tokens, strict=True)):
        yield {"request": at, "recorded_tokens": before, "tokens": tokens, "compaction": numbers.get(at)}


def _lines(opened: Opened) -> Iterator[dict[str, Any]]:
    two = compared(opened.session.pk, opened.senders)
    for row in diff_lists(two.before, two.after, two.first.weighed) if two else ():
        found = row_document(row)
        yield {
            "message": found["message"],
            "op": found["op"],
            "role": cleaned(found["role"], opened.choice),
            "kinds": " ".join(found["kinds"]),
            "tokens_before": found["before"],
            "tokens_after": found["after"],
        }


MOST_CHARS = 20_000
"""Characters of a message that a link shows."""


class Passage:
    """A message as a link shows it; ``fate`` says what the setting does to it, ``n_left`` characters are not shown.

    ``before`` and ``after`` are the messages beside it among those that are ``near``.
    """

    def __init__(self, opened: Opened, index: int, near: Sequence[int]) -> None:
        weighed, choice, message = opened.weighed, opened.choice, opened.weighed.transcript.messages[index]
        self.index, self.role, self.kinds = index, speaker(message), kinds_of(message)
        self.tokens, self.label = weighed.tokens[index], str(weighed.labels[index])
        text = message_text(opened.session, message)
        kept, n_unread = cleaned(text[:LONG], choice), max(len(text) - LONG, 0)
        kept = without_stump(kept) if n_unread else kept
        self.text, self.n_left = kept[:MOST_CHARS], max(len(kept) - MOST_CHARS, 0) + n_unread
        self.images = _images(message)
        self.fate = _fate(opened, index)
        self.remark = cleaned(dict(opened.link.remarks).get(index, ""), choice)
        at = near.index(index)
        self.before, self.after = near[at - 1] if at else None, near[at + 1] if at + 1 < len(near) else None


def passage(opened: Opened, index: int) -> Passage | None:
    """The message ``index``; None where the link does not show it."""
    near = sorted(opened.messages) if opened.alone else range(len(opened.weighed.transcript.messages))
    return None if opened.link.view == "session" or index not in near else Passage(opened, index, near)


def _images(message: Message) -> tuple[str, ...]:
    """The images of a message by their size; none of them leaves this server."""
    found = [leaf.media for leaf in message.leaves() if leaf.kind is Kind.IMAGE and leaf.media is not None]
    return tuple(f"{one.width:,} × {one.height:,} pixels" if one.width else "size unknown" for one in found)


def _fate(opened: Opened, index: int) -> str:
    """The first compaction that drops or changes the message, in words; of one alone, what that one does."""
    for event in opened.compactions_of(replays.run(opened.session.pk, opened.setting).replay):
        if index not in {item.message.index for item in event.before}:
            continue
        after = [item for item in event.after if item.message.index == index]
        where = f"compaction {event.index + 1}, before request {event.request:,}"
        if not after:
            return f"Dropped by {where}."
        if any(item.edited and not item.inserted for item in after):
            return f"Changed by {where}."
    return "Kept by this compaction." if opened.alone else "Kept by every compaction."


MOST_AN_HOUR, HOUR = 10, 3600
"""Replies to one link from one address in an hour."""


@for_strangers("GET", "HEAD", "POST")
def link_reply(request: HttpRequest, token: str, found: ReplayLink) -> HttpResponse:
    """Both settings side by side and a form (GET); a link of its own for the recipient's (POST).

    404 where the link takes no replies, 422 for a wrong form, 429 after ten replies in an hour from one address or a
    hundred in all.  Its referrer stays within this server: a form of a page without one would be refused.
    """
    asked = request.POST if request.method == "POST" else request.GET
    opened = Opened(found, token, asked)
    if not opened.takes_replies:
        return gone(request)
    form = ReplyForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        response = _made(request, opened, form.cleaned_data)
    else:
        response = _asked(request, opened, form, status=422 if request.method == "POST" else 200)
    response["Referrer-Policy"] = "same-origin"
    return response


def _asked(request: HttpRequest, opened: Opened, form: ReplyForm, *, status: int, problem: str = "") -> HttpResponse:
    context: dict[str, Any] = {
        "link": opened.link,
        "form": form,
        "problem": problem,
        "compact_at": opened.compact_at,
        "is_moved": opened.setting != opened.senders,
        "action": opened.to("link_reply"),
        "back": with_query(opened.to("link"), opened.urls.kept),
        "claim": _claim(opened),
        "sides": side_by_side(opened, opened.senders, opened.setting, ("the sender's setting", "your setting")),
    }
    return render(request, "sessions/links/reply.html", context, status=status)


def _claim(opened: Opened) -> str:
    """What the recipient's setting does against the sender's; that it is the same where nothing moved."""
    return shared_views.against(opened.session, opened.senders, opened.setting) or shared_views.SAME


def _made(request: HttpRequest, opened: Opened, words: dict[str, str]) -> HttpResponse:
    if gate.count("reply", request, opened.link, HOUR) > MOST_AN_HOUR:
        problem = f"{MOST_AN_HOUR} replies came from your address. Try again in an hour."
        return _asked(request, opened, ReplyForm(request.POST), status=429, problem=problem)
    try:
        made = service.reply(
            to=opened.link, state=replay_state.query(opened.setting), title=_claim(opened), note=words["note"],
            author=words["author"], maker_id=viewer().user_id,
        )  # fmt: skip
    except service.TooManyRepliesError as error:
        return _asked(request, opened, ReplyForm(request.POST), status=429, problem=str(error))
    frozen.keep(made.link)
    response = redirect(f"{reverse('sessions:link', args=[made.token])}?{urlencode({'sent': 1})}")
    if made.link.password:  # they have typed it already
        gate.remember(request, response, made.link)
    return response
