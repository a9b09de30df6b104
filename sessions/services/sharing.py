"""Sessions of several files that belong together: resumed and forked ones, and sub-agents whichever comes first.

A copied message has the same native id, role and size.  Candidates are found by a sample of hashed ids that is the same
in every file (an id is in it or not, whatever surrounds it); what they share is then compared message by message.

A sub-agent names its home session; the call that started it is known by the agent's id in its result, else by the
prompt that both share (formats 3.5).
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
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


FIELDS = (
    "id", "upload_id", "position", "native_id", "format", "parent_id", "parent_call_id", "home_id", "prompt_hash",
    "spawns", "created_at",
)  # fmt: skip


def link_families(*, upload: Upload) -> None:
    """Give the upload's sub-agents their parents, and its sessions the sub-agents that came before them."""
    own = list(Session.objects.filter(upload=upload).values_list("native_id", "home_id"))
    homes = {name for pair in own for name in pair if name}
    changed: list[Session] = []
    for family in _families(homes, upload.owner_id):
        changed += _linked(family, upload)
    Session.objects.bulk_update(changed, ["parent", "parent_call_id"], batch_size=BATCH)


def _families(homes: Iterable[str], owner_id: int | None) -> Iterable[list[Session]]:
    """Each family of one owner with a sub-agent: names come from files, so somebody else's may claim any."""
    mine = Session.objects.filter(upload__owner=owner_id)
    for some in batches(sorted(homes)):
        children = mine.filter(home_id__in=some).only(*FIELDS)
        by_home: dict[tuple[str, str], list[Session]] = defaultdict(list)
        for child in children.order_by("upload_id", "position"):
            by_home[child.home_id, child.format].append(child)
        if not by_home:
            continue
        names = sorted({home for home, _ in by_home})
        for root in mine.filter(native_id__in=names, home_id="").only(*FIELDS).order_by("-created_at", "id"):
            if (root.native_id, root.format) in by_home:
                by_home[root.native_id, root.format].append(root)
        yield from by_home.values()


def _linked(family: Sequence[Session], upload: Upload) -> list[Session]:
    """Children of this upload, and those that had no parent yet, with the parent they now have."""
    taken: set[tuple[str, str]] = {(s.parent_id, s.parent_call_id) for s in family if s.parent_id and s.parent_call_id}
    parents = {s.pk: s.parent_id for s in family}
    changed = []
    for child in family:
        if not child.home_id or (child.parent_id and child.upload_id != upload.pk):
            continue
        others = [s for s in family if s.pk != child.pk and not _descends(s.pk, child.pk, parents)]
        others.sort(key=lambda s: (s.upload_id != child.upload_id, bool(s.home_id)))
        parent, call = _starter(child, others, taken)
        if parent is not None and (child.parent_id, child.parent_call_id) != (parent.pk, call):
            child.parent_id, child.parent_call_id = parent.pk, call
            parents[child.pk] = parent.pk
            changed.append(child)
        if parent is not None and call:
            taken.add((parent.pk, call))
    return changed


def _starter(child: Session, others: Sequence[Session], taken: set[tuple[str, str]]) -> tuple[Session | None, str]:
    """The session and the call that started ``child``: by agent, by prompt, else the home session alone."""
    for other in others:
        for call, agent, _ in other.spawns:
            if agent and agent == child.native_id:
                return other, call
    for other in others:
        for call, agent, prompt in other.spawns:
            free = not agent and (
                (other.pk, call) not in taken or (other.pk, call) == (child.parent_id, child.parent_call_id)
            )
            if prompt and prompt == child.prompt_hash and free:
                return other, call
    return next((other for other in others if not other.home_id), None), ""


def _descends(key: str, ancestor: str, parents: dict[str, str | None]) -> bool:
    seen: set[str] = set()
    above: str | None = key
    while above is not None and above not in seen:
        if above == ancestor:
            return True
        seen.add(above)
        above = parents.get(above)
    return False
