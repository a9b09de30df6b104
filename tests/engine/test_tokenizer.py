from __future__ import annotations

import base64
import contextlib
import json
import random
import struct
import subprocess
import sys
import sysconfig
import threading
from pathlib import Path
from subprocess import PIPE
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sessions.engine.base.limits import LONG_TEXT_CHARS
from sessions.engine.tokens import text_facts, tokenizer, tokenizer_process
from sessions.engine.tokens.tokenizer import Counted, TokenCounter, count
from sessions.engine.tokens.tokenizer_process import FastCounter, InPlaceCounter, ProcessCounter
from sessions.engine.tokens.vocabulary import RANKS, encoding
from tests.samples import samples_dir

ROOT = Path(__file__).resolve().parents[2]

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# What decides whether a newline is a cut: slashes, carriage returns, every kind of white space, letters, marks.
PARTS = [
    "a", "B", "9", "/", "//", "\r", "\r\n", "\n", "\n\n", "\n\n\n", " ", "    ", "\t", "\x0b", "\x0c", "\x85", "\u2028",
    "\u3000", "\xa0", "\x1c", "'s", ");", "};", "=", "-", "é", "中文", "😀", "\u0301", "foo bar", "\x00", "\ud800",
    "<|endoftext|>",
]  # fmt: skip
TEXTS = st.lists(st.sampled_from(PARTS), min_size=1, max_size=40).map("".join) | st.text(max_size=200)
FAST = FastCounter(tokenizer_process.toktok())


def expected(text: str, name: str = "o200k_base") -> int:
    return len(encoding(name).encode_ordinary(text))


@settings(max_examples=300)
@given(texts=st.lists(TEXTS, min_size=1, max_size=4))
def test_the_fast_core_is_exact(texts: list[str]) -> None:
    assert FAST.counts(texts) == [Counted(expected(text)) for text in texts]
    assert FAST._core is not None


@pytest.mark.parametrize("name", RANKS)
def test_ten_thousand_texts_count_as_tiktoken_counts_them(name: str) -> None:
    """By both cores.  Dice, because they are thirty times as fast as Hypothesis, which tries fewer above."""
    dice = random.Random(name)
    texts = ["".join(dice.choices(PARTS, k=dice.randint(1, 40))) for _ in range(10_000)]
    wanted = [Counted(expected(text, name)) for text in texts]
    assert [count(text, name) for text in texts] == wanted
    assert name != tokenizer.NAME or FAST.counts(texts) == wanted


@given(text=st.lists(st.sampled_from([*PARTS, "\nabc", "\n9"]), min_size=30, max_size=120).map("".join))
@pytest.mark.parametrize("name", RANKS)
def test_the_long_text_guard_is_exact_or_says_that_it_is_not(name: str, text: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tokenizer, "LONG_TEXT_CHARS", 40)
        counted = count(text, name)
        pieces, _ = tokenizer.windows(text)
    assert "".join(pieces) == text
    assert all(len(piece) <= 40 for piece in pieces)
    tokens = expected(text, name)
    assert counted.approximate or counted.n_tokens == tokens
    assert abs(counted.n_tokens - tokens) <= 8 * len(pieces)


def test_every_text_of_the_samples_counts_as_tiktoken_counts_it() -> None:
    texts = sorted(set(sample_texts()))
    assert FAST.counts(texts) == [Counted(expected(text)) for text in texts]
    assert len(texts) > 5_000


def sample_texts() -> Iterator[str]:
    """Texts of all sample files that are JSON lines, each string value on its own."""
    for path in sorted(samples_dir().rglob("*.jsonl")):
        for line in path.read_bytes().splitlines():
            with contextlib.suppress(ValueError, RecursionError):
                yield from strings(json.loads(line))


def strings(value: object) -> Iterator[str]:
    """Every string in a JSON value but base64 data."""
    if isinstance(value, str):
        if len(value) < 20_000 or " " in value[:2_000]:
            yield value
    elif isinstance(value, (list, dict)):
        for item in value if isinstance(value, list) else value.values():
            yield from strings(item)


