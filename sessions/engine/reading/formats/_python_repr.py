"""What was written as Python writes its objects, a by-product of ``default=str`` (formats 15 and 16).

Blocks such as ``TextBlock(citations=None, text='…', type='text')``, and messages such as ``role='user' content='…'``:
parsed as a syntax tree, never evaluated.
"""

from __future__ import annotations

import ast
import re
from typing import Any

MAX_REPR_CHARS = 4 * 1024 * 1024
_BLOCK = re.compile(r"(\w*Block)\(")
_FIELD = re.compile(r" ?(\w+)=")
_PIECE = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[\[({<]|[\])}>]|[^'"\[\](){}<> ]+| """, re.DOTALL)
_MESSAGE_FIELDS = ("role", "content", "tool_calls", "tool_call_id", "reasoning_content")
_TYPES = {
    "TextBlock": "text",
    "ThinkingBlock": "thinking",
    "RedactedThinkingBlock": "redacted_thinking",
    "ToolUseBlock": "tool_use",
    "ToolResultBlock": "tool_result",
}


def block_from_repr(text: str) -> dict[str, Any] | None:
    """The block that ``text`` is the repr of, as the Messages API writes it; None where it is not one."""
    opening = _BLOCK.match(text)
    if not opening or len(text) > MAX_REPR_CHARS or not text.rstrip().endswith(")"):
        return None
    try:
        block = _value(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    kind = _TYPES.get(opening[1])
    if not isinstance(block, dict):
        return None
    return block if isinstance(block.get("type"), str) else {**block, "type": kind} if kind else None


def fields_from_repr(text: str) -> dict[str, Any] | None:
    """A message whose fields stand one after another, ``role='user' content='…' name=None``; None for other text."""
    if not text.startswith("role=") or len(text) > MAX_REPR_CHARS:
        return None
    found: dict[str, Any] = {}
    place = 0
    while match := _FIELD.match(text, place):
        end = _end_of_value(text, match.end())
        if match[1] in _MESSAGE_FIELDS:
            try:
                found[match[1]] = _value(ast.parse(text[match.end() : end], mode="eval").body)
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                return None
        place = end
    return found if place == len(text) and isinstance(found.get("role"), str) and "content" in found else None


def _end_of_value(text: str, place: int) -> int:
    """Where a value ends: at a blank outside quotes and brackets, or with the text."""
    depth = 0
    while piece := _PIECE.match(text, place):
        if piece[0] == " " and not depth:
            break
        depth += (piece[0] in "[({<") - (piece[0] in "])}>")
        place = piece.end()
    return place


def _value(node: ast.expr) -> Any:
    """A literal, a container of such, or a call with keyword arguments as a dict; raises ValueError for all else."""
    match node:
        case ast.Constant(value=value):
            return value
        case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
            return [_value(item) for item in items]
        case ast.Dict(keys=keys, values=values) if None not in keys:
            return {str(_value(key)): _value(value) for key, value in zip(keys, values, strict=True) if key is not None}
        case ast.Call(func=ast.Name(), args=[], keywords=keywords) if all(keyword.arg for keyword in keywords):
            return {str(keyword.arg): _value(keyword.value) for keyword in keywords}
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
            return -number
    raise ValueError(type(node).__name__)
