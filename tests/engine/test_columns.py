from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions.engine.packing.columns import LEAST, Named, NotPlain, dump, load
from sessions.engine.packing.section_file import Damaged, Sections, seal, unseal
from sessions.engine.transcript.types import Label, Usage
from tests.every import examples


class Pair(NamedTuple):
    left: Any
    right: Any


@dataclass(frozen=True)
class Rule:
    name: str
    code: Any = len


RULES = {"first": Rule("first"), "second": Rule("second", min)}
CLASSES = (Label, Usage, Pair, Named(Rule, lambda rule: rule.name, RULES.__getitem__))
PLAIN = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=4)
VALUE = st.recursive(
    PLAIN | st.sampled_from(Label) | st.sampled_from(sorted(RULES)).map(RULES.__getitem__) | st.builds(Usage, PLAIN),
    lambda inner: st.lists(inner, max_size=3) | st.lists(inner, max_size=3).map(tuple) | st.builds(Pair, inner, inner)
    | st.dictionaries(st.text(max_size=2) | st.integers(), inner, max_size=2),
)  # fmt: skip
COLUMN = st.integers(LEAST, LEAST + 3).flatmap(
    lambda n: st.one_of(
        *(
            st.lists(each, min_size=n, max_size=n).map(tuple)
            for each in (
                st.integers(-3, 3), st.integers(0, 2**15), st.integers(-(2**63), 2**64), st.sampled_from(Label),
                st.builds(Pair, st.integers(), VALUE), st.sampled_from([RULES["first"], RULES["second"]]), PLAIN,
            )
        )
    )
)  # fmt: skip


def typed(value: Any) -> Any:
    """The value with the types of all its parts: 1 is not True, a list no tuple."""
    if isinstance(value, dict):
        return dict, [(typed(key), typed(each)) for key, each in value.items()]
    inner = [typed(each) for each in value] if isinstance(value, list | tuple) else value
    return type(value), inner


@examples(200)
@given(VALUE | COLUMN)
def test_what_is_kept_comes_back_exactly(value: Any) -> None:
    assert typed(load(dump(value, CLASSES), CLASSES)) == typed(value)
    assert dump(value, CLASSES) == dump(value, CLASSES)


def test_sets_come_back() -> None:
    assert load(dump(frozenset({3, 1}), ()), ()) == frozenset({1, 3})


def test_a_class_that_is_not_named_is_refused() -> None:
    with pytest.raises(NotPlain, match="Usage"):
        dump((Usage(),), (Label,))


SECTIONS = {"one": b"a" * 900, "": b"", "three": bytes(range(256))}


def test_sections_come_back_one_by_one() -> None:
    found = unseal(seal("key", SECTIONS))
    assert (found.key, {name: found[name] for name in found}) == ("key", SECTIONS)
    assert ("one" in found, "two" in found) == (True, False)


@pytest.mark.parametrize("at", range(len(seal("k", {"a": b"123"}))))
def test_a_changed_byte_is_noticed(at: int) -> None:
    data = bytearray(seal("k", {"a": b"123"}))
    data[at] ^= 16
    with pytest.raises(Damaged):
        unseal(bytes(data))


@pytest.mark.parametrize("data", [b"", b"ctx\x02", seal("k", SECTIONS)[:-1], seal("k", SECTIONS) + b"x"])
def test_other_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(Damaged):
        unseal(data)
    assert isinstance(unseal(seal("k", {})), Sections)
