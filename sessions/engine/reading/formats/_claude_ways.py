"""Which lines of a Claude Code file belong to one session, its branches, and what a compaction kept (formats 3.5).

The conversation is read in file order, because hooks and other UI lines fork the parent chain without any rewind. Only
a real rewind leaves a branch behind: two answered branches under one parent, the later of which does not continue the
context of the earlier.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from operator import attrgetter

from sessions.engine.reading.formats._claude_lines import ClaudeMessage, ClaudeRecord, reply_usage
from sessions.engine.reading.formats._values import as_dict, as_list
from sessions.engine.transcript.types import Kind, Role, Usage

NONE = -1
"""Stands in a table where there is no line."""
MOST_WAYS = 200
"""Branches beside the latest that are looked for: a file of thousands of rewinds is broken, not rewound."""


@dataclass(slots=True)
class Tree:
    """Parent links of one session's lines, by their places in ``records``; NONE where there is none.

    ``children`` are those of a line that has several, in file order; ``unit`` is the number of the reply that begins
    with a line, ``first_reply`` the first at or below it, ``last_line`` the last message there.
    """

    records: Sequence[ClaudeRecord]
    units: Sequence[ClaudeMessage]
    parents: array[int]
    unit: array[int]
    first_reply: array[int]
    last_line: array[int]
    replies: array[int] = field(default_factory=lambda: array("i"))
    children: dict[int, list[int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Way:
    """One branch: ``leaf`` is the order of its last message (-1 without any), ``off`` those of the lines not on it."""

    leaf: int
    off: frozenset[int]


def ways_of(records: Sequence[ClaudeRecord], units: Sequence[ClaudeMessage]) -> list[Way]:
    """Every branch that a real rewind made or left: the one of the latest line, then the newest ``MOST_WAYS`` others.

    ``units`` are the messages that the records make.  At each rewind one of the alternatives is taken: the one that
    leads to the branch's leaf, elsewhere the latest.
    """
    groups = _groups(_tree(records, units))
    newest = sorted((g for g in groups.rivals if g != groups.latest[groups.fork[g]]), key=lambda g: -groups.newest[g])
    return [groups.way(None), *(groups.way(g) for g in newest[:MOST_WAYS])]


@dataclass(slots=True)
class Groups:
    """The lines between rewinds: group 0 are those that no rewind left, every other one alternative of a rewind.

    By group: ``up``, the group that it hangs from, which has a lower number; ``fork``, its rewind; ``orders``, those
    of its own lines; ``leaf``, the place of its last message, and ``newest``, of the last line at or below it.
    ``latest`` is the alternative of each rewind that has the latest line.
    """

    tree: Tree
    up: list[int]
    fork: list[int]
    orders: list[list[int]]
    leaf: list[int]
    newest: list[int]
    latest: dict[int, int] = field(default_factory=dict)

    @property
    def rivals(self) -> range:
        """All groups but the first."""
        return range(1, len(self.up))

    def way(self, through: int | None) -> Way:
        """The branch to the last message at or below a group, None for that of the latest line."""
        chosen, at = dict(self.latest), through or 0
        while at:
            chosen[self.fork[at]], at = at, self.up[at]
        off, inside = [False], [through is None]
        for group in self.rivals:
            off.append(off[self.up[group]] or chosen[self.fork[group]] != group)
            inside.append(inside[self.up[group]] or group == through)
        standing = (place for place, left, here in zip(self.leaf, off, inside, strict=True) if here and not left)
        leaf = max(standing, default=NONE)
        left = chain.from_iterable(orders for orders, is_off in zip(self.orders, off, strict=True) if is_off)
        return Way(NONE if leaf == NONE else self.tree.records[leaf].order, frozenset(left))


def _groups(tree: Tree) -> Groups:
    forks = _forks(tree)
    heads = sorted((min(group), number, group) for number, fork in enumerate(forks) for group in fork)
    group_of = {place: n for n, (_, _, group) in enumerate(heads, 1) for place in group}
    owner = array("i", [0]) * len(tree.records)
    up, fork = [0, *(place for place, _, _ in heads)], [NONE, *(number for _, number, _ in heads)]
    found = Groups(tree, up, fork, [[] for _ in up], [NONE] * len(up), [NONE] * len(up))
    for place, record in enumerate(tree.records):
        parent = tree.parents[place]
        above = owner[parent] if parent != NONE else 0
        owner[place] = group = group_of.get(place, above)
        if group != above:
            found.up[group] = above
        found.orders[group].append(record.order)
        found.newest[group] = place
        if record.is_message:
            found.leaf[group] = place
    _settle_latest(found, owner)
    return found


def _settle_latest(found: Groups, owner: Sequence[int]) -> None:
    """Let every rewind's latest alternative be known: by the last message at or below it, else by its last line."""
    tree, latest = found.tree, [NONE] * len(found.up)
    for place, group in enumerate(owner):
        last = tree.last_line[place]
        latest[group] = max(latest[group], place if last == NONE else last)
    for group in reversed(found.rivals):
        above = found.up[group]
        latest[above] = max(latest[above], latest[group])
        found.newest[above] = max(found.newest[above], found.newest[group])
        known = found.latest.get(found.fork[group], group)
        found.latest[found.fork[group]] = max(known, group, key=latest.__getitem__)


