"""A mechanical summary made of what the messages themselves say: deterministic, no model (seeds 3.3, policies 11.17).

Anchored form with forced sections; under "merge" only the new part is read and merged into the last summary by the
skill's rule; under "nine" the layered pipeline's nine sections; under "opaque" one dense string.
"""

from __future__ import annotations

from sessions.engine.policies.extracting import Sketch, sketch
from sessions.engine.policies.outlines import compose, preview_sketch, sketch_of
from sessions.engine.policies.policy import Draft, Item
from sessions.engine.replays.summaries import Brief, Summarizer, WrittenSummary
from sessions.engine.tokens.tokenizer import count
from sessions.engine.transcript.types import Kind

PREVIEW_CHARS = 160


def write(brief: Brief) -> WrittenSummary:
    """The summary of what is dropped; words come from the texts where they can be read, else from previews."""
    said = [_sketch(brief, item) for item in brief.dropped]
    text = compose(said, brief.mode, brief.previous, sum(item.tokens for item in brief.dropped))
    tokens = round(count(text).n_tokens * brief.weighed.ratio)
    source = "extractive, no model" + ("" if brief.texts else ", from previews alone")
    return WrittenSummary((Draft(text[:PREVIEW_CHARS], tokens, text, summary=True),), source=source)


def _sketch(brief: Brief, item: Item) -> Sketch:
    """Of an item as uploaded, as the replay wrote it, or of its preview."""
    message = item.message
    if message.index < 0:
        return sketch(message, [(Kind.TEXT, brief.written.get(item.id, message.preview))])
    if brief.texts is None or not message.origins:
        return preview_sketch(message)
    return sketch_of(message, brief.texts.of)


SUMMARIZER = Summarizer(
    name="extractive",
    label="Extractive, no model",
    source="anchored summary of the context-compression skill, filled from the messages by marker words",
    write=write,
)
