"""JSON reading within bounds: every way a line can be broken, and files that are never held whole."""

from __future__ import annotations

import io

import pytest

from sessions.engine.base import limits
from sessions.engine.base.errors import UnreadableInput
from sessions.engine.reading.jsonio import JsonProblem, Line, Source, dumps, follow, glued, loads, written_length
from sessions.engine.transcript.types import Origin


def lines(data: bytes) -> list[Line]:
    return list(Source(io.BytesIO(data)).lines())


class Watched(io.BytesIO):
    """Remembers the largest single read."""

    largest = 0

    def readline(self, size: int | None = -1, /) -> bytes:
        data = super().readline(size)
        self.largest = max(self.largest, len(data))
        return data


def test_lines_carry_numbers_offsets_and_lengths() -> None:
    found = lines(b'{"a":1}\r\n\n[2]\n3')
    assert [(line.number, line.offset, line.length, line.data) for line in found] == [
        (1, 0, 7, b'{"a":1}'), (2, 9, 0, b""), (3, 10, 3, b"[2]"), (4, 14, 1, b"3"),
    ]  # fmt: skip
    assert [line.blank for line in found] == [False, True, False, False]


@pytest.mark.parametrize("ending", [b"\n", b""])
def test_a_line_over_the_limit_is_counted_and_skipped_in_pieces(monkeypatch: pytest.MonkeyPatch, ending: bytes) -> None:
    monkeypatch.setattr(limits, "MAX_LINE_BYTES", 1000)
    monkeypatch.setattr("sessions.engine.reading.jsonio.PROGRESS_BYTES", 512)
    file = Watched(b"[1]\n" + b"x" * 50_000 + ending + (b"[2]\n" if ending else b""))
    found = list(Source(file).lines())
    assert [(line.offset, line.length, line.data is None) for line in found][:2] == [(0, 3, False), (4, 50_000, True)]
    assert [(line.number, line.offset) for line in found][2:] == ([(3, 50_005)] if ending else [])
    assert file.largest <= 1001


@pytest.mark.parametrize("size", [999, 1000, 1001])
def test_the_limit_itself_is_allowed(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr(limits, "MAX_LINE_BYTES", 1000)
    for data in (b"x" * size, b"x" * size + b"\n", b"x" * size + b"\n[2]\n"):
        assert (lines(data)[0].data is None) == (size > 1000)
        assert lines(data)[0].length == size


@pytest.mark.parametrize(
    "data", [b"[" * 100_000 + b"]" * 100_000, b'{"a":' * 100_000, b"[" * 600 + b"]" * 600], ids=["list", "dict", "600"]
)
def test_deep_nesting_is_a_problem_and_no_crash(data: bytes) -> None:
    with pytest.raises(JsonProblem, match="nested deeper than 500"):
        loads(data)


def test_depth_within_the_limit_and_brackets_in_text_are_fine() -> None:
    assert loads(b"[" * 400 + b"]" * 400)
    assert loads(dumps(["[{" * 5000]).encode()) == ["[{" * 5000]


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b'"a\\ud83d"', "a\ufffd"),
        (b'"\\uDE00b"', "\ufffdb"),
        (b'"\\ud83d\\ude00"', "😀"),
        (b'"\\ud83d\\ud83d\\ude00"', "\ufffd😀"),
        (b'"\\\\ud83d"', "\\ud83d"),
        (b'{"\\ud83d":1}', {"\ufffd": 1}),
        (b'"\xff\xfe"', "\ufffd\ufffd"),
        (b'"\xed\xa0\xbd"', "\ufffd\ufffd\ufffd"),
        (b'\xef\xbb\xbf{"a":1}', {"a": 1}),
        (b'"tab\there"', "tab\there"),
        (b'"nul\x00here"', "nul\0here"),
    ],
)
def test_broken_text_is_repaired_and_can_be_stored(data: bytes, value: object) -> None:
    assert loads(data) == value
    dumps(value).encode("utf-8")


