"""A recipient's reply: the form that shows both settings, and the link it makes."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse

from sessions.models import ReplayLink, viewer
from sessions.pages.links import claims, frozen, gate
from sessions.pages.links.forms import ReplyForm
from sessions.pages.links.gate import for_strangers, gone
from sessions.pages.links.opened import Opened
from sessions.pages.links.steering import side_by_side
from sessions.pages.ui.addresses import with_query
from sessions.runs import replay_state
from sessions.services import links as service

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
    return claims.against(opened.session, opened.senders, opened.setting) or claims.SAME


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
