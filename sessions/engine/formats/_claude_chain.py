"""Which lines of a Claude Code file belong to one session, and which of them to its selected branch (formats 3.5).

The conversation is read in file order, because hooks and other UI lines fork the parent chain without any rewind. Only
a real rewind leaves a branch behind: two answered branches under one parent, the later of which does not continue the
context of the earlier.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sessions.engine.formats._claude_usage import reply_usage
from sessions.engine.types import Role

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sessions.engine.formats._claude_lines import ClaudeRecord
    from sessions.engine.formats._claude_usage import ClaudeMessage

    Fork = tuple[list[frozenset[int]], frozenset[int]]


@dataclass(slots=True)
class Tree:
    """Parent links of one session's lines, by ``ClaudeRecord.order``."""

    records: Sequence[ClaudeRecord]
    units: Sequence[ClaudeMessage]
    by_order: dict[int, ClaudeRecord] = field(default_factory=dict)
    parents: dict[int, int] = field(default_factory=dict)
    children: dict[int, list[int]] = field(default_factory=dict)
    replies: dict[int, ClaudeMessage] = field(default_factory=dict)
    reply_orders: list[int] = field(default_factory=list)
    first_reply: dict[int, int] = field(default_factory=dict)
    last_line: dict[int, int] = field(default_factory=dict)


MOST_WAYS = 200
"""Branches beside the latest that are looked for: a file of thousands of rewinds is broken, not rewound."""


@dataclass(frozen=True, slots=True)
class Way:
    """One branch: ``leaf`` is the order of its last message (-1 without any), ``off`` those of the lines not on it."""

    leaf: int
    off: frozenset[int]


def without_copies(records: Sequence[ClaudeRecord]) -> tuple[list[ClaudeRecord], list[ClaudeRecord]]:
    """Records, and the copies among them: lines written again with the same uuid and the same blocks."""
    seen: dict[str, ClaudeRecord] = {}
    kept: list[ClaudeRecord] = []
    copies: list[ClaudeRecord] = []
    for record in records:
        known = seen.get(record.uuid) if record.uuid else None
        if known and known.role is record.role and _shape(known) == _shape(record):
            copies.append(record)
            continue
        if record.uuid and not known:
            seen[record.uuid] = record
        kept.append(record)
    return kept, copies


def sidechains(records: Iterable[ClaudeRecord]) -> dict[str, list[ClaudeRecord]]:
    """Sub-agent lines by agent id, else by the uuid of their root."""
    by_uuid = {record.uuid: record for record in records if record.uuid}
    chains: dict[str, list[ClaudeRecord]] = {}
    roots: dict[str, str] = {}
    for record in records:
        key = f"agent-{record.agent}" if record.agent else ""
        if not key:
            key = roots.get(record.parent) or record.uuid or f"L{record.origin.line}"
            if record.parent in by_uuid and record.parent not in roots:
                key = _root(record, by_uuid)
            roots[record.uuid] = key
        chains.setdefault(key, []).append(record)
    return chains


def sessions_of(records: Sequence[ClaudeRecord]) -> list[list[ClaudeRecord]]:
    """Main lines by session.

    A resumed session copies lines with their old session id: such lines are linked, and stay together. Only a group
    of lines with its own session id, no link to the others and a chain of its own is another session.
    """
    groups: dict[str, list[ClaudeRecord]] = {}
    for record in records:
        groups.setdefault(record.session, []).append(record)
    if len(groups) < 2:
        return [list(records)] if records else []
    home = {record.uuid: record.session for record in records if record.uuid}
    merged = {session: session for session in groups}
    linked: set[str] = set()
    for record in records:
        parent = home.get(record.parent)
        if parent is None:
            continue
        if parent == record.session:
            linked.add(parent) if record.role is Role.ASSISTANT else None
            continue
        old, new = _find(merged, parent), _find(merged, record.session)
        merged[old] = new
    alone = {name for name in groups if name in linked or _find(merged, name) != name}
    anchor = next((name for name in groups if name in alone), next(iter(groups)))
    found: dict[str, list[ClaudeRecord]] = {}
    for record in records:
        name = _find(merged, record.session) if record.session in alone else _find(merged, anchor)
        found.setdefault(name, []).append(record)
    return list(found.values())


