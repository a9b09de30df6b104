"""Downloads of message lists: the whole session, what a request was sent, one side of a replay's event."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from django.http import Http404, HttpRequest, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.views.decorators.http import require_safe

from sessions import selectors
from sessions.engine.base import registry
from sessions.engine.base.errors import BadParameter
from sessions.engine.reading.jsonio import Source
from sessions.engine.reading.reading import read_contents
from sessions.engine.replays.replay import Replay
from sessions.engine.reports import export
from sessions.engine.reports.exports import Listing
from sessions.models import Session
from sessions.pages.ui.view import attached, refused, session_or_404
from sessions.runs import replay_state as urlstate
from sessions.runs import replays
from sessions.runs.overview import overview
from sessions.runs.replay_state import ReplayState


@require_safe
def export_list(request: HttpRequest, session_id: str, suffix: str) -> HttpResponseBase:
    """The list as a download, streamed: ``side`` asks for one side of an event, ``request`` for what was sent then.

    Without either it is the whole session; 400 with the reasons for an event or a request that does not exist.
    """
    target = next((t for t in registry.plugins("exports").values() if t.suffix == f".{suffix}"), None)
    if target is None:
        raise Http404("There is no such export.")
    found = session_or_404(session_id)
    state = urlstate.parse(request.GET.dict(), overview(found.pk).weighed)
    side = request.GET.get("side", "")
    if (side or state.request is not None) and state.errors:
        return refused(state.errors)
    try:
        listing, made, part = _chosen(found, state, side, under_policy="policy" in request.GET)
    except BadParameter as error:
        return refused({"list": str(error)})
    file = selectors.open_whole_text(found)
    response = StreamingHttpResponse(_pieces(found, listing, made, target.name, file), content_type=target.media_type)
    return attached(response, f"{found.pk}{part}{target.suffix}")


def _chosen(found: Session, state: ReplayState, side: str, *, under_policy: bool) -> tuple[Listing, Replay | None, str]:
    """The list, the replay it comes from, and what tells the file from the session's others."""
    if side:
        ran = replays.run(found.pk, state)
        if ran.error:
            raise BadParameter(ran.error)
        event = state.event or 0
        return export.event_side(ran.replay, event, side), ran.replay, f"-event-{event}-{side}"
    if state.request is not None:
        ran = replays.run(found.pk, state) if under_policy else replays.as_sent(found.pk)
        return export.sent_at(ran.replay, state.request), ran.replay, f"-request-{state.request}"
    return export.whole(selectors.load_weighed(found.pk).transcript), None, ""


def _pieces(found: Session, listing: Listing, made: Replay | None, target: str, file: BinaryIO) -> Iterator[str]:
    """The document as it is made; the upload stays open until the last message is read."""
    with file:
        source = Source(file)
        read = export.reader(made, lambda message: read_contents(source, found.format, message))
        yield from export.export(listing, target, read)