@pytest.mark.parametrize(
    ("data", "reason", "position"),
    [
        (b'{"a": "cut', "JSON is cut off", 6),
        (b'{"a": [1, 2', "JSON is cut off", 11),
        (b"plain text", "not JSON: Expecting value", 0),
        ('{"é": nope}'.encode(), "not JSON: Expecting value", 7),
        (b"", "JSON is cut off", 0),
        (b"1" * 5000, "not usable as JSON", 0),
    ],
)
def test_problems_say_what_and_where(data: bytes, reason: str, position: int) -> None:
    with pytest.raises(JsonProblem, match=reason) as caught:
        loads(data)
    assert caught.value.position == position


def test_a_document_over_many_lines_is_found_and_read_at_an_origin() -> None:
    data = b'{\n  "messages": [\n    {"role": "user"},\n    {"role": "assistant"}\n  ]\n}\n'
    source = Source(io.BytesIO(data))
    assert source.head().document == {"messages": [{"role": "user"}, {"role": "assistant"}]}
    assert source.read(Origin(1, 0, len(data), ("messages", 1))) == {"role": "assistant"}
    with pytest.raises(JsonProblem, match="no 7"):
        source.read(Origin(1, 0, len(data), ("messages", 7)))


def test_a_document_with_an_error_says_its_line_and_byte() -> None:
    with pytest.raises(UnreadableInput) as caught:
        Source(io.BytesIO(b'{\n"a": 1,\n"b": nope\n}')).document()
    assert (caught.value.line, caught.value.offset) == (3, 15)


def test_a_document_over_the_limit_is_refused_with_its_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_DOCUMENT_BYTES", 10)
    with pytest.raises(UnreadableInput, match="12 bytes"):
        Source(io.BytesIO(b"[1, 2, 3, 4]")).document()


def test_the_head_of_lines_is_not_a_document() -> None:
    head = Source(io.BytesIO(b'{"a":1}\n{"b":2}\nbroken')).head()
    assert (head.values, head.document) == (({"a": 1}, {"b": 2}), None)
    assert (head.problem, head.at) == ("not JSON: Expecting value", (3, 16))


def test_the_head_is_read_once_and_stays_what_it_was_read_from() -> None:
    """Sniffing and parsing ask for it; a second reading would parse a single document again."""
    source = Source(io.BytesIO(b'{"messages": [1, 2]}'))
    head = source.head()
    list(source.lines())
    source.file.seek(3)
    assert source.head() is head
    assert source.head().document is head.document
    assert source.file.tell() == 3, "nothing was read"


def test_progress_is_told_to_the_end() -> None:
    told: list[int] = []
    data = (b'"' + b"x" * 99_998 + b'"\n') * 50
    assert len(list(Source(io.BytesIO(data), "", told.append).lines())) == 50
    assert told == sorted(told)
    assert told[-1] == len(data)
    assert 4 <= len(told) <= 7


@pytest.mark.parametrize(
    ("line", "found"),
    [
        (b'{"a":{"b":"\xc3\xa9","c":[1,2]}}', b'{"b":"\xc3\xa9","c":[1,2]}'),
        (b'{"a": {"b": "\\u00e9", "c": [1, 2]}}', b'{"b": "\\u00e9", "c": [1, 2]}'),
        (b' { "x" : 1 , "a" : { "b" : 1.50 } , "d" : 2 } \r', b'{ "b" : 1.50 }'),
        (b'{"a":"\\"d\\":,","d":"a,"}\0\0', b'"\\"d\\":,"'),
        (b'{"a":[{"b":0}],"d":{}}', b'[{"b":0}]'),
    ],
)
def test_the_length_of_a_value_is_that_in_its_line(line: bytes, found: bytes) -> None:
    assert written_length(loads(line.strip(b"\0")), "a", line) == len(found)


