"""Texts that a policy writes in place of what it clears: known from the policy, because a replay keeps only sizes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any

from sessions.engine.policies.edits import marker
from sessions.engine.transcript.types import Block

if TYPE_CHECKING:
    from sessions.engine.replays.replay import Replay

HOME = "sessions.engine.policies."
LEAST_CHARS, MOST_CHARS = 2, 2_000


def known_texts(replay: Replay) -> dict[tuple[int, int, int], str]:
    """The policy's own constants and the words among its parameters by their sizes, where no two have the same."""
    found: dict[tuple[int, int, int], str] = {}
    twice: set[tuple[int, int, int]] = set()
    for text in dict.fromkeys(_texts(replay)):
        block = marker(text)
        key = (block.n_chars, block.n_bytes, block.n_tokens)
        if found.setdefault(key, text) != text:
            twice.add(key)
    return {key: text for key, text in found.items() if key not in twice}


def text_of(block: Block, texts: dict[tuple[int, int, int], str]) -> str:
    """The text of an edited block whose sizes are exactly those of one known text; "" where none is."""
    if block.parts or block.approximate:
        return ""
    return texts.get((block.n_chars, block.n_bytes, block.n_tokens), "")


def _texts(replay: Replay) -> Iterator[str]:
    values = [getattr(replay.params, field.name) for field in fields(replay.params)]
    for layer in replay.policy.pipeline:
        values += _constants(layer.edit)
    for value in values:
        if isinstance(value, str) and LEAST_CHARS <= len(value) <= MOST_CHARS:
            yield value


def _constants(edit: Callable[..., Any]) -> list[Any]:
    """The constants that an edit names, and those that the functions name which it calls."""
    found: list[Any] = []
    waiting: list[Any] = [edit]
    known: set[int] = set()
    while waiting:
        function = waiting.pop()
        if id(function) in known or not isinstance(function, FunctionType):
            continue
        known.add(id(function))
        waiting += [cell.cell_contents for cell in function.__closure__ or ()]
        for name in _names(function.__code__):
            value = function.__globals__.get(name)
            if isinstance(value, FunctionType) and value.__module__.startswith(HOME):
                waiting.append(value)
            elif name.isupper():
                found.append(value)
    return found


def _names(code: CodeType) -> Iterator[str]:
    """The names that a function looks up outside, those of functions made in it too."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)