@pytest.mark.parametrize(
    "text",
    [
        base64.b64encode(random.Random(2).randbytes(225_000)).decode(),
        " " * 100_000,
        "\u4e2d\u6587" * 50_000,
        "\n" * 100_000,
        "=" * 100_000,
        "a" * 100_000,
    ],
    ids=["base64", "spaces", "cjk", "newlines", "equals", "letters"],
)
def test_pathological_texts_cost_work_in_proportion(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """No piece that tiktoken sees is longer than the guard's window, and it sees every character once."""
    monkeypatch.setattr(tokenizer, "LONG_TEXT_CHARS", 20_000)
    seen: list[int] = []
    real = encoding("o200k_base").encode_ordinary

    class Watched:
        def encode_ordinary(self, piece: str) -> list[int]:
            seen.append(len(piece))
            return real(piece)

    monkeypatch.setattr(tokenizer, "encoding", lambda _name: Watched())
    assert count(text).n_tokens > 0
    assert max(seen) <= 20_000
    assert sum(seen) == len(text)


def test_the_fast_core_is_exact_on_sources() -> None:
    rng = random.Random(5)
    lines: list[str] = []
    for path in sorted(Path(sysconfig.get_path("stdlib")).glob("[a-d]*.py")):
        lines += path.read_text(encoding="utf-8", errors="replace").splitlines()
    texts = []
    for _ in range(400):
        start, n = rng.randrange(len(lines)), rng.choice((1, 3, 30, 200))
        texts.append(
            "\n".join(f"{i:6}\t{line}" if n == 30 else line for i, line in enumerate(lines[start : start + n]))
        )
    assert FAST.counts(texts) == [Counted(expected(text)) for text in texts]


def test_characters_that_newer_tables_know_are_left_to_tiktoken() -> None:
    """Letters of a Unicode newer than tiktoken's (CJK extension J), a folded s behind an apostrophe, half a pair."""
    texts = ["\U000323b0'lP", "'\u017fa", "\u0cdc\u0cdd", "\ud800x", "\U00032d5a\U0003b05d", "plain"]
    assert FAST.counts(texts) == [Counted(expected(text)) for text in texts]


def test_a_fast_core_that_miscounts_is_caught_and_left(capsys: pytest.CaptureFixture[str]) -> None:
    asked: list[int] = []

    def wrong(texts: list[str]) -> list[int]:
        asked.append(len(texts))
        return [expected(text) + (text == "seven eight") for text in texts]

    with FastCounter(core=wrong) as counter:
        for texts in (["one two", "three"], ["four", "seven eight"], ["five", "six"]):
            assert counter.counts(texts) == [Counted(expected(text)) for text in texts]
        assert counter._core is None
    assert asked == [2, 1, 2, 1], "one text of each chunk twice, none after the difference"
    assert "toktok counted 3 tokens where tiktoken counts 2" in capsys.readouterr().err


def test_a_fast_core_that_breaks_is_left(capsys: pytest.CaptureFixture[str]) -> None:
    class Panic(BaseException):
        """Derives from BaseException, as pyo3's PanicException does."""

    def broken(_texts: list[str]) -> list[int]:
        raise Panic

    with FastCounter(core=broken) as counter:
        assert counter.counts(["one two"]) == [Counted(2)]
        assert counter._core is None
    assert "toktok failed (Panic)" in capsys.readouterr().err


def test_without_the_fast_core_tiktoken_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "toktok", None)
    monkeypatch.setattr(tokenizer_process, "FIRST_CHARS", 0)
    with FastCounter() as counter:
        assert counter.counts(["one two", ""]) == [Counted(2), Counted(0)]
        assert counter._core is None


def test_the_fast_core_starts_where_there_is_text_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokenizer_process, "FIRST_CHARS", 10)
    with FastCounter() as counter:
        told = [(counter.counts(["one two"]), counter._core is not None) for _ in range(3)]
    assert told == [([Counted(2)], False), ([Counted(2)], False), ([Counted(2)], True)]


