"""Sessions whose facts are not all there: the upload is read again, under the same ids."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from sessions.adapters import storage
from sessions.engine.packing import pack
from sessions.models import Media, MediaUse, Session, SessionFacts, State, Upload
from sessions.services.doctor.finding import Finding
from sessions.services.uploads import read_again

if TYPE_CHECKING:
    from collections.abc import Iterator


def incomplete(*, deep: bool = False) -> Iterator[Finding]:
    """Sessions without facts, and images that are known to no table; ``deep`` reads the facts of every session."""
    for session in Session.objects.filter(facts__isnull=True).select_related("upload"):
        yield reread("incomplete", f"Session {session.pk} has no facts.", session.upload)
    if deep:
        yield from _broken_facts()
    known = Media.objects.values("pk")
    for use in MediaUse.objects.exclude(sha256__in=known).select_related("session__upload"):
        text = f"Session {use.session_id} shows {use.sha256[:12]}, of which nothing is known."
        yield reread("incomplete", text, use.session.upload)


def _broken_facts() -> Iterator[Finding]:
    for facts in SessionFacts.objects.select_related("session__upload").iterator(chunk_size=1):
        session, has = facts.session, "facts that cannot be read"
        with suppress(Exception):  # whatever a damaged byte makes of them
            transcript = pack.unpack(bytes(facts.packed))
            n = len([*transcript.messages, *transcript.requests]) - len(transcript.requests)
            has = "" if n == session.n_messages else f"{n:,} of {session.n_messages:,} messages"
        if has:
            yield reread("incomplete", f"Session {session.pk} has {has}.", session.upload)


def reread(kind: str, text: str, upload: Upload) -> Finding:
    """A finding that reading the upload again mends, where its bytes are there."""
    if upload.status != State.DONE:
        return Finding(kind, text, "nothing more: its upload is about to be read", _nothing)
    if storage.exists(upload.sha256):
        return Finding(kind, text, f"reads {upload.filename} again", partial(read_again, upload=upload))
    return Finding(kind, text, f"upload {upload.filename} again: its bytes are lost")


def _nothing() -> None:
    """The worker mends it."""
