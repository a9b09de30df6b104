"""Blocks written as Python reprs, such as ``TextBlock(citations=None, text='…', type='text')`` (formats 15).

A by-product of ``json.dumps(..., default=str)``: parsed as a syntax tree, never evaluated.
"""

from __future__ import annotations

import ast
import re
from typing import Any

MAX_REPR_CHARS = 4 * 1024 * 1024
_BLOCK = re.compile(r"(\w*Block)\(")
_TYPES = {
    "TextBlock": "text",
    "ThinkingBlock": "thinking",
    "RedactedThinkingBlock": "redacted_thinking",
    "ToolUseBlock": "tool_use",
    "ToolResultBlock": "tool_result",
}


class _NotPlain(ValueError):
    """Something in the repr is neither a value nor a call with keywords."""


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


def _value(node: ast.expr) -> Any:
    """A literal, a container of such, or a call with keyword arguments as a dict of them."""
    match node:
        case ast.Constant(value=value):
            return value
        case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
            return [_value(item) for item in items]
        case ast.Dict(keys=keys, values=values) if None not in keys:
            return {_key(key): _value(value) for key, value in zip(keys, values, strict=True) if key is not None}
        case ast.Call(func=ast.Name(), args=[], keywords=keywords) if all(keyword.arg for keyword in keywords):
            return {str(keyword.arg): _value(keyword.value) for keyword in keywords}
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
            return -number
    raise _NotPlain(type(node).__name__)


def _key(node: ast.expr) -> str:
    return str(_value(node))