def _forks(tree: Tree) -> list[list[list[int]]]:
    """For each real rewind its alternatives, as the places of their first lines."""
    places = range(len(tree.records))
    roots = (at for at in places if tree.parents[at] == NONE and not tree.records[at].parent)
    chained = [at for at in roots if tree.first_reply[at] not in (NONE, at) and _is_prompt(tree.records[at])]
    found = []
    for parent, branches in chain(sorted(tree.children.items(), key=lambda held: held[1][0]), [(NONE, chained)]):
        if len(branches) < 2 or sum(tree.first_reply[at] != NONE for at in branches) < 2:
            continue
        alternatives = _alternatives(tree, parent, branches)
        if len(alternatives) > 1:
            found.append(alternatives)
    return found


def _tree(records: Sequence[ClaudeRecord], units: Sequence[ClaudeMessage]) -> Tree:
    empty = array("i", [NONE]) * len(records)
    tree = Tree(records, units, empty[:], empty[:], empty[:], empty)
    _set_parents(tree)
    replies = ((number, unit.first) for number, unit in enumerate(units) if unit.is_reply)
    number, first = next(replies, (NONE, None))
    for place, record in enumerate(records):
        if record is first:
            tree.unit[place] = number
            tree.replies.append(place)
            number, first = next(replies, (NONE, None))
    for place in reversed(range(len(records))):
        if tree.unit[place] != NONE:
            tree.first_reply[place] = place
        if records[place].role is not None:
            tree.last_line[place] = max(place, tree.last_line[place])
        parent = tree.parents[place]
        if parent == NONE:
            continue
        if (reply := tree.first_reply[place]) != NONE:
            known = tree.first_reply[parent]
            tree.first_reply[parent] = reply if known == NONE else min(reply, known)
        tree.last_line[parent] = max(tree.last_line[place], tree.last_line[parent])
    return tree


def _set_parents(tree: Tree) -> None:
    """Enter the parent of every line, which stands before it, and the children of those that have several."""
    places: dict[str, int] = {}
    first_child = array("i", [NONE]) * len(tree.records)
    for place, record in enumerate(tree.records):
        parent = places.get(record.parent, NONE)
        if record.uuid:
            places.setdefault(record.uuid, place)
        tree.parents[place] = parent
        if parent == NONE:
            continue
        if first_child[parent] == NONE:
            first_child[parent] = place
        else:
            tree.children.setdefault(parent, [first_child[parent]]).append(place)


def _alternatives(tree: Tree, parent: int, branches: Iterable[int]) -> list[list[int]]:
    """Branches of one parent in groups that exclude each other; one group where nothing was rewound."""
    groups: list[list[int]] = [[]]
    answered: int | None = None
    for place in sorted(branches):
        if tree.first_reply[place] != NONE:
            if answered is not None and _rewinds(tree, parent, answered, place):
                groups.append([])
            answered = place
        groups[-1].append(place)
    return groups


