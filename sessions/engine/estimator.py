"""What an estimator is: a named definition of a block's size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from sessions.engine.model_info import ModelInfo
    from sessions.engine.types import Block


@dataclass(frozen=True, slots=True)
class Estimator:
    """``size`` is pure: what is known about a block (its parts included) and the model to a number of ``unit``."""

    name: str
    label: str
    source: str
    unit: str
    size: Callable[[Block, ModelInfo], int]
