"""Replay links over the API: list, make, revoke."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Literal

from django.http import HttpRequest, HttpResponse, QueryDict
from django.http.response import HttpResponseBase
from ninja import Router, Schema
from pydantic import Field, field_validator

from sessions import selectors
from sessions.api.access import DOCUMENT, PROBLEMS, READ, SHARE, Id, ProblemError, document, session_of
from sessions.engine.redact import BY_KEY, Choice, name_in
from sessions.engine.redact.own import MOST_WORDS
from sessions.models import ReplayLink, Session, viewer
from sessions.pages.links import frozen, shared_views
from sessions.pages.links.forms import LEAST_PASSWORD
from sessions.pages.ui.view import MOST_NOTE, own_address
from sessions.services import links
from sessions.services.deleting import only_for

router = Router(auth=READ)
KindKey = StrEnum("KindKey", {key.upper(): key for key in BY_KEY})  # type: ignore[misc]
"""The kinds of secrets that can be left in."""
MOST_WORD, WORD = 200, r"^[^\x00\n]*[^\x00\s][^\x00\n]*$"
"""Characters of a word of one's own, and what it is: one line that holds something."""


class NewLinkBody(Schema):
    """What a link shows and for how long; `state` is a query string of that page.

    `allow`: what recipients of a replay may do: `move` where it compacts, `reply` with their setting. Every kind of
    secret is redacted but those of `show`; `hide` redacts words of your own, too, `/…/` is a regular expression.
    """

    view: str = Field("replay", pattern="^(session|replay|diff)$")
    state: Annotated[str, Field(max_length=2_000, pattern=r"^[^\x00]*$")] = ""
    title: Annotated[str, Field(max_length=255, pattern=r"^[^\x00]*$")] = ""
    note: Annotated[str, Field(max_length=MOST_NOTE, pattern=r"^[^\x00]*$")] = ""
    days: Annotated[int | None, Field(ge=1, le=3_650)] = 30
    password: Annotated[str, Field(max_length=200)] | None = Field(None, min_length=LEAST_PASSWORD)
    allow: list[Literal["move", "reply"]] = Field(["move"], max_length=2)
    show: list[KindKey] = Field([], max_length=len(KindKey))
    hide: list[Annotated[str, Field(max_length=MOST_WORD, pattern=WORD)]] = Field([], max_length=MOST_WORDS - 1)

    @field_validator("hide")
    @classmethod
    def _can_be_used(cls, words: list[str]) -> list[str]:
        stripped = [word.strip() for word in words]
        Choice(words=tuple(stripped))
        return stripped


def _terms(body: NewLinkBody, session: Session) -> links.Terms:
    moves, replies = "move" in body.allow, "reply" in body.allow
    name = () if "homes" in body.show else name_in(selectors.load_weighed(session.pk).transcript.project)
    choice = Choice(frozenset(BY_KEY.keys() - set(body.show)), (*body.hide, *name))
    return links.Terms(body.days, body.password or "", choice, moves=moves, takes_replies=replies)


def _link(one: ReplayLink) -> dict[str, Any]:
    allowed = [name for name, may in (("move", one.moves), ("reply", one.takes_replies)) if may]
    return {
        "id": one.pk, "session": one.session_id, "view": one.view, "title": one.title, "password": bool(one.password),
        "created_at": one.created_at, "expires_at": one.expires_at, "revoked_at": one.revoked_at,
        "views": one.n_views, "viewed_at": one.viewed_at, "allow": allowed, "reply_to": one.reply_to_id,
        "author": one.author, "version": one.version, "show": one.left_in, "hide": one.words,
    }  # fmt: skip


def _owned(session_id: str) -> Session:
    found = session_of(session_id)
    if not viewer().owns(found.upload.owner_id):
        raise ProblemError(403, only_for(found.upload))
    return found


@router.get("/sessions/{session_id}/links", response=DOCUMENT, summary="List replay links")
def list_links(request: HttpRequest, session_id: Id) -> HttpResponseBase:
    """`ctxweb.links/1`: the links of a session without their addresses, which are stored nowhere."""
    found = _owned(session_id)
    return document(
        request, {"schema": "ctxweb.links/1", "links": [_link(one) for one in found.links.defer("results")]}
    )


@router.post(
    "/sessions/{session_id}/links", auth=SHARE, response={201: dict[str, Any], **PROBLEMS}, summary="Make a replay link"
)
def make_link(request: HttpRequest, session_id: Id, body: NewLinkBody) -> HttpResponseBase:
    """`ctxweb.links/1` with the new link and its `url`, which is told this once."""
    found = _owned(session_id)
    chosen = shared_views.VIEWS[body.view]
    query = QueryDict(body.state).dict()
    if errors := shared_views.wrong(body.view, found, query):
        raise ProblemError(422, "The state is wrong.", errors)
    state = chosen.frozen(query)
    made = links.create_link(
        session=found, view=body.view, state=state, title=body.title or chosen.claim(found, state)[:255],
        note=body.note, terms=_terms(body, found), maker_id=viewer().user_id,
    )  # fmt: skip
    frozen.keep(made.link)
    entry = _link(made.link) | {"url": own_address(request, "sessions:link", made.token)}
    return document(request, {"schema": "ctxweb.links/1", "links": [entry]}, 201)


@router.delete("/links/{link_id}", auth=SHARE, response={204: None, **PROBLEMS}, summary="Revoke a replay link")
def revoke_link(request: HttpRequest, link_id: Annotated[int, Field(ge=1, le=2**63 - 1)]) -> HttpResponseBase:
    """The link leads nowhere from then on."""
    found = ReplayLink.objects.select_related("session__upload").filter(pk=link_id).first()
    if found is None:
        raise ProblemError(404, "There is no such link.")
    try:
        selectors.get_session(found.session_id)
    except Session.DoesNotExist:
        raise ProblemError(404, "There is no such link.") from None
    if not viewer().owns(found.maker_id):
        _owned(found.session_id)
    links.revoke_link(link_id=link_id)
    return HttpResponse(status=204)
