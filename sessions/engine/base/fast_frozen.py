"""Values that are made by the hundred thousand: a frozen dataclass sets each field through ``object.__setattr__``.

That costs eight times what a plain assignment does (1.25 and 0.15 microseconds for a ``Block``).  The type checker
holds these values to be frozen all the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field, fields, make_dataclass
from operator import attrgetter
from typing import Any, TypeVar

Value = TypeVar("Value")


def fast_frozen(cls: type[Value]) -> type[Value]:
    """The frozen dataclass ``cls`` with the constructor of one that is not: same arguments, equality and hash."""
    twin = make_dataclass(
        cls.__name__,
        [
            (f.name, f.type, field(default=f.default, default_factory=f.default_factory, init=f.init))
            for f in fields(cls)  # type: ignore[arg-type]
        ],
        slots=True,  # then a default that no argument overrides is set, too
    )
    cls.__init__ = twin.__init__  # type: ignore[method-assign,misc]
    del cls.__setattr__, cls.__delattr__
    return cls


def fast_frozen_by(name: str) -> Callable[[type[Value]], type[Value]]:
    """``fast_frozen``, with an equality that looks at the field ``name`` first: most values that differ do so there."""

    def given(cls: type[Value]) -> type[Value]:
        first, whole = attrgetter(name), cls.__eq__

        def equal(self: Value, other: Any) -> bool:
            if self is other:
                return True
            return whole(self, other) if other.__class__ is not cls or first(self) == first(other) else False

        cls.__eq__ = equal  # type: ignore[assignment]
        return fast_frozen(cls)

    return given