def _rewinds(tree: Tree, parent: int, earlier: int, place: int) -> bool:
    """Whether the branch at ``place`` left the ``earlier`` one behind, rather than running on from it."""
    first, previous = tree.records[place], tree.records[earlier]
    reply = tree.first_reply[place]
    if _crosses_boundary(tree, reply, parent):
        return False
    if _is_prompt(first) and _is_prompt(previous):
        return True
    usage = _usage_at(tree, reply)
    n_before = bisect_left(tree.replies, reply)
    last = _usage_at(tree, tree.replies[n_before - 1]) if n_before else None
    if usage is None or last is None or usage.context == last.context:
        return False
    if first.role is Role.ASSISTANT and previous.role is Role.ASSISTANT:
        sibling = _usage_at(tree, tree.first_reply[earlier])
        start = sibling.context if sibling else 0
    else:
        start = _context_at(tree, parent)
    run_on = last.context + last.output
    return usage.context < run_on and abs(usage.context - start) < abs(usage.context - run_on)


def _usage_at(tree: Tree, place: int) -> Usage | None:
    """What the reply that begins with a line reports; None where none does."""
    return None if tree.unit[place] == NONE else reply_usage(tree.units[tree.unit[place]])


def _context_at(tree: Tree, place: int) -> int:
    """Context and output of the nearest reply at or above ``place``; 0 where there is none."""
    while place != NONE:
        if usage := _usage_at(tree, place):
            return usage.context + usage.output
        place = tree.parents[place]
    return 0


def _crosses_boundary(tree: Tree, place: int, parent: int) -> bool:
    while place not in (NONE, parent):
        record = tree.records[place]
        if record.rare.boundary is not None or record.summary:
            return True
        place = tree.parents[place]
    return False


def _is_prompt(record: ClaudeRecord) -> bool:
    if record.role is not Role.USER or record.attachment or record.summary:
        return False
    return all(block.kind is not Kind.TOOL_RESULT for block in record.body.blocks)


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
            key = roots.get(record.parent) or record.uuid or f"L{record.facts.origin.line}"
            if record.parent in by_uuid and record.parent not in roots:
                above, seen = record, set[str]()
                while above.parent in by_uuid and above.uuid not in seen:
                    seen.add(above.uuid)
                    above = by_uuid[above.parent]
                key = above.uuid
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


def preserved_uuids(
    boundary: ClaudeRecord, copies: Sequence[ClaudeRecord], records: Mapping[str, ClaudeRecord], answered: int | None
) -> set[str]:
    """Uuids of the messages that a compaction kept: named by its metadata, else written again right after it.

    ``copies`` are in file order, ``records`` all other lines by their uuid; ``answered`` is the order of the first
    reply after the boundary, None without one.  Copies behind it are none: a later compaction writes again what an
    earlier one took out.
    """
    facts = boundary.rare.boundary or {}
    kept = {uuid for uuid in as_list(as_dict(facts.get("preservedMessages")).get("uuids")) if isinstance(uuid, str)}
    segment = facts.get("preservedSegment")
    if isinstance(segment, dict):
        kept |= _segment(segment, boundary, records)
    if kept:
        return kept
    later = bisect_right(copies, boundary.order, key=attrgetter("order"))
    return {copy.uuid for copy in copies[later:] if answered is None or copy.order < answered}


def _segment(segment: Mapping[str, object], boundary: ClaudeRecord, records: Mapping[str, ClaudeRecord]) -> set[str]:
    """The lines from a segment's head to its tail, up the chain; in file order where that does not lead to the head.

    The line of a hook that the tail is may hang from a copy of a much older one.
    """
    head, kept = records.get(str(segment.get("headUuid"))), set()
    step = records.get(str(segment.get("tailUuid")))
    while step and step.order < boundary.order and step.uuid not in kept:
        kept.add(step.uuid)
        if step is head:
            return kept
        step = records.get(step.parent)
    if head is None:
        return kept
    return {uuid for uuid, record in records.items() if head.order <= record.order < boundary.order}


def _shape(record: ClaudeRecord) -> tuple[object, ...]:
    return tuple((b.kind, b.n_bytes, b.n_payload, b.call_id, len(b.parts)) for b in record.body.blocks)


def _find(merged: dict[str, str], name: str) -> str:
    while merged[name] != name:
        merged[name] = name = merged[merged[name]]
    return name