@pytest.mark.parametrize(
    "line",
    [
        b'{"a": { "a" : 1.50 }}',
        b'{"a": {"a": 1.5 }, "d": 1}',
        b'{"a": {"b":1.5, "c":"d"}, "d": 1}',
        b'{"\\u0061": { "x" : 1.50 }}',
        b'{"a": { "x" : 1.50 }, "\\u0064": 1}',
    ],
)
def test_a_value_that_cannot_be_told_from_the_rest_counts_as_compact(line: bytes) -> None:
    value = loads(line)
    assert written_length(value, "a", line) == len(dumps(value["a"]))


def test_a_path_leads_into_json_in_strings() -> None:
    assert follow({"a": '{"b": "[1, 2]"}'}, ("a", "b", 1)) == 2
    with pytest.raises(JsonProblem):
        follow({"a": "no JSON"}, ("a", "b"))


@pytest.mark.parametrize(
    ("data", "offsets"),
    [
        (b'{"a": 1}{"b": "}{"}', [0, 8]),
        ('{"ü": 1} {"b": 2}\t{"c": 3}'.encode(), [0, 10, 19]),
        (b'{"a": 1}', []),
        (b'{"a": 1}{"b": ', []),
        (b'{"a": 1}, {"b": 2}', []),
        (b'{"a": 1}[2]', []),
        (b"{}" * 17, []),
    ],
)
def test_objects_on_one_line_are_found_at_their_own_offsets(data: bytes, offsets: list[int]) -> None:
    line = Line(3, 100, len(data), data)
    found = glued(line)
    assert [part.offset - 100 for part, _ in found] == offsets
    for part, value in found:
        assert part.data
        assert loads(part.data) == value
        assert (part.number, part.length) == (3, len(part.data))
    if found:
        assert b"".join(part.data or b"" for part, _ in found) == data


@pytest.mark.parametrize("front", [b"Running\n", b"[INFO] Running\n", b"[INFO] Running\n\n" * 9, b"\n \n"])
@pytest.mark.parametrize("body", [b'{"a": [1]}', b'{\n "a": [\n  1\n ]\n}\n'])
def test_a_document_behind_lines_of_a_runner_is_the_document(front: bytes, body: bytes) -> None:
    source = Source(io.BytesIO(front + body))
    assert source.head().document == source.document() == {"a": [1]}
    assert source.read(Origin(1, 0, len(front + body), ("a", 0))) == 1


def test_more_lines_than_a_runner_writes_are_no_preamble() -> None:
    assert Source(io.BytesIO(b"Running\n" * 21 + b'{"a": 1}')).start() == 0
    assert Source(io.BytesIO(b"Running\n" * 20 + b'{"a": 1}')).start() == 160


def test_pieces_of_a_damaged_document_are_no_records() -> None:
    torn = b'[\n{"role": "user"},\n{"role": "assistant"}\n'
    assert Source(io.BytesIO(torn)).head().values == ()
    assert len(Source(io.BytesIO(b'{"role": "user"}\n{"role": "assistant"}\n{"role": "us,')).head().values) == 2


def test_a_message_is_read_without_a_look_at_the_start_of_the_file() -> None:
    """Stored files are packed: each look at the start unpacks a megabyte again."""
    data = b'{"n": 1}\n' * 100
    file, places = io.BytesIO(data), []
    source = Source(file)
    seek = file.seek
    file.seek = lambda place, whence=0: places.append(place) or seek(place, whence)  # type: ignore[method-assign]
    assert [source.read(Origin(n + 1, 9 * n, 8)) for n in range(1, 100)] == [{"n": 1}] * 99
    assert sum(place == 0 for place in places) == 2, "for an archive, and for a database"


def test_what_a_part_takes_where_the_next_key_stands_elsewhere_too() -> None:
    value = {"type": "user", "toolUseResult": {"a": 1}, "uuid": "11", "data": {"uuid": "22"}, "b": 3}
    assert written_length(value, "toolUseResult", dumps(value).encode()) == 7
