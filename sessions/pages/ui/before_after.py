"""The selected compaction in groups: what was dropped, what is mentioned and where, what was kept or put back."""

from __future__ import annotations

from dataclasses import dataclass

from sessions.engine.quality.constraints import RuleFate
from sessions.engine.quality.standing import GONE, OPEN, RE_ATTACHED, RETURNED, SUMMARY
from sessions.engine.replays.diff import Row, diff_event
from sessions.engine.replays.replay import Replay
from sessions.pages.ui.folding import SYMBOLS
from sessions.pages.ui.results import depends
from sessions.runs.losses import EventLoss
from sessions.runs.overview import kinds_of

MOST_LINES, MOST_TOLD, MOST_KEPT = 12, 4, 6
MOST_WHOLE = 400
"""Lines of a group where the page is the diff alone."""
TOLD = {
    SUMMARY: "Mentioned in the summary",
    RE_ATTACHED: "In what was re-attached",
    RETURNED: "Appeared again later",
}
"""How something is mentioned, in the order of the groups; each names only what is true of all its lines."""
SHORT = 90


@dataclass(frozen=True, slots=True)
class GroupLine:
    """One message of a group; ``used`` says when it is used later, ``lost`` that a lost rule was broken."""

    op: str
    message: int | None
    kinds: tuple[str, ...]
    words: str
    used: str
    lost: bool
    tokens: int
    row: Row | None = None

    @property
    def symbol(self) -> str:
        return SYMBOLS.get(self.op, "✓")


@dataclass(frozen=True, slots=True)
class Group:
    """Lines of one fate, most consequential first; ``n_left`` more of ``tokens_left`` tokens are not used again."""

    name: str
    says: str
    lines: tuple[GroupLine, ...]
    n_left: int
    tokens_left: int
    tokens: int
    rest: tuple[GroupLine, ...] = ()


@dataclass(frozen=True, slots=True)
class BeforeAfter:
    """The groups, whether every call kept its result, and what may be read again (words)."""

    groups: tuple[Group, ...]
    n_pairs: int
    n_broken: int
    likely: str = ""


def before_after(
    replay: Replay, number: int, loss: EventLoss | None, likely: str = "", *, whole: bool = False
) -> BeforeAfter:
    """The groups of one event, all of it where ``whole``; without ``loss`` nothing is known of what is used later."""
    rows = diff_event(replay.events[number], replay.weighed)
    dropped = [row for row in rows if row.op == "dropped"]
    stays = [row for row in rows if row.op != "dropped"]
    pairs = [row.pair_ok for row in stays if row.pair_ok is not None]
    groups = [_dropped(dropped, loss, whole=whole), *_told(loss, whole=whole), _stays(stays, whole=whole)]
    return BeforeAfter(tuple(groups), len(pairs), pairs.count(False), likely)


def _dropped(rows: list[Row], loss: EventLoss | None, *, whole: bool) -> Group:
    """Rules first, whether their message or its summary went; then what was used later; the rest is a sum."""
    at = {row.item_before.message.index: row for row in rows if row.item_before}
    lost, still = (loss.rules, loss.open_rules) if loss else ((), ())
    rules = {rule.source_message for rule in (*lost, *still)}
    lines = [_rule(rule, at.get(rule.source_message), lost=True) for rule in lost]
    lines += [_rule(rule, at.get(rule.source_message), lost=False) for rule in still]
    uses: dict[int, int] = {}
    for need in (*loss.gone, *loss.open) if loss else ():
        uses[need.source_message] = min(need.needed_request, uses.get(need.source_message, need.needed_request))
    used = [i for i in sorted(uses, key=lambda i: uses[i]) if i in at and i not in rules]
    lines += [_line(at[i], f"used at request {uses[i]:,}") for i in used]
    named = [(len(rules), "rule", "rules"), (len(used), "message used later", "messages used later")]
    says = " and ".join(f"{n} {one if n == 1 else many}" for n, one, many in named if n)
    says += ", as far as known: " + depends(loss.n_open) if loss and loss.n_open else ""
    most = MOST_WHOLE if whole else MOST_LINES
    shown = {line.message for line in lines[:most]}
    rest = [row for row in rows if row.item_before is None or row.item_before.message.index not in shown]
    return Group(
        "Dropped", says, tuple(lines[:most]), len(rest), sum(row.tokens_before for row in rest),
        sum(row.tokens_before for row in rows),
        tuple(_line(row) for row in rest[:MOST_WHOLE]) if whole else (),
    )  # fmt: skip


