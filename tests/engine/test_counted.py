"""Texts counted with an estimator's own vocabulary where the file is at hand."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING

import pytest

from sessions.engine.reading.reading import read_transcripts
from sessions.engine.reading.texts import Texts, texts_in
from sessions.engine.replays.replay import replay
from sessions.engine.tokens.estimators import tiktoken
from sessions.engine.tokens.vocabulary import encoding
from sessions.engine.weigh import sizes as module
from sessions.engine.weigh.calibration.calibrate import weigh
from sessions.engine.weigh.sizes import counted, estimator_named, message_size, message_sizes
from tests.engine.truth_facts import parsed
from tests.samples import samples_dir

if TYPE_CHECKING:
    from pathlib import Path

    from sessions.engine.weigh.calibration.weighed import Weighed

PROSE = (
    "Привет, как дела? Сегодня мы читаем файлы.",
    "今日は良い天気ですね。",
    "Übermäßig große Bäume",
    "def f(x): return x",
)


def opened(path: Path) -> tuple[Weighed, Texts]:
    data = path.read_bytes()
    parsed = read_transcripts(io.BytesIO(data), path.name)
    return weigh(parsed.transcripts[0]), Texts(lambda: io.BytesIO(data), parsed.format)


def written(folder: Path) -> Path:
    messages = [{"role": "user" if n % 2 == 0 else "assistant", "content": text} for n, text in enumerate(PROSE)]
    path = folder / "chat.json"
    path.write_text(json.dumps({"model": "gpt-4", "messages": messages}), encoding="utf-8")
    return path


def tokens(text: str) -> int:
    return len(encoding("cl100k_base").encode_ordinary(text))


def test_counts_are_tiktoken_s_where_texts_are_at_hand(tmp_path: Path) -> None:
    weighed, texts = opened(written(tmp_path))
    derived = estimator_named("tiktoken_cl100k")
    exact = counted(derived, weighed, texts)
    assert [message_size(m, exact, weighed.model) for m in weighed.transcript.messages] == list(map(tokens, PROSE))
    assert message_sizes(weighed, derived) != message_sizes(weighed, exact), "remembered apart"
    assert counted(derived, weighed, texts) is exact
    assert (exact.name, exact.label, exact.is_counted) == ("tiktoken_cl100k", "tiktoken cl100k_base", True)
    assert counted(derived, weighed, None) is derived
    wire = estimator_named("wire_bytes")
    assert counted(wire, weighed, texts) is wire


def test_a_block_that_is_not_in_the_file_keeps_the_derived_count(tmp_path: Path) -> None:
    weighed, texts = opened(written(tmp_path))
    derived = estimator_named("tiktoken_cl100k")
    exact = counted(derived, weighed, texts)
    (block,) = weighed.transcript.messages[0].blocks
    again = type(block)(**{name: getattr(block, name) for name in block.__slots__})
    assert again == block
    assert exact.size(block, weighed.model) == tokens(PROSE[0])
    assert exact.size(again, weighed.model) == derived.size(block, weighed.model)


def test_too_much_text_is_not_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    weighed, texts = opened(written(tmp_path))
    monkeypatch.setattr(module, "MOST_CHARS", 10)
    assert not counted(estimator_named("tiktoken_cl100k"), weighed, texts).is_counted


def test_a_replay_counts_with_the_file_s_texts(tmp_path: Path) -> None:
    weighed, texts = opened(written(tmp_path))
    replayed = replay(weighed, "crush", estimator="tiktoken_cl100k", texts=texts)
    assert replayed.estimator == "tiktoken_cl100k"
    first = weighed.transcript.messages[0]
    assert replayed.gates[0].measure == tokens(PROSE[0])
    assert replayed.gates[0].measure != message_size(first, estimator_named("tiktoken_cl100k"), weighed.model)


@pytest.mark.parametrize(
    "name",
    ["claude-code/trycua-vim.jsonl", "codex/edgerunner.jsonl", "pi/before-compaction.jsonl", "inspect/docent-log.eval"],
)
def test_whole_samples_are_counted(name: str) -> None:
    path = samples_dir() / name
    weighed, texts = (
        weigh(parsed(name).transcripts[0]),
        Texts(lambda: io.BytesIO(path.read_bytes()), parsed(name).format),
    )
    exact = counted(estimator_named("tiktoken_cl100k"), weighed, texts)
    for message in weighed.transcript.messages:
        text = sum(tokens(part) for part in texts_in(texts.of(message)))
        media = sum(tiktoken.size(b, weighed.model) for b in message.blocks) - sum(
            leaf.n_tokens for leaf in message.leaves()
        )
        assert message_size(message, exact, weighed.model) == text + media
