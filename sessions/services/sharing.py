"""Recognises resumed and forked sessions: files that hold messages which another stored session already has.

A copied message has the same native id, role and size.  Candidates are found by a sample of hashed ids that is the same
in every file (an id is in it or not, whatever surrounds it); what they share is then compared message by message.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from django.db.models import Q
from django.utils import timezone

from sessions.engine.packing import pack
from sessions.engine.reports.report import usage_sums
from sessions.engine.transcript.types import Kind, Message, Transcript
from sessions.engine.weigh.calibration.weighed import Weighed
from sessions.models import Session, SessionFacts, SessionKey, Upload
from sessions.services.blobs import BATCH, batches

LEAST_CHARS = 16
"""Ids from this length on are unique beyond their file (UUIDs, ``msg_01…``); ``L12`` or ``u1`` are not."""
ALWAYS = 16
"""The first ids of a session are all sampled: a resumed file begins with copies."""
ONE_IN = 8
MOST_CANDIDATES = 20


@dataclass(slots=True)
class Shared:
    """What earlier sessions hold already: message indices, response ids, and how much of it which session has."""

    messages: set[int] = field(default_factory=set)
    responses: set[str] = field(default_factory=set)
    by_session: dict[str, int] = field(default_factory=dict)


def keys_of(transcript: Transcript) -> list[int]:
    """The sampled hashes of a session's native ids."""
    ids = (ident for ident in pack.ids_of(transcript.messages) if len(ident) >= LEAST_CHARS)
    hashed = enumerate(map(_hashed, ids))
    return sorted({key for number, key in hashed if number < ALWAYS or key % ONE_IN == 0})


def mark_shared(
    session: Session, upload: Upload, weighed: Weighed, wire: Sequence[int], keys: Sequence[int]
) -> tuple[str, ...]:
    """Fill in what ``session`` shares (``wire``: its messages' bytes); the sessions that it was compared with."""
    transcript = weighed.transcript
    candidates = compared_with(keys, upload)
    found = _compared(transcript, candidates) if candidates else Shared()
    if not found.by_session:
        return candidates
    requests = [r for r in transcript.requests if r.response_id in found.responses]
    session.shares_with_id = max(found.by_session, key=lambda key: found.by_session[key])
    session.n_shared_messages, session.n_shared_requests = len(found.messages), len(requests)
    shared = [transcript.messages[index] for index in sorted(found.messages)]
    session.n_shared_images = sum(leaf.kind is Kind.IMAGE for message in shared for leaf in message.leaves())
    session.shared_tokens = sum(weighed.tokens[index] for index in found.messages)
    session.shared_wire_bytes = sum(wire[index] for index in found.messages)
    session.shared_usage = usage_sums(requests) or {}
    return candidates


def lost(sessions: Iterable[Session]) -> bool:
    """Whether one of them shares messages with a session that was deleted since they were compared."""
    others = {one.shares_with_id for one in sessions} - {None}
    return bool(others) and Session.objects.filter(pk__in=others).count() < len(others)


def unmark(session: Session) -> None:
    """``session`` as if it had been compared with none."""
    session.shares_with_id, session.shared_usage = None, {}
    session.n_shared_messages = session.n_shared_requests = session.n_shared_images = 0
    session.shared_tokens = session.shared_wire_bytes = 0


def _compared(transcript: Transcript, candidates: Sequence[str]) -> Shared:
    shared = Shared()
    signatures = {_signature(m): m.index for m in transcript.messages if len(m.id) >= LEAST_CHARS}
    responses = {r.response_id for r in transcript.requests if len(r.response_id) >= LEAST_CHARS}
    for key, other in _transcripts(candidates):
        theirs = {_signature(m) for m in other.messages}
        mine = {index for signature, index in signatures.items() if signature in theirs}
        if mine:
            shared.by_session[key] = len(mine)
            shared.messages |= mine
            shared.responses |= responses & {r.response_id for r in other.requests}
    return shared


def compared_with(keys: Sequence[int], upload: Upload) -> tuple[str, ...]:
    """Sessions of earlier uploads that have one of the keys, oldest first."""
    known: set[str] = set()
    seen = Q(session__private=False) | Q(session__upload__owner=upload.owner_id)  # nobody learns what others keep
    # A watched file's upload is read before it is stored: it has not arrived yet.
    arrived = getattr(upload, "created_at", None) or timezone.now()
    for some in batches(keys):
        rows = SessionKey.objects.filter(seen, key__in=some, session__upload__created_at__lt=arrived)
        known.update(rows.exclude(session__upload=upload).values_list("session_id", flat=True))
    if not known:
        return ()
    order = Session.objects.filter(pk__in=sorted(known)[:BATCH]).order_by("upload__created_at", "position")
    return tuple(order.values_list("pk", flat=True)[:MOST_CANDIDATES])


def _transcripts(candidates: Sequence[str]) -> Iterator[tuple[str, Transcript]]:
    for key in candidates:
        facts = SessionFacts.objects.filter(pk=key).first()
        try:
            if facts is not None:
                yield key, pack.unpack(bytes(facts.packed))
        except pack.UnreadablePack:
            continue  # of another version: its upload has to be read again before it can be compared


def _signature(message: Message) -> tuple[object, ...]:
    return (message.id, message.role, sum(leaf.n_bytes + leaf.n_payload for leaf in message.leaves()))


def _hashed(ident: str) -> int:
    return int.from_bytes(hashlib.blake2b(ident.encode("utf-8", "replace"), digest_size=8).digest(), "big") >> 1