def ways_of(records: Sequence[ClaudeRecord], units: Sequence[ClaudeMessage]) -> list[Way]:
    """Every branch that a real rewind made or left: the one of the latest line, then the newest ``MOST_WAYS`` others.

    ``units`` are the messages that the records make.  At each rewind one of the alternatives is taken: the one that
    leads to the branch's leaf, elsewhere the latest.
    """
    tree = _tree(records, units)
    forks = [(fork, _latest(tree, fork)) for fork in _forks(tree)]
    left_by = Counter(order for fork, latest in forks for group in fork if group is not latest for order in group)
    others = [group for fork, latest in forks for group in fork if group is not latest]
    ways = [_way(tree, tree.by_order, frozenset(left_by))]
    newest = sorted(others, key=max, reverse=True)[:MOST_WAYS]
    return [*ways, *(_way(tree, group, _off(forks, left_by, min(group))) for group in newest)]


def _off(forks: Sequence[Fork], left_by: Counter[int], through: int) -> frozenset[int]:
    """The lines not on the latest branch through the line ``through``."""
    off = set(left_by)
    turned = []
    for fork, latest in forks:
        chosen = next((group for group in fork if group is not latest and through in group), None)
        if chosen is not None:
            turned.append((fork, chosen))
    for _, chosen in turned:
        off.difference_update(order for order in chosen if left_by[order] <= sum(order in c for _, c in turned))
    for fork, chosen in turned:
        off.update(*(group for group in fork if group is not chosen))
    return frozenset(off)


def _forks(tree: Tree) -> list[list[frozenset[int]]]:
    """For each real rewind its alternatives, as the orders of all lines below them."""
    roots = [r.order for r in tree.records if r.order not in tree.parents and not r.parent and _is_prompt(r)]
    chained = [order for order in roots if tree.first_reply.get(order, order) != order]
    found = []
    for parent, branches in [*tree.children.items(), (-1, chained)]:
        if sum(order in tree.first_reply for order in branches) < 2:
            continue
        alternatives = _alternatives(tree, parent, branches)
        if len(alternatives) > 1:
            found.append([frozenset(_below(tree, group)) for group in alternatives])
    return found


def _latest(tree: Tree, fork: Sequence[frozenset[int]]) -> frozenset[int]:
    return max(fork, key=lambda group: max(tree.last_line.get(order, order) for order in group))


def _way(tree: Tree, among: Iterable[int], off: frozenset[int]) -> Way:
    """The branch without ``off``, whose last message is one of the lines ``among``."""
    return Way(max((o for o in among if o not in off and tree.by_order[o].is_message), default=-1), off)


def preserved_uuids(
    boundary: ClaudeRecord, copies: Iterable[ClaudeRecord], records: Sequence[ClaudeRecord]
) -> set[str]:
    """Uuids of the messages that a compaction kept: named by its metadata, or written again after it."""
    facts = boundary.boundary or {}
    named = facts.get("preservedMessages")
    uuids = named.get("uuids") if isinstance(named, dict) else None
    kept = {uuid for uuid in uuids if isinstance(uuid, str)} if isinstance(uuids, list) else set()
    segment = facts.get("preservedSegment")
    if isinstance(segment, dict):
        by_uuid = {record.uuid: record for record in records if record.uuid and record.order < boundary.order}
        step = by_uuid.get(str(segment.get("tailUuid")))
        while step and step.uuid not in kept:
            kept.add(step.uuid)
            step = by_uuid.get(step.parent) if step.uuid != segment.get("headUuid") else None
    return kept | {copy.uuid for copy in copies if copy.order > boundary.order}


def _shape(record: ClaudeRecord) -> tuple[object, ...]:
    return tuple((b.kind, b.n_bytes, b.n_payload, b.call_id, len(b.parts)) for b in record.blocks)


