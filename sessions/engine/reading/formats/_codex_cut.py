"""How much of a tool's output Codex keeps in its history: the rollout holds all, a request the cut (policies 6.6).

openai/codex ``core/src/context_manager/history.rs`` (``process_item``: the policy × 1.2, rounded up),
``utils/output-truncation/src/lib.rs`` (items of an output share the budget, the rest is omitted) and
``utils/string/src/truncate.rs`` (half from the head, half from the tail, whole characters, a marker between them).
The policy is ``truncation_policy`` of the turn's context where it stands there, else the model's: 10,000 tokens, or
10,000 bytes for models that Codex has no entry for and for GPT-5.2 and older outside the codex line (``models.json``,
``model_info.rs``).  A token is four bytes.  A limit of the user's own configuration is not recorded.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, NamedTuple

from sessions.engine.reading.formats._values import as_dict, count_of
from sessions.engine.reading.measure import utf8_length
from sessions.engine.transcript.types import Content, Kind

TOKENS, BYTES = "tokens", "bytes"
BYTES_PER_TOKEN = 4
LIMIT = 10_000
_GPT = re.compile(r"gpt-(\d+)(?:\.(\d+))?")
_FIRST_IN_TOKENS = (5, 3)


class Cut(NamedTuple):
    """The budget of one output, 20% for serialising included: ``limit`` tokens or bytes.

    A block remembers it as its text, "tokens 12000", which ``cut_named`` reads back.
    """

    unit: str
    limit: int

    def __str__(self) -> str:
        return f"{self.unit} {self.limit}"


def cut_named(name: str) -> Cut | None:
    """The cut of that name, None for ""."""
    unit, _, limit = name.partition(" ")
    return Cut(unit, int(limit)) if limit else None


def cut_of(model: str, policy: Any) -> Cut | None:
    """The cut under a model and the ``truncation_policy`` of its turn; None where neither is known."""
    unit, limit = as_dict(policy).get("mode"), count_of(as_dict(policy).get("limit"))
    if unit not in (TOKENS, BYTES) or not limit:
        if not model:
            return None
        found = _GPT.search(model)
        newer = found is not None and (int(found[1]), int(found[2] or 0)) >= _FIRST_IN_TOKENS
        unit, limit = TOKENS if newer or "codex" in model else BYTES, LIMIT
    return Cut(unit, -(-limit * 6 // 5))


def cut_contents(contents: Iterable[Content], cut: Cut) -> tuple[Content, ...]:
    """The same with the text of tool results cut; what fits is the very content given."""
    return tuple(_cut_result(c, cut) if c.kind is Kind.TOOL_RESULT else c for c in contents)


def cut_text(text: str, cut: Cut) -> str:
    """``text``, or its head and its tail within the budget and a marker between them."""
    budget = cut.limit * BYTES_PER_TOKEN if cut.unit == TOKENS else cut.limit
    if utf8_length(text) <= budget:
        return text
    whole = text.encode("utf-8", "surrogatepass")
    head = whole[: budget // 2].decode("utf-8", "ignore")
    tail = whole[len(whole) - (budget - budget // 2) :].decode("utf-8", "ignore")
    n_removed = len(text) - len(head) - len(tail) if cut.unit == BYTES else _up(len(whole) - budget)
    return f"{head}…{n_removed} {'chars' if cut.unit == BYTES else TOKENS} truncated…{tail}"


def _cut_result(content: Content, cut: Cut) -> Content:
    if not content.parts:
        text = cut_text(content.text, cut)
        return content if text is content.text else replace(content, text=text)
    left, n_omitted = cut.limit, 0
    parts: list[Content] = []
    for part in content.parts:
        if part.kind is not Kind.TEXT:
            parts.append(part)
        elif not left:
            n_omitted += 1
        else:
            size = utf8_length(part.text)
            cost = _up(size) if cut.unit == TOKENS else size
            parts.append(part if cost <= left else replace(part, text=cut_text(part.text, Cut(cut.unit, left))))
            left = max(0, left - cost)
    if n_omitted:
        parts.append(Content(Kind.TEXT, text=f"[omitted {n_omitted} text items ...]"))
    same = len(parts) == len(content.parts) and all(a is b for a, b in zip(parts, content.parts, strict=True))
    return content if same else replace(content, parts=tuple(parts))


def _up(n_bytes: int) -> int:
    """Tokens of bytes, up."""
    return -(-n_bytes // BYTES_PER_TOKEN)
