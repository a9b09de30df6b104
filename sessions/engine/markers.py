"""Texts that a policy writes in place of what it clears: known from the policy, because a replay keeps only sizes."""

from __future__ import annotations

import sys
from dataclasses import fields
from types import ModuleType
from typing import TYPE_CHECKING

from sessions.engine.edits import marker

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sessions.engine.replay import Replay
    from sessions.engine.types import Block

HOME = "sessions.engine.policies."
LEAST_CHARS, MOST_CHARS = 2, 2_000


def known_texts(replay: Replay) -> dict[tuple[int, int, int], str]:
    """Texts by (characters, bytes, tokens): the policy's own constants and words among its parameters.

    Two texts of the same sizes cannot be told apart and are left out.
    """
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
    for module in _modules(replay):
        values += [value for name, value in vars(module).items() if name.isupper()]
    for value in values:
        if isinstance(value, str) and LEAST_CHARS <= len(value) <= MOST_CHARS:
            yield value


def _modules(replay: Replay) -> list[ModuleType]:
    """The modules of the policy's edits, and those of the folder that they use."""
    names = {layer.edit.__module__ for layer in replay.policy.pipeline}
    for name in list(names):
        used = vars(sys.modules[name]).values()
        names |= {str(getattr(value, "__module__", "")) for value in used}
        names |= {value.__name__ for value in used if isinstance(value, ModuleType)}
    return [sys.modules[name] for name in sorted(names) if name.startswith(HOME)]
