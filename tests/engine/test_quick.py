"""Values whose constructor is quick are the same values."""

from __future__ import annotations

import copy
import inspect
import pickle
from dataclasses import dataclass, field, replace

import pytest

from sessions.engine.base.fast_frozen import fast_frozen
from sessions.engine.transcript.types import Block, Kind, Message, Role


@dataclass(frozen=True, slots=True)
class Plain:
    """Each sort of field."""

    a: int
    b: str = "x"
    c: list[int] = field(default_factory=list)
    d: int | None = field(default=None, init=False, compare=False)


@fast_frozen
@dataclass(frozen=True, slots=True)
class Made:
    """The same."""

    a: int
    b: str = "x"
    c: list[int] = field(default_factory=list)
    d: int | None = field(default=None, init=False, compare=False)


def test_same_fields_from_the_same_arguments() -> None:
    for given, named in (((1,), {}), ((1, "y"), {}), ((1,), {"c": [3]}), ((), {"a": 2, "b": "z", "c": []})):
        plain, made = Plain(*given, **named), Made(*given, **named)  # type: ignore[arg-type]
        assert (made.a, made.b, made.c, made.d) == (plain.a, plain.b, plain.c, plain.d)
    assert Made(1).c is not Made(1).c
    assert list(inspect.signature(Made).parameters) == list(inspect.signature(Plain).parameters)


@pytest.mark.parametrize("named", [{}, {"a": 1, "d": 2}, {"a": 1, "unknown": 2}])
def test_the_same_arguments_are_refused(named: dict[str, int]) -> None:
    with pytest.raises(TypeError):
        Plain(**named)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        Made(**named)  # type: ignore[arg-type]


def test_equal_hashed_copied_and_replaced_as_before() -> None:
    block = Block(Kind.TEXT, 3, 3, n_tokens=1, classes=(1, 0, 0, 0))
    message = Message(0, "m", Role.USER, (block,))
    assert message == Message(0, "m", Role.USER, (Block(Kind.TEXT, 3, 3, n_tokens=1, classes=(1, 0, 0, 0)),))
    assert len({block, replace(block), replace(block, n_tokens=2)}) == 2
    assert pickle.loads(pickle.dumps(message)) == copy.deepcopy(message) == message
    assert not hasattr(block, "__dict__")