@pytest.mark.parametrize(
    ("text", "approximate"),
    [
        ("x = 1\ny = 2\n" * 40_000, False),
        ("a" * (LONG_TEXT_CHARS + 1), True),
        ("中" * (LONG_TEXT_CHARS * 2), True),
        (" " * (LONG_TEXT_CHARS * 2), True),
        ("\t" * (LONG_TEXT_CHARS * 2) + "x", True),
        ("\n" * (LONG_TEXT_CHARS * 2), True),
    ],
    ids=["lines", "run", "cjk", "spaces", "tabs", "newlines"],
)
def test_long_texts(text: str, approximate: bool) -> None:
    counted = count(text)
    assert counted.approximate is approximate
    assert FAST.counts([text]) == [counted]
    if not approximate:
        assert counted.n_tokens == expected(text)
    assert 0 < counted.n_tokens <= len(text)


def test_a_panic_of_the_native_code_is_contained() -> None:
    class Panic(BaseException):
        """Derives from BaseException, as pyo3's PanicException does."""

    def encode(text: str) -> list[int]:
        if " " in text or len(text) > tokenizer.FALLBACK_CHARS:
            raise Panic
        return [0] * len(text)

    assert tokenizer._encoded(encode, "abc") == Counted(3)
    assert tokenizer._encoded(encode, "a" * tokenizer.FALLBACK_CHARS + "b ") == Counted(
        tokenizer.FALLBACK_CHARS + 1, True
    )


@pytest.mark.parametrize("make", [TokenCounter, ProcessCounter])
def test_counter_counts_equal_texts_once_and_in_any_order(make: Callable[[], TokenCounter]) -> None:
    texts = [f"text {number % 700}\nsecond line\n\n  third \ud83d \u4e2d" for number in range(2_000)] + [""]
    with make() as counter:
        tickets = [counter.submit(text) for text in texts]
        counts = counter.results()
        assert len({ticket for ticket in tickets if ticket}) == 700
        assert [counts.of(ticket).n_tokens for ticket in tickets] == [expected(text) for text in texts]
        late = counter.submit("one more")
        with pytest.raises(LookupError, match="not settled"):
            counts.of(late)
        assert counter.results().of(late).n_tokens == expected("one more")


@pytest.mark.parametrize("make", [TokenCounter, ProcessCounter, lambda: InPlaceCounter(FastCounter())])
def test_every_counter_finds_the_same_facts(make: Callable[[], TokenCounter]) -> None:
    """A text is looked at as prose, as arguments and as another value: three tickets."""
    texts = ['{"Ab": [1, {"c d": "\u00e9\\n"}]}', 'Zeile 1\n\tZwei "q"', "token=REDACTED.REDACTED \ud83d", "9" * 300]
    looks = (text_facts.PROSE, text_facts.ARGUMENTS, text_facts.VALUE)
    with make() as counter:
        tickets = [[counter.submit(text, look) for look in looks] for text in texts]
        assert len({ticket for row in tickets for ticket in row}) == 12
        counts = counter.results()
    for text, row in zip(texts, tickets, strict=True):
        assert [counts.of(ticket).facts for ticket in row] == [text_facts.text_facts(text, look) for look in looks]
    assert counts.of(tickets[0][0]).facts == (1, 7, (1, 1, 16, 4))
    assert counts.of(tickets[0][1]).facts == (1, 3, (1, 1, 16, 4, 0, 0, 2))
    assert counts.of(tickets[2][0]).facts == (1, 0, (0, 16, 2, 1, 2, 1, 0))


