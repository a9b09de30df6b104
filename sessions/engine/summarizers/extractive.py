"""A mechanical summary made of what the messages themselves say: deterministic, no model (seeds 3.3, policies 11.17).

Anchored form with forced sections; under "merge" only the new part is read and merged into the last summary by the
skill's rule; under "nine" the layered pipeline's nine sections; under "opaque" one dense string.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessions.engine import anchored, extracting
from sessions.engine.errors import UnreadableInput
from sessions.engine.policy import Draft
from sessions.engine.summaries import Brief, Summarizer, WrittenSummary
from sessions.engine.tokenizer import count
from sessions.engine.types import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from sessions.engine.policy import Item
    from sessions.engine.types import Content

PREVIEW_CHARS = 160
OPAQUE_SHARE = 50
"""An opaque string is at most a fiftieth of what it stands for: 98 % are gone (stated: 95 to 99 %)."""


def write(brief: Brief) -> WrittenSummary:
    """The summary of what is dropped; words come from the texts where they can be read, else from previews."""
    said = extracting.read(brief.dropped, _reader(brief))
    facts = extracting.extract(said)
    if brief.mode == "merge" and (old := anchored.parse(brief.previous)) is not None:
        facts = anchored.merge(old, facts)
    if brief.mode == "nine":
        text = anchored.render_nine(facts, extracting.user_lines(said), extracting.fixes(said))
    elif brief.mode == "opaque":
        text = _dense(facts, sum(item.tokens for item in brief.dropped))
    else:
        text = anchored.render(facts)
    tokens = round(count(text).n_tokens * brief.weighed.ratio)
    source = "extractive, no model" + ("" if brief.texts else ", from previews alone")
    return WrittenSummary((Draft(text[:PREVIEW_CHARS], tokens, text, summary=True),), source=source)


def _reader(brief: Brief) -> Callable[[Item], Sequence[tuple[Kind, str]]]:
    """(kind, text) of every block of an item: as uploaded, as the replay wrote it, or its preview."""

    def blocks(item: Item) -> Sequence[tuple[Kind, str]]:
        if item.message.index < 0:
            return [(Kind.TEXT, brief.written.get(item.id, item.message.preview))]
        if brief.texts is not None and item.message.origins:
            try:
                return list(_flat(brief.texts.of(item.message)))
            except UnreadableInput:
                pass
        kind = Kind.TOOL_RESULT if item.message.result_ids() else Kind.TEXT
        return [(kind, item.message.preview)]

    return blocks


def _flat(contents: Sequence[Content], inside: Kind | None = None) -> Iterator[tuple[Kind, str]]:
    for content in contents:
        kind = inside or content.kind
        if content.text:
            yield kind, content.text
        yield from _flat(content.parts, Kind.TOOL_RESULT if kind is Kind.TOOL_RESULT else None)


def _dense(facts: anchored.AnchoredSummary, dropped_tokens: int) -> str:
    """One string: intent, then as many facts as fit."""
    parts = [facts.intent, facts.state, *facts.rules, *(f"{path}={','.join(done)}" for path, done in facts.files)]
    parts += [*(what for what, _ in facts.decisions), *facts.errors, *facts.next_steps]
    budget = max(16, dropped_tokens // OPAQUE_SHARE) * 4
    return "|".join(part for part in parts if part)[:budget]


SUMMARIZER = Summarizer(
    name="extractive",
    label="Extractive, no model",
    source="anchored summary of the context-compression skill, filled from the messages by marker words",
    write=write,
)
