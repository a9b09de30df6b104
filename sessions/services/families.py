"""Sub-agents and the sessions that started them, across files and whichever arrives first, of one owner.

A sub-agent names its home session; the call that started it is known by the agent's id in its result, else by the
prompt that both share (formats 3.5).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from sessions.models import Session, Upload
from sessions.services.blobs import BATCH, batches

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
