"""The quick parser against the guarded one: the same values and types, the same order of keys, the same refusals."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions.engine.base import limits
from sessions.engine.reading import json_values
from sessions.engine.reading.json_values import JsonProblem, loads

FIXTURES = sorted(
    path for path in (Path(__file__).parents[1] / "fixtures" / "transcripts").rglob("*.json*") if path.is_file()
)
ODD = (
    b"18446744073709551615", b"18446744073709551616", b"-9223372036854775809", b"1" * 4300, b"1" * 4301, b"-0", b"-0.0",
    b"1e400", b"-1e400", b"1e-400", b"2.2250738585072011e-308", b"9007199254740993.0", b"1e23", b"5e-324", b"NaN",
    b"[Infinity, -Infinity]", b"nan", b"[-NaN]", b"+1", b".5", b"1.", b"01", b"1.e5", b'{"a":1,"b":2,"a":3}',
    b'{"a":1,}', b"[1,]", b"", b" ", b"null\x00", b"\xef\xbb\xbf1", b"\xef\xbb\xbf\xef\xbb\xbf1", b" \t\r\n1 \n",
    b"\x0c1", b"\xc2\xa01", b"1 2", b'{"a":1}{"b":2}', b'"\\ud83d\\ude00"', b'"\\ud83d"', b'"\\ude00\\ud83d"',
    b'"\\uD83Dx"', b'"\\ud83d\\u0041"', b'{"\\ud83d":1}', b'"\\u00"', b'"\\x"', b'"\\/\\b\\f\\n\\r\\t\\u0000"',
    b'"\x00"', b'"\x1f\x7f"', b'"a\nb"', b'"\xff"', b'"\xed\xa0\x80"', b'"\xf4\x90\x80\x80"', b'"\xc0\x80"',
    b'"\xe2\x82"', b'"abc', b'{"a"', b'{"a":', b"[", b"tru", b"truee", b"'a'", b"// c\n1", b"{1:2}", b"[1 2]",
)  # fmt: skip
DEEP = tuple(
    b"".join((start * n, middle, end * n))
    for start, middle, end in ((b"[", b"", b"]"), (b'{"a":', b"1", b"}"))
    for n in (199, 200, 201, limits.MAX_DEPTH, limits.MAX_DEPTH + 1, 100_000)
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)


def told(data: bytes) -> str:
    """The value with its types, or the refusal with its position."""
    try:
        return repr(loads(data))
    except JsonProblem as problem:
        return f"{problem.reason} at {problem.position}"


def guarded(data: bytes) -> str:
    """The same by the guarded parser alone."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(json_values.jiter, "from_json", _refuse)
        return told(data)


def _refuse(*_args: object, **_how: object) -> object:
    raise ValueError


@pytest.mark.parametrize("data", [*ODD, *DEEP], ids=lambda data: repr(data[:24]))
def test_odd_values(data: bytes) -> None:
    assert told(data) == guarded(data)
    assert told(b'{"k":[' + data + b"]}") == guarded(b'{"k":[' + data + b"]}")


def test_every_fixture() -> None:
    lines = [line for path in FIXTURES for line in (path.read_bytes(), *path.read_bytes().splitlines()[:200])]
    assert len(lines) > 1_000
    assert [line for line in lines if told(line) != guarded(line)] == []


@given(VALUES, st.booleans(), st.sampled_from([None, 1]))
def test_what_python_writes(value: object, ascii_only: bool, indent: int | None) -> None:
    data = json.dumps(value, ensure_ascii=ascii_only, indent=indent).encode("utf-8", "surrogatepass")
    assert told(data) == guarded(data)


@given(VALUES, st.data())
def test_what_was_damaged(value: object, draw: st.DataObject) -> None:
    data = json.dumps(value, ensure_ascii=draw.draw(st.booleans())).encode("utf-8", "surrogatepass")
    at = draw.draw(st.integers(0, len(data)))
    piece = draw.draw(
        st.binary(max_size=3) | st.sampled_from([b"\\ud83d", b'"', b"\\", b"[", b"}", b",", b"1e999", b"-"])
    )
    data = data[:at] + piece + data[at + draw.draw(st.integers(0, 3)) :]
    assert told(data) == guarded(data)


@given(st.from_regex(rb"\A-?(0|[1-9][0-9]{0,40})(\.[0-9]{1,40})?([eE][+-]?[0-9]{1,3})?\Z"))
def test_numbers(data: bytes) -> None:
    assert told(data) == guarded(data)
