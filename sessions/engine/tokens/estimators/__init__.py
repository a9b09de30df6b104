"""Estimators, a module each or one for a family: the size of a block under one definition.

An estimator module declares ``ESTIMATOR`` (a family: ``ESTIMATORS``) with ``name``, ``label``, ``source``, ``unit``
("bytes", "tokens", "chars") and ``size(block: Block, model: ModelInfo) -> int``, a pure function of what is known
about the block.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sessions.engine.models.model_info import ModelInfo
from sessions.engine.transcript.types import Block, Message

Counts = Callable[[Block], int | None]
"""Tokens of a block's text under an estimator's vocabulary, None where the text was not at hand."""


@dataclass(frozen=True, slots=True)
class Estimator:
    """``size`` is pure: what is known about a block (its parts included) and the model to a number of ``unit``.

    ``per_message`` is added once per message.  ``of_message``, where the rule rounds or frames a message and not a
    block, gives a message's size in place of the sum of its blocks, without ``per_message``; also pure.

    ``variant`` makes the estimator of ``NAME:ARGUMENT`` and raises BadParameter for an argument it does not take.
    ``vocabulary`` names the tiktoken encoding that ``size`` stands in for; ``exactly`` is the rule under given counts
    of texts, for callers that have the texts (``counted``); ``is_counted`` marks what it made.
    """

    name: str
    label: str
    source: str
    unit: str
    size: Callable[[Block, ModelInfo], int]
    per_message: int = 0
    of_message: Callable[[Message, ModelInfo], int] | None = None
    variant: Callable[[str], Estimator] | None = None
    vocabulary: str = ""
    exactly: Callable[[Block, ModelInfo, Counts], int] | None = None
    is_counted: bool = False

    @property
    def key(self) -> str:
        """What sizes are remembered under: the name, apart where texts were counted."""
        return f"{self.name}, counted" if self.is_counted else self.name
