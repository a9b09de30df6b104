"""pi's compaction: everything before a cut becomes a summary, kept up to date (policies 11.1).

Where no message from the cut on will do, and where the sum is never reached, the cut is at the first message of all.
Names of files are a message of their own here.  ``when=requests`` asks at every request, what came after the last reply
counted by estimate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sessions.engine.policies._lists import ASSISTANT, TOOL, USER, apart, role_of
from sessions.engine.policies.edits import marker
from sessions.engine.policies.params import MANY_TOKENS, Told, choice, is_told, param, when
from sessions.engine.policies.policy import Draft, Gate, Item, Policy, View
from sessions.engine.transcript.types import Kind

READERS, WRITERS = frozenset({"read"}), frozenset({"write", "edit"})


@dataclass(frozen=True, slots=True)
class Params(Told):
    """Reserve and what is kept."""

    reserve: int = when(16_384, "Reserve", "Compacts over the window less this", "tokens", 0, 1_000_000, 1_024)
    keep_recent: int = param(20_000, "Keep recent", "Newest messages that reach this stay", *MANY_TOKENS)
    when: str = choice(("turns", "requests"), "Asked", "Between turns alone, or at every request", group="when")


class Cut(NamedTuple):
    """The first message kept, and where its turn starts if the cut is inside one (-1: it is not)."""

    first_kept: int
    turn: int


def find_cut(sizes: Sequence[int], kinds: Sequence[str], keep_recent: int) -> Cut:
    """Where the list is cut; ``kinds`` are roles."""
    valid = [position for position, kind in enumerate(kinds) if kind != TOOL]
    if not valid:
        return Cut(0, -1)
    cut, total = valid[0], 0
    for position in reversed(range(len(sizes))):
        total += sizes[position]
        if total >= keep_recent:
            cut = next((place for place in valid if place >= position), cut)
            break
    if kinds[cut] == USER:
        return Cut(cut, -1)
    return Cut(cut, next((position for position in reversed(range(cut + 1)) if kinds[position] == USER), -1))


def used(params: Params, view: View) -> int:
    """All tokens of the last reply; with ``requests`` what came after it too; without usage the estimate of all."""
    if view.usage is None:
        return view.size + view.overhead
    tail = view.usage.tail if params.when == "requests" else 0
    return view.usage.spent + tail


def gate(params: Params, view: View) -> Gate:
    """Used tokens over the window less the reserve, or a request that would be refused."""
    measure, limit = used(params, view), view.window - params.reserve
    # A turn has ended where the newest message is a prompt, or a reply that nothing follows yet.
    turn_ended = bool(view.items) and role_of(view.items[-1]) in {USER, ASSISTANT}
    asked = params.when == "requests" or turn_ended
    known = view.usage is not None or not is_told(params) or params.when == "requests"
    fires = (asked and known and measure > limit) or view.rejected
    return Gate(fires, "tokens of the last reply", measure, limit, ">", "tokens")


def edit(params: Params, view: View) -> list[Item]:
    """Summary, what is kept, what is about to be sent."""
    system, rest = apart(view.items)
    if not rest:
        return list(view.items)
    first = next((n for n, item in enumerate(rest) if not item.message.summary), len(rest))
    n_entries = len(rest)
    if params.when == "turns" and used(params, view) > view.window - params.reserve and role_of(rest[-1]) == USER:
        n_entries = next((n for n in range(len(rest), first, -1) if role_of(rest[n - 1]) == ASSISTANT), first)
    entries, pending = rest[first:n_entries], rest[n_entries:]
    cut = find_cut([item.size for item in entries], [role_of(item) for item in entries], params.keep_recent)
    dropped, kept = entries[: cut.first_kept], entries[cut.first_kept :]
    made = view.summarize(dropped, _files(view, dropped), mode="merge", calls=2 if cut.turn > 0 else 1)
    return [*system, *made, *kept, *pending]


def _files(view: View, dropped: Sequence[Item]) -> tuple[Draft, ...]:
    """The names of all files read and of those written so far."""
    read: set[str] = set(view.state.memory.get("read", ()))
    written: set[str] = set(view.state.memory.get("written", ()))
    calls = [block for item in dropped for block in item.message.blocks if block.kind is Kind.TOOL_USE and block.target]
    read |= {call.target for call in calls if call.name.lower() in READERS}
    written |= {call.target for call in calls if call.name.lower() in WRITERS}
    view.state.memory["read"], view.state.memory["written"] = sorted(read), sorted(written)
    sections = [
        f"<{tag}>\n" + "\n".join(names) + f"\n</{tag}>"
        for tag, names in (("read-files", sorted(read - written)), ("modified-files", sorted(written)))
        if names
    ]
    text = "\n\n".join(sections)
    return (Draft(text.partition("\n")[0], marker(text).n_tokens, text, summary=True),) if text else ()


POLICY = Policy(
    name="pi", label="pi",
    source="badlogic/pi-mono coding-agent compaction 0.73.1",
    help="Between turns, summarises all but the newest 20,000 tokens and updates the summary later.", estimator="pi",
    params=Params, gate=gate, edit=edit,
    threshold_param="reserve", tier="differential",
)  # fmt: skip