def _root(record: ClaudeRecord, by_uuid: dict[str, ClaudeRecord]) -> str:
    seen: set[str] = set()
    while record.parent in by_uuid and record.uuid not in seen:
        seen.add(record.uuid)
        record = by_uuid[record.parent]
    return record.uuid


def _find(merged: dict[str, str], name: str) -> str:
    while merged[name] != name:
        name = merged[name]
    return name


def _tree(records: Sequence[ClaudeRecord], units: Sequence[ClaudeMessage]) -> Tree:
    tree = Tree(records, units)
    by_uuid = {record.uuid: record.order for record in reversed(records) if record.uuid}
    tree.by_order = {record.order: record for record in records}
    tree.replies = {unit.first.order: unit for unit in tree.units if unit.is_reply}
    tree.reply_orders = sorted(tree.replies)
    for record in records:
        parent = by_uuid.get(record.parent)
        if parent is not None and parent < record.order:
            tree.parents[record.order] = parent
            tree.children.setdefault(parent, []).append(record.order)
    for record in reversed(records):
        order = record.order
        if order in tree.replies:
            tree.first_reply[order] = order
        if record.role is not None:
            tree.last_line[order] = max(order, tree.last_line.get(order, order))
        parent = tree.parents.get(order)
        if parent is None:
            continue
        if (reply := tree.first_reply.get(order)) is not None:
            tree.first_reply[parent] = min(reply, tree.first_reply.get(parent, reply))
        if (last := tree.last_line.get(order)) is not None:
            tree.last_line[parent] = max(last, tree.last_line.get(parent, last))
    return tree


def _alternatives(tree: Tree, parent: int, branches: Iterable[int]) -> list[list[int]]:
    """Branches of one parent in groups that exclude each other; one group where nothing was rewound."""
    groups: list[list[int]] = [[]]
    answered: int | None = None
    for order in sorted(branches):
        if order in tree.first_reply:
            if answered is not None and _rewinds(tree, parent, answered, order):
                groups.append([])
            answered = order
        groups[-1].append(order)
    return groups


def _rewinds(tree: Tree, parent: int, earlier: int, order: int) -> bool:
    """Whether the branch at ``order`` left the ``earlier`` one behind, rather than running on from it."""
    first, previous = tree.by_order[order], tree.by_order[earlier]
    reply = tree.first_reply[order]
    if _crosses_boundary(tree, reply, parent):
        return False
    if _is_prompt(first) and _is_prompt(previous):
        return True
    usage = reply_usage(tree.replies[reply])
    n_before = bisect_left(tree.reply_orders, reply)
    last = reply_usage(tree.replies[tree.reply_orders[n_before - 1]]) if n_before else None
    if usage is None or last is None or usage.context == last.context:
        return False
    if first.role is Role.ASSISTANT and previous.role is Role.ASSISTANT:
        sibling = reply_usage(tree.replies[tree.first_reply[earlier]])
        start = sibling.context if sibling else 0
    else:
        start = _context_at(tree, parent)
    run_on = last.context + last.output
    return usage.context < run_on and abs(usage.context - start) < abs(usage.context - run_on)


def _context_at(tree: Tree, order: int | None) -> int:
    """Context and output of the nearest reply at or above ``order``; 0 where there is none."""
    while order is not None and order >= 0:
        unit = tree.replies.get(order)
        usage = reply_usage(unit) if unit else None
        if usage:
            return usage.context + usage.output
        order = tree.parents.get(order)
    return 0


def _crosses_boundary(tree: Tree, order: int | None, parent: int) -> bool:
    while order is not None and order != parent:
        record = tree.by_order[order]
        if record.boundary is not None or record.summary:
            return True
        order = tree.parents.get(order)
    return False


def _is_prompt(record: ClaudeRecord) -> bool:
    return record.role is Role.USER and not (record.attachment or record.summary or record.has_result)


def _below(tree: Tree, orders: Iterable[int]) -> set[int]:
    found: set[int] = set()
    todo = list(orders)
    while todo:
        order = todo.pop()
        found.add(order)
        todo.extend(tree.children.get(order, ()))
    return found
