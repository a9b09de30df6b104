"""Where images stand in files of every shape, and that what is not plain base64 has no place."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import random
import types
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions.engine.base.errors import EngineError
from sessions.engine.reading import media_places
from sessions.engine.reading.images import Place
from sessions.engine.reading.reading import read_transcripts
from tests.services.claude_lines import Lines, png

PICTURE = png(640, 480, 5_000)
OTHER = png(640, 480, 5_000, seed=9)
LETTERS = base64.b64encode(PICTURE).decode()


def looked(data: bytes) -> tuple[dict[str, Place], dict[str, bytes]]:
    """The places of the media in a file, and all that were met while it was read."""
    traces, met = {}, {}

    def note(sha256: str, _media_type: str, raw: bytes) -> None:
        traces[sha256], met[sha256] = media_places.fingerprint_of(raw), raw

    file = io.BytesIO(data)
    parsed = read_transcripts(file, on_media=note)
    found = media_places.find(file, parsed, traces)
    again = dict(media_places.read_again(file, parsed, traces.keys() - found.keys()))
    assert found.keys() | again.keys() == met.keys(), "one way or the other"
    for sha256, raw in met.items():
        assert hashlib.sha256(raw).hexdigest() == sha256
        assert sha256 not in again or again[sha256] == raw
        assert sha256 not in found or media_places.read(file, found[sha256], sha256) == raw
    return found, met


def chat(*urls: str, **how: Any) -> bytes:
    """A request of the chat completions API with pictures."""
    content = [{"type": "image_url", "image_url": {"url": url}} for url in urls]
    document = {"model": "gpt-4o", "messages": [{"role": "user", "content": content}]}
    return json.dumps(document, **how).encode()


def test_it_stands_in_its_line() -> None:
    data = Lines().prompt("Look").turn(PICTURE).turn(OTHER).turn(PICTURE).bytes()
    found, met = looked(data)
    assert len(met) == 2
    for sha256, raw in met.items():
        letters = base64.b64encode(raw)
        assert found[sha256] == (data.index(letters), len(letters))


def test_it_stands_in_a_document_after_what_says_its_kind() -> None:
    data = chat(f"data:image/png;base64,{LETTERS}", f"data:image/png;base64,{base64.b64encode(OTHER).decode()}")
    found, _ = looked(data)
    assert sorted(found.values()) == sorted(
        (data.index(letters), len(letters)) for letters in map(base64.b64encode, (PICTURE, OTHER))
    )


@pytest.mark.parametrize("extra", [0, 1, 2])
def test_url_safe_letters_and_missing_padding_are_the_same(extra: int) -> None:
    raw = png(64, 64, 900 + extra)
    for letters in (base64.urlsafe_b64encode(raw).decode(), base64.b64encode(raw).decode().rstrip("=")):
        data = chat(f"data:image/png;base64,{letters}")
        assert list(looked(data)[0].values()) == [(data.index(letters.encode()), len(letters))]


def test_escaped_letters_have_no_place_and_are_read_again() -> None:
    assert "/" in LETTERS
    data = chat(f"data:image/png;base64,{LETTERS}").replace(b"/", b"\\/")
    found, met = looked(data)
    assert (found, list(met.values())) == ({}, [PICTURE])


def test_line_breaks_have_no_place_and_are_read_again() -> None:
    found, met = looked(chat(f"data:image/png;base64,{base64.encodebytes(PICTURE).decode()}"))
    assert (found, list(met.values())) == ({}, [PICTURE])


def test_pictures_that_differ_in_their_middle_alone_are_told_apart() -> None:
    nearly = bytearray(PICTURE)
    nearly[len(nearly) // 2] ^= 1
    data = chat(*(f"data:image/png;base64,{base64.b64encode(raw).decode()}" for raw in (bytes(nearly), PICTURE)))
    found, met = looked(data)
    assert {met[sha256]: place.offset for sha256, place in found.items()} == {
        bytes(nearly): data.index(base64.b64encode(nearly)), PICTURE: data.index(LETTERS.encode()),
    }  # fmt: skip


def test_text_has_places_and_packed_files_have_none() -> None:
    for data, answer in [
        (b'{"a": 1}', True),
        (b"\xef\xbb\xbf{}", True),
        (b"", True),
        (b"PK\x03\x04rest", False),
        (b"SQLite format 3\0rest", False),
    ]:
        assert media_places.has_places(io.BytesIO(data)) is answer


def test_bytes_of_another_hash_are_none() -> None:
    file, sha256 = io.BytesIO(b'"' + LETTERS.encode() + b'"'), hashlib.sha256(PICTURE).hexdigest()
    assert media_places.read(file, Place(1, len(LETTERS)), sha256) == PICTURE
    assert media_places.read(file, Place(1, len(LETTERS)), hashlib.sha256(OTHER).hexdigest()) is None
    assert media_places.read(file, Place(0, len(LETTERS)), sha256) is None
    assert media_places.read(file, Place(1, 5), sha256) is None
    assert media_places.read(file, Place(10**9, 8), sha256) is None


@given(n_bytes=st.integers(1, 400), seed=st.integers(0, 9))
def test_a_trace_is_the_length_and_the_ends_of_the_letters(n_bytes: int, seed: int) -> None:
    raw = random.Random(seed).randbytes(n_bytes)
    letters = base64.b64encode(raw).rstrip(b"=")
    trace = media_places.fingerprint_of(raw)
    assert trace.n_letters == len(letters)
    assert letters.startswith(trace.head)
    assert letters.endswith(trace.tail)
    assert min(len(trace.head), len(trace.tail)) >= min(61, len(letters))


def test_many_pictures_of_one_document_are_found_in_one_look(monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[int] = []
    plain = media_places._RUN
    counting = types.SimpleNamespace(finditer=lambda data: looks.append(1) or plain.finditer(data))
    monkeypatch.setattr(media_places, "_RUN", counting)
    urls = [f"data:image/png;base64,{base64.b64encode(png(64, 64, 900, seed=n)).decode()}" for n in range(30)]
    messages = [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": url}}]} for url in urls]
    found, met = looked(json.dumps({"model": "gpt-4o", "messages": messages}).encode())
    assert len(found) == len(met) == 30
    assert looks == [1]


def test_the_fixtures_lose_no_picture() -> None:
    folder = Path(__file__).resolve().parents[1] / "fixtures/transcripts"
    kinds = set()
    for path in sorted(folder.rglob("*.json*")):
        try:
            found, met = looked(path.read_bytes())
        except EngineError:  # files that cannot be read are other tests'
            continue
        kinds |= {path.parent.name} if found and found.keys() == met.keys() else set()
    assert len(kinds) > 15
