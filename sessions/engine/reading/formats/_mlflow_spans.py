"""MLflow's spans in the words of the conventions: JSON in each attribute read, its own names beside (formats 16)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sessions.engine.reading.formats._traces import decoded
from sessions.engine.reading.formats._values import Path, Record, as_dict, as_list, count_of, text_of

KIND, COUNTS = "mlflow.spanType", "mlflow.chat.tokenUsage"
CALLS = ("CHAT_MODEL", "LLM")
NAMES = {
    "input.value": "mlflow.spanInputs",
    "output.value": "mlflow.spanOutputs",
    "llm.tools": "mlflow.chat.tools",
    "gen_ai.request.model": "mlflow.llm.model",
    "gen_ai.provider.name": "mlflow.llm.provider",
}
"""What the conventions call MLflow's own attributes."""
INPUT, OUTPUT = "gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens"
READ, WRITTEN = "gen_ai.usage.cache_read.input_tokens", "gen_ai.usage.cache_creation.input_tokens"
Attributes = Mapping[str, tuple[Any, Path]]


def in_words(attributes: Attributes) -> dict[str, tuple[Any, Path]]:
    """The attributes of a span of MLflow's, with the conventions' names; those of any other span as they are."""
    if KIND not in attributes:
        return dict(attributes)
    found = {key: (decoded(value), path) for key, (value, path) in attributes.items()}
    kind = text_of(found[KIND][0])
    for name, own in NAMES.items():
        if own in found:
            found.setdefault(name, found[own])
    path = found[KIND][1]
    found.setdefault("openinference.span.kind", ("LLM" if kind in CALLS else kind or "CHAIN", path))
    if kind in CALLS:
        model = text_of(as_dict(_value(found, "input.value")).get("model"))
        if model:
            found.setdefault("gen_ai.request.model", (model, path))
        for name, n in _counts(found).items():
            found.setdefault(name, (n, path))
    elif call_id := _answered(_value(found, "output.value")) if kind == "TOOL" else "":
        found.setdefault("tool_call.id", (call_id, path))
    return found


def _value(found: Attributes, key: str) -> Any:
    return found[key][0] if key in found else None


def _counts(found: Attributes) -> dict[str, int]:
    """What a call cost; Anthropic's input leaves out what the cache read or wrote."""
    counts = as_dict(_value(found, COUNTS))
    sent, said, read, written = (
        count_of(counts.get(f"{name}_tokens"))
        for name in ("input", "output", "cache_read_input", "cache_creation_input")
    )
    made_by = f"{_value(found, 'mlflow.message.format')} {_value(found, 'mlflow.llm.provider')}"
    sent += read + written if "anthropic" in made_by else 0
    return {INPUT: sent, OUTPUT: said, READ: read, WRITTEN: written}


def _answered(output: Any) -> str:
    """The call that what a tool gave out names."""
    for part in (output, *as_list(output)):
        held: Record = as_dict(part)
        if named := text_of(held.get("tool_call_id")) or text_of(as_dict(held.get("toolResult")).get("toolUseId")):
            return named
    return ""