def _rule(rule: RuleFate, row: Row | None, *, lost: bool) -> GroupLine:
    """A rule that is lost, or may be: its own words, and where it is broken."""
    unbroken = "lost" if lost else "depends on the summary"
    broken = unbroken if rule.broken_at is None else f"broken in message {rule.broken_at:,}"
    if rule.broken_at is not None and not lost:
        broken += ", depends on the summary"
    tokens, harm = row.tokens_before if row else 0, lost and rule.broken_at is not None
    return GroupLine("dropped", rule.source_message, ("text",), f"Rule: {rule.text}"[: SHORT * 2], broken, harm, tokens)


def _told(loss: EventLoss | None, *, whole: bool) -> list[Group]:
    """What is used later and does not stand word for word, a group for each way in which it is said again."""
    groups = []
    for how, name in TOLD.items():
        found = [need for need in loss.needs if need.how == how] if loss else []
        lines = [
            GroupLine(
                "told", need.source_message, (), need.reference.text[:SHORT],
                f"used at request {need.needed_request:,}", lost=False, tokens=0,
            )
            for need in found[: MOST_WHOLE if whole else MOST_TOLD]
        ]  # fmt: skip
        n = len(found)
        if n:
            says = f"{n} {'thing' if n == 1 else 'things'} used later"
            groups.append(Group(name, says, tuple(lines), n - len(lines), 0, 0))
    return groups


def _stays(rows: list[Row], *, whole: bool) -> Group:
    """Inserted and edited ones, then kept ones."""
    order = {"inserted": 0, "edited": 1}
    ranked = sorted(rows, key=lambda row: order.get(row.op, 2))
    most = max(MOST_KEPT, sum(row.op != "kept" for row in ranked)) if whole else MOST_KEPT
    lines = tuple(_line(row) for row in ranked[: min(most, MOST_WHOLE)])
    left = ranked[len(lines) :]
    return Group(
        "Kept or put back", "", lines, len(left), sum(row.tokens_after for row in left),
        sum(row.tokens_after for row in rows),
        tuple(_line(row) for row in left[:MOST_WHOLE]) if whole else (),
    )  # fmt: skip


def _line(row: Row, used: str = "") -> GroupLine:
    item = row.item_after or row.item_before
    message = item.message if item else None
    shown = (message.preview if message else "") or row.op
    original = row.item_before.message.index if row.item_before and row.op != "inserted" else None
    return GroupLine(
        row.op, original, kinds_of(message) if message else (), shown[: SHORT * 2], used, False,
        row.tokens_before if row.op == "dropped" else row.tokens_after, row,
    )  # fmt: skip


def uses_of(loss: EventLoss | None) -> dict[int, tuple[str, bool]]:
    """What stands beside a dropped message: when it is used later, or where its rule is broken; whether it is lost."""
    if loss is None:
        return {}
    said: dict[int, tuple[str, bool]] = {}
    for need in loss.needs:
        if need.source_message not in said and (need.state in {GONE, OPEN} or need.how == SUMMARY):
            told = "mentioned in the summary, " if need.how == SUMMARY else ""
            said[need.source_message] = (f"{told}used at request {need.needed_request:,}", need.state == GONE)
    for rule in loss.open_rules:
        said[rule.source_message] = ("rule: depends on the summary", False)
    for rule in loss.rules:
        where = "rule lost" if rule.broken_at is None else f"rule broken in message {rule.broken_at:,}"
        said[rule.source_message] = (where, True)
    return said
