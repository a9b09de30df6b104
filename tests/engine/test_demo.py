"""The demo's story: what a screenshot counted as text did at request 18, and what was lost at request 78."""

from __future__ import annotations

import base64
import hashlib
import io
import itertools
import json
from typing import TYPE_CHECKING, Any

import pytest
from PIL import Image

from sessions.engine.demo import session as demo
from sessions.engine.demo.png import screenshot
from sessions.engine.models.model_info import model_info
from sessions.engine.quality.assess import assess_recorded
from sessions.engine.quality.index import build_index
from sessions.engine.quality.probes import Question
from sessions.engine.reading.reading import read_transcripts
from sessions.engine.reading.texts import Texts
from sessions.engine.tokens.estimators._images import claude_image_tokens
from sessions.engine.weigh.calibration.calibrate import weigh
from sessions.engine.why.recorded import compare
from sessions.engine.why.verdicts import verdicts_of

if TYPE_CHECKING:
    from sessions.engine.weigh.calibration.weighed import Weighed


def written() -> bytes:
    file = io.BytesIO()
    demo.write_demo(file)
    return file.getvalue()


@pytest.fixture(scope="module")
def data() -> bytes:
    return written()


@pytest.fixture(scope="module")
def messages(data: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in data.splitlines()[1:]]


@pytest.fixture(scope="module")
def weighed(data: bytes) -> Weighed:
    return weigh(read_transcripts(io.BytesIO(data), "demo.jsonl").transcripts[0])


def images_of(message: dict[str, Any]) -> list[dict[str, str]]:
    content = message["content"]
    parts = content[0].get("content") if isinstance(content, list) else None
    return [part["source"] for part in parts or [] if isinstance(part, dict) and part["type"] == "image"]


def test_same_bytes_on_every_run(data: bytes) -> None:
    assert hashlib.sha256(written()).digest() == hashlib.sha256(data).digest()


def test_the_screenshot_is_the_founding_example(messages: list[dict[str, Any]]) -> None:
    (source,) = images_of(messages[37])
    assert len(source["data"]) == 3_118_884
    decoded = base64.b64decode(source["data"], validate=True)
    assert round(len(decoded) / 2**20, 2) == 2.23
    with Image.open(io.BytesIO(decoded)) as picture:
        picture.load()
        assert (picture.format, picture.size) == ("PNG", (1254, 1254))
        assert len(picture.convert("RGB").getcolors(1 << 21) or []) > 100
    tokens = claude_image_tokens(1254, 1254, model_info(demo.MODEL).image_tier)
    assert tokens == 2_025
    assert (3_118_884 + len("image/png")) // tokens == 1_540


def test_other_images_are_over_counted_less(messages: list[dict[str, Any]]) -> None:
    found = [(index, source) for index, message in enumerate(messages) for source in images_of(message)]
    assert len(found) == 3
    assert found[0][0] == 37
    for _, source in found[1:]:
        with Image.open(io.BytesIO(base64.b64decode(source["data"]))) as picture:
            picture.load()
            assert len(source["data"]) / claude_image_tokens(*picture.size, "high-res") < 1_540


def test_shape_of_the_session(data: bytes, messages: list[dict[str, Any]]) -> None:
    head = json.loads(data.splitlines()[0])
    assert (len(messages), head["n_messages"], head["client"]) == (179, 179, "buzz-agent before 1332")
    stamps = [message["timestamp"] for message in messages]
    assert stamps == sorted(stamps)
    for before, after in itertools.pairwise(messages):
        calls = [b["id"] for b in before["content"] if isinstance(b, dict) and b["type"] == "tool_use"]
        if calls:
            assert [block["tool_use_id"] for block in after["content"]] == calls


def test_usage_is_coherent(messages: list[dict[str, Any]]) -> None:
    """The cache is read up to what was sent before, and every context but the two after a hand-off grows."""
    usages = [message["usage"] for message in messages if message["role"] == "assistant"]
    contexts = [usage["input"] + usage["cache_read"] + usage["cache_write"] for usage in usages]
    assert len(contexts) == 88
    falls = [k for k, (before, after) in enumerate(itertools.pairwise(contexts), 1) if after <= before]
    assert falls == [18, 78]
    for k, (before, usage) in enumerate(zip(contexts, usages[1:], strict=False), 1):
        assert usage["cache_read"] == (demo.OVERHEAD if k in falls else before)


def test_one_compaction_is_false_and_one_is_right(weighed: Weighed) -> None:
    """seeds 2.1 and 2.3: a byte a token against 167,232; 3,118,893 of 3,134,818 are the screenshot's."""
    false, right = verdicts_of(weighed)
    assert (false.request, false.cause, false.certainty) == (18, "image_or_document_as_text", "certain")
    assert (false.saw, false.true, false.threshold) == (3_134_818, 17_297, 167_232)
    assert (right.request, right.cause, right.certainty) == (78, "threshold_reached", "certain")
    assert right.true is not None
    assert right.true >= 167_232


def test_the_agents_own_rule_counts_what_was_recorded(weighed: Weighed) -> None:
    """Replayed, the hand-off of before the pull request fires at the same requests and sees the same figures."""
    found = compare(weighed, params={"measure": "wire_bytes"})
    assert (found.policy, found.recall, found.precision) == ("buzz_handoff", 1, 1)
    assert [(one.outcome, one.recorded_before) for one in found.compared] == [
        ("hit", one.gate.measure) for one in found.compared if one.gate
    ]


def test_the_rule_is_told_once_lost_then_and_broken(data: bytes, weighed: Weighed) -> None:
    texts = Texts(lambda: io.BytesIO(data), "ctxweb_jsonl")
    index = build_index(weighed.transcript, texts.of)
    first, second = assess_recorded(weighed, index, horizon=None, asked=Question((), frozenset()))
    rules = [[r for r in one.constraints if "package-lock.json" in r.text] for one in (first, second)]
    assert [(r.state, r.source_message) for (r,) in rules] == [("mentioned", 1), ("gone", 1)]
    assert rules[1][0].broken_at == 160
    assert all(any(need.state == "gone" for need in one.needs) for one in (first, second))


def test_an_impossible_length_is_refused() -> None:
    with pytest.raises(ValueError, match="multiple of 4"):
        screenshot(10, 10, 1_001, 1)
    with pytest.raises(ValueError, match="do not fit"):
        screenshot(100, 100, 400, 1)