def test_counter_holds_back_a_fast_producer(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the threads stopped, submit() blocks once the backlog is full: memory stays flat."""
    monkeypatch.setattr(tokenizer, "CHUNK_CHARS", 100)
    gate = threading.Event()
    counter = TokenCounter()
    count_text = tokenizer.count
    monkeypatch.setattr(tokenizer, "count", lambda text: gate.wait(60) and count_text(text))
    submitted: list[int] = []

    def produce() -> None:
        for number in range(40):
            ticket = counter.submit(str(number) + "x" * tokenizer.CHUNK_CHARS)
            submitted.append(ticket)

    producer = threading.Thread(target=produce, daemon=True)
    producer.start()
    while producer.is_alive() and not counter._queue.full():
        producer.join(0.01)
    producer.join(0.2)
    assert producer.is_alive()
    assert len(submitted) <= tokenizer.BACKLOG_CHUNKS + 3
    gate.set()
    producer.join(60)
    assert len(submitted) == 40
    assert counter.results().of(submitted[-1]).n_tokens > 0
    counter.close()
    assert not any(thread.is_alive() for thread in counter._threads)


def test_a_killed_helper_costs_nothing_but_time() -> None:
    counter = ProcessCounter()
    first = [counter.submit(f"text {number}\nof many\nlines") for number in range(300)]
    counter.results()
    assert counter._helper is not None
    counter._helper.kill()
    second = [counter.submit(f"more {number}\nof many\nlines") for number in range(300)]
    counts = counter.results()
    assert counts.of(first[0]).n_tokens == expected("text 0\nof many\nlines")
    assert counts.of(second[-1]).n_tokens == expected("more 299\nof many\nlines")
    assert counts.of(second[-1]).facts == text_facts.text_facts("more 299\nof many\nlines")
    counter.close()
    assert counter._helper is None


def test_a_helper_for_one_file_ends_with_the_results_and_begins_again_with_more() -> None:
    with ProcessCounter() as counter:
        counter.for_one_file = True
        first = counter.submit("one two")
        before = counter.results()
        assert counter._helper is None
        counter.for_one_file = False
        second = counter.submit("one two three four")
        counts = counter.results()
        assert counter._helper is not None
        assert [before.of(first).n_tokens, counts.of(second).n_tokens] == [2, 4]


def test_helper_ends_with_its_parent_and_flags_approximate_counts() -> None:
    with ProcessCounter() as counter:
        ticket = counter.submit("a" * (LONG_TEXT_CHARS + 1))
        assert counter.results().of(ticket)[:2] == count("a" * (LONG_TEXT_CHARS + 1))[:2]
        helper = counter._helper
        assert helper is not None
        assert helper.poll() is None
    assert helper.poll() == 0


def test_a_helper_whose_reader_was_killed_ends_without_a_word() -> None:
    """Nobody reads its answer any more."""
    code = "from sessions.engine.tokens.tokenizer_process import serve; serve()"
    helper = subprocess.Popen([sys.executable, "-c", code], stdin=PIPE, stdout=PIPE, stderr=PIPE, cwd=ROOT)
    assert helper.stdin is not None
    assert helper.stdout is not None
    assert helper.stderr is not None
    helper.stdout.close()
    with contextlib.suppress(BrokenPipeError):
        helper.stdin.write(struct.pack("<IIQB", 1, 5, 5, 0) + b"Hello")
        helper.stdin.close()
    assert (helper.stderr.read(), helper.wait(60)) == (b"", 0)
    helper.stderr.close()


def test_counting_in_place_gives_each_file_its_counts() -> None:
    texts = [
        "one",
        "",
        "two\n" * 300,
        "dr\u00fcben \u017f \U0001f389",
        "one",
        *(f"line {n} of many" for n in range(300)),
    ]
    with FastCounter() as fast:
        fast.begin()
        for _file in range(2):
            with InPlaceCounter(fast) as counter:
                tickets = [counter.submit(text) for text in texts]
                settled = counter.results()
            assert [settled.of(ticket)[:2] for ticket in tickets] == [count(text)[:2] for text in texts]


def test_texts_far_apart_are_counted_anew_and_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two to four different texts are remembered here: what is known does not grow with the file."""
    monkeypatch.setattr(tokenizer, "REMEMBERED", 2)
    texts = ["one", "one two", "one", "three four five", "one", *(f"text {n}" for n in range(9)), "one"]
    with TokenCounter() as counter:
        tickets = [counter.submit(text) for text in texts]
        assert len(counter._tickets) + len(counter._older) <= 4
        counts = counter.results()
    assert tickets[0] == tickets[2] == tickets[4] != tickets[-1]
    assert [counts.of(ticket).n_tokens for ticket in tickets] == [count(text).n_tokens for text in texts]
