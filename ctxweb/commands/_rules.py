"""What became of rules at recorded compactions: read from the texts, and said in lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sessions.engine.quality.index import Index
    from sessions.engine.reading.texts import Texts
    from sessions.engine.weigh.calibration.weighed import Weighed

CHARS = 160
"""Characters shown of a rule, or of a text that addresses the summariser; the document has all."""


def add_rules(document: dict[str, Any], weighed: Weighed, texts: Texts, index: Index) -> None:
    """Put ``rules`` into each compaction of ``ctxweb.aftermath/1``: null where its originals are not in the file."""
    from sessions.engine.quality.broken import rules_after, rules_document

    found = {one.compaction: rules_document(one) for one in rules_after(weighed, texts.of, index)}
    for one in document["compactions"]:
        one["rules"] = found.get(one["compaction"])


def rule_lines(rules: dict[str, Any] | None) -> Iterator[str]:
    """What is said of the rules at one compaction."""
    if rules is None:
        return
    if rules["n_rules"]:
        yield f"Rules lost: {rules['n_lost']:,} of {rules['n_rules']:,}."
    for one in rules["broken"]:
        again = " The agent may send this memory file again." if one["may_stand"] else ""
        yield (
            f"Broken after: message {one['said_at']:,} says \N{LEFT DOUBLE QUOTATION MARK}{_cut(one['text'])}"
            f"\N{RIGHT DOUBLE QUOTATION MARK}; message {one['broken_at']:,} does {_cut(one['broken_by'])}.{again}"
        )
    for one in rules["steering"]:
        yield (
            f"Can steer it: message {one['message']:,}, a tool result, says \N{LEFT DOUBLE QUOTATION MARK}"
            f"{_cut(one['text'])}\N{RIGHT DOUBLE QUOTATION MARK}."
        )


def _cut(text: str) -> str:
    return text if len(text) <= CHARS else f"{text[: CHARS - 1]}\N{HORIZONTAL ELLIPSIS}"
