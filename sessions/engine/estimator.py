"""What an estimator is: a named definition of a block's size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from sessions.engine.model_info import ModelInfo
    from sessions.engine.types import Block, Message


@dataclass(frozen=True, slots=True)
class Estimator:
    """``size`` is pure: what is known about a block (its parts included) and the model to a number of ``unit``.

    ``per_message`` is added once per message.  ``of_message``, where the rule rounds or frames a message and not a
    block, gives a message's size in place of the sum of its blocks, without ``per_message``; also pure.
    """

    name: str
    label: str
    source: str
    unit: str
    size: Callable[[Block, ModelInfo], int]
    per_message: int = 0
    of_message: Callable[[Message, ModelInfo], int] | None = None
