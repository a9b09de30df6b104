from __future__ import annotations

import base64
import hashlib
import io
import itertools
import json
from typing import Any

import pytest
from PIL import Image

from sessions.engine.demo import session as demo
from sessions.engine.demo.png import screenshot
from sessions.engine.estimators._images import claude_image_tokens
from sessions.engine.model_info import model_info


def written(**options: bool) -> bytes:
    file = io.BytesIO()
    demo.write_demo(file, **options)
    return file.getvalue()


@pytest.fixture(scope="module")
def data() -> bytes:
    return written()


@pytest.fixture(scope="module")
def messages(data: bytes) -> list[list[dict[str, Any]]]:
    """Lines of the session, those of one response together."""
    found: dict[str, list[dict[str, Any]]] = {}
    for line in data.splitlines():
        value = json.loads(line)
        if value["type"] in ("user", "assistant"):
            found.setdefault(value["message"].get("id") or value["uuid"], []).append(value)
    return list(found.values())


def images_of(lines: list[dict[str, Any]]) -> list[dict[str, str]]:
    content = lines[0]["message"]["content"]
    parts = content[0].get("content") if isinstance(content, list) else None
    return [part["source"] for part in parts or [] if isinstance(part, dict) and part["type"] == "image"]


def usage_of(lines: list[dict[str, Any]]) -> dict[str, int]:
    usage: dict[str, int] = lines[0]["message"]["usage"]
    assert all(line["message"]["usage"] == usage for line in lines)
    return usage


def context_of(usage: dict[str, int]) -> int:
    return usage["input_tokens"] + usage["cache_creation_input_tokens"] + usage["cache_read_input_tokens"]


def test_same_bytes_on_every_run(data: bytes) -> None:
    assert hashlib.sha256(written()).digest() == hashlib.sha256(data).digest()


def test_the_screenshot_is_the_founding_example(messages: list[list[dict[str, Any]]]) -> None:
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


def test_other_images_are_over_counted_less(messages: list[list[dict[str, Any]]]) -> None:
    found = [(index, source) for index, lines in enumerate(messages) for source in images_of(lines)]
    assert len(found) == 3
    assert found[0][0] == 37
    for _, source in found[1:]:
        with Image.open(io.BytesIO(base64.b64decode(source["data"]))) as picture:
            picture.load()
            assert len(source["data"]) / claude_image_tokens(*picture.size, "high-res") < 1_540


def test_shape_of_the_session(messages: list[list[dict[str, Any]]]) -> None:
    assert 170 <= len(messages) <= 190
    prompts = [m[0]["message"]["content"] for m in messages if isinstance(m[0]["message"]["content"], str)]
    assert any("never touch the lockfile" in prompt for prompt in prompts)
    parent = None
    for line in (line for lines in messages for line in lines):
        assert line["parentUuid"] == parent
        parent = line["uuid"]
    stamps = [lines[0]["timestamp"] for lines in messages]
    assert stamps == sorted(stamps)


def test_every_call_has_its_result_next(messages: list[list[dict[str, Any]]]) -> None:
    for index, lines in enumerate(messages):
        blocks = [b for line in lines if line["type"] == "assistant" for b in line["message"]["content"]]
        calls = [block["id"] for block in blocks if block["type"] == "tool_use"]
        if calls:
            assert [block["tool_use_id"] for block in messages[index + 1][0]["message"]["content"]] == calls


def test_usage_is_coherent(messages: list[list[dict[str, Any]]]) -> None:
    usages = [(i, usage_of(lines)) for i, lines in enumerate(messages) if lines[0]["type"] == "assistant"]
    contexts = [context_of(usage) for _, usage in usages]
    assert contexts == sorted(contexts)
    assert 60_000 <= contexts[-1] <= 70_000
    assert 60_000 <= contexts[-1] + usages[-1][1]["output_tokens"] - demo.OVERHEAD <= 64_000
    for (_, before), (_, usage) in itertools.pairwise(usages):
        assert usage["cache_read_input_tokens"] == context_of(before)
        assert context_of(usage) > context_of(before) + before["output_tokens"]
    at = next(n for n, (index, _) in enumerate(usages) if index == 38)
    grown = contexts[at] - contexts[at - 1] - usages[at - 1][1]["output_tokens"]
    assert 2_025 < grown < 2_100


def test_without_images(data: bytes) -> None:
    plain = written(with_image=False)
    assert b"base64" not in plain
    assert len(plain) < 700_000
    assert plain.count(b"\n") == data.count(b"\n")


def test_an_impossible_length_is_refused() -> None:
    with pytest.raises(ValueError, match="multiple of 4"):
        screenshot(10, 10, 1_001, 1)
    with pytest.raises(ValueError, match="do not fit"):
        screenshot(100, 100, 400, 1)
