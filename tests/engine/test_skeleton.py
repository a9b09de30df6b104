"""A skeleton keeps a file's structure and figures, and none of its words."""

from __future__ import annotations

import base64
import io
import re
import sqlite3
import string
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from sessions.engine.reading.images import media_facts
from sessions.engine.reading.jsonio import Source, dumps, loads
from sessions.engine.reading.reading import read_transcripts
from sessions.engine.reading.skeleton import Skeleton, known, marks
from tests.engine.test_formats_contract import FILES
from tests.services.packs import zipped

if TYPE_CHECKING:
    from pathlib import Path

    from sessions.engine.transcript.types import Parsed, Transcript

WRITTEN_AS_PROSE = {
    "agent_zero/harbour.json": "a compaction that stalled is told in a text",
    "dsh/retried.jsonl": "an event of a plugin is known by its name",
    "aider/history.md": "Markdown",
    "aider/tokens.md": "Markdown",
    "letta/agents.json": "a compaction is told in a text",
    "amazon_q/compacted.json": "a compaction is told by what stood on the screen",
    "amazon_q/pairs.json": "a compaction is told by what stood on the screen",
    "librechat/branches.json": "a refusal's figures stand in a text",
    "litellm/page.json": "a refusal's figures stand in a text",
    "langfuse/frameworks.jsonl": "Python reprs of messages in a trace",
    "otel/frameworks.jsonl": "Python reprs of messages in a trace",
    "mini_swe_agent/plain.json": "the agent is told by the words of its prompt",
    "openai_chat/flattened.jsonl": "a conversation as one text",
    "role_content/python_reprs.jsonl": "Python reprs of blocks",
}
"""Files whose structure stands in their texts: without these nothing is left to read."""


def skeleton(data: bytes, name: str = "a.jsonl") -> str:
    return "\n".join(Skeleton().lines(Source(io.BytesIO(data), name)))


def read(data: bytes, name: str) -> Parsed:
    return read_transcripts(io.BytesIO(data), name)


def shape(session: Transcript) -> dict[str, Any]:
    return {
        "messages": [(m.role, m.typed, m.summary, [leaf.kind for leaf in m.leaves()]) for m in session.messages],
        "requests": [(r.message, r.usage, r.on_branch, r.n_messages) for r in session.requests],
        "compactions": [
            (c.boundary, c.request, c.message, c.trigger, c.tokens_before, c.tokens_after) for c in session.compactions
        ],
        "errors": [(e.kind, e.request, e.tokens, e.limit) for e in session.errors],
        "window": session.window,
        "is_root": session.parent_id is None,
    }


def text_files() -> list[tuple[str, Path]]:
    return [(name, path) for name, path in FILES if Source(io.BytesIO(path.read_bytes())).is_lines()]


@pytest.mark.parametrize(("name", "path"), text_files(), ids=lambda v: v if isinstance(v, str) else v.name)
def test_a_fixtures_skeleton_is_read_to_the_same_structure_and_figures(name: str, path: Path) -> None:
    if f"{name}/{path.name}" in WRITTEN_AS_PROSE or name == "server_log":
        assert skeleton(path.read_bytes(), path.name)
        return
    before = read(path.read_bytes(), path.name)
    after = read(skeleton(path.read_bytes(), path.name).encode(), path.name)
    assert after.format == name
    assert [shape(t) for t in after.transcripts] == [shape(t) for t in before.transcripts]
    assert [gap.kind for gap in after.gaps] == [gap.kind for gap in before.gaps]


OURS = re.compile("|".join(map(re.escape, sorted((word for word in known() if len(word) > 3), key=len, reverse=True))))
LETTERS = string.ascii_letters + "äßñжλ中文"
SECRET = st.text(LETTERS, min_size=4, max_size=12).filter(lambda word: not OURS.search(word) and word not in known())
TEXT = st.one_of(
    SECRET,
    st.lists(SECRET, min_size=1, max_size=5).map(" ".join),
    st.tuples(SECRET, SECRET).map("/".join),
    st.tuples(SECRET, SECRET).map(lambda pair: f"{pair[0]}@{pair[1]}.com"),
    SECRET.map(lambda word: f"{word}-2.1"),
    SECRET.map(lambda word: f"<user_query>{word} {word}</user_query>"),
    SECRET.map(lambda word: dumps({"text": word, "path": [word]})),
    SECRET.map(lambda word: f"prompt is too long: 9000 tokens > 8000 maximum {word}"),
    SECRET.map(lambda word: f"data: {dumps({'text': word})}\n\ndata: {word}"),
)
KEYS = st.sampled_from(["type", "role", "content", "text", "input", "id", "message", "name", "usage", "arguments"])
ODD_KEYS = st.tuples(SECRET, SECRET).map(" ".join) | SECRET.map(lambda word: f"/home/{word}/1")
VALUES = st.recursive(
    TEXT | st.integers() | st.booleans() | st.none(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS | ODD_KEYS, inner, max_size=4),
    max_leaves=12,
)


def runs(text: str) -> set[str]:
    """Every run of four letters in ``text``."""
    words = re.findall(r"[^\W\d_]{4,}", text)
    return {word[n : n + 4] for word in words for n in range(len(word) - 3)}


def texts_of(value: Any) -> set[str]:
    if isinstance(value, dict):
        odd = {key for key in value if key not in known()}
        return odd.union(*(texts_of(part) for part in value.values()))
    if isinstance(value, list):
        return set().union(*(texts_of(part) for part in value))
    return {value} if isinstance(value, str) else set()


FILLER = {"xxxx", "wwww", "éééé", "のののの"}
JSON_OWN = {"true", "false", "null"}
PUBLIC = ("type", "role", "content", "text", "input", "message", "name", "usage", "arguments")
"""Keys of the values below: they stay, and a secret may be a piece of one."""


def surviving(shown: str) -> set[str]:
    """Runs of letters in a skeleton, JSON's own words and the keys that stay left out."""
    words = re.findall(r"[^\W\d_]{4,}", shown)
    return set().union(*(runs(word) for word in words if word not in JSON_OWN and word not in PUBLIC))


PROGRAMS_OWN = ("prompt is too long", "tokens", "maximum", "data", "home", "text", "path")
"""Words of programs that a skeleton keeps."""


def secret_runs(texts: set[str]) -> set[str]:
    """Runs of letters that are the writer's own: what our readers know is not."""
    plain = " ".join(marks().sub(" ", text) for text in texts)
    for phrase in PROGRAMS_OWN:
        plain = plain.replace(phrase, " ")
    return runs(plain) - FILLER - set().union(*map(runs, PROGRAMS_OWN))


@given(st.lists(VALUES, min_size=1, max_size=3))
def test_no_run_of_four_letters_of_any_text_survives(values: list[Any]) -> None:
    data = "\n".join(map(dumps, values))
    made = Skeleton()
    shown = "\n".join(made.line(line) for line in data.split("\n"))
    assert not secret_runs(set().union(*map(texts_of, values))) & surviving(shown)


@given(st.lists(VALUES, min_size=1, max_size=3), st.integers(1, 400))
def test_neither_does_one_of_a_file_that_is_cut(values: list[Any], n_bytes: int) -> None:
    data = "\n".join(map(dumps, [{"type": "text", "content": value} for value in values])).encode()[:n_bytes]
    shown = skeleton(data)
    assert not secret_runs(set().union(*map(texts_of, values))) & surviving(shown)


@given(st.text(max_size=400))
def test_filler_has_the_length_of_the_text_in_characters_and_bytes(text: str) -> None:
    text = f"{text.strip() or 'a'} and more"
    shown = Skeleton().text(text)
    if not text.startswith(("{", "[", "event:", "data:")):
        assert (len(shown), len(shown.encode())) == (len(text), len(text.encode()))


def test_equal_words_stay_equal_and_others_do_not() -> None:
    data = dumps([{"id": "toolu_abcdef", "of": "toolu_abcdef"}, {"id": "toolu_ghijkl", "uuid": "4f3a-11"}]).encode()
    first, second = loads(skeleton(data).encode())
    assert first["id"] == first["of"] != second["id"]
    assert len(first["id"]) == len("toolu_abcdef")
    assert second["uuid"] != first["id"]


def test_a_key_that_is_an_id_elsewhere_stays_the_same_id() -> None:
    data = dumps({"mapping": {"nodeA": {"children": ["nodeB"]}, "nodeB": {"children": []}}}).encode()
    mapping = loads(skeleton(data).encode())["mapping"]
    ((child,),) = [node["children"] for node in mapping.values() if node["children"]]
    assert child in mapping
    assert child != "nodeB"


def test_what_a_tool_was_given_loses_its_keys_and_numbers_and_usage_keeps_them() -> None:
    data = dumps({"input": {"customerPhone": 5551234, "path": "/x/secret"}, "usage": {"input_tokens": 77}}).encode()
    shown = loads(skeleton(data).encode())
    assert shown["usage"] == {"input_tokens": 77}
    assert "customerPhone" not in shown["input"]
    assert 5551234 not in shown["input"].values()
    assert list(shown["input"])[1] == "path"


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "WEBP"])
def test_pictures_are_filler_of_the_same_length_and_size(kind: str) -> None:
    drawn = io.BytesIO()
    Image.effect_noise((120, 45), 50).save(drawn, kind)
    picture = base64.b64encode(drawn.getvalue()).decode().rstrip("=")
    data = dumps({"data": picture, "url": f"data:image/{kind.lower()};base64,{picture}"}).encode()
    shown = loads(skeleton(data).encode())
    assert len(shown["data"]) == len(picture)
    before, after = (media_facts(f"image/{kind.lower()}", text) for text in (picture, shown["data"]))
    assert (after.media_type, after.width, after.height) == (before.media_type, 120, 45)
    assert not after.problem
    assert set(shown["data"][40:]) == {"A"}
    assert shown["url"] == f"data:image/{kind.lower()};base64,{shown['data']}"


def test_what_is_no_picture_is_filler_alone() -> None:
    assert Skeleton().text("Zq7" * 40) == "A" * 120


def test_the_agent_and_its_tools_stay_and_a_clients_other_words_do_not() -> None:
    data = dumps({"client": "buzz-agent before 1332", "name": "Read", "at": {"client": "Mara of Storefront"}}).encode()
    shown = loads(skeleton(data).encode())
    assert (shown["client"], shown["name"]) == ("buzz-agent before 1332", "Read")
    assert not surviving(dumps(shown["at"])) & runs("Mara of Storefront")


def test_a_database_and_an_archive_give_their_parts(tmp_path: Path) -> None:
    place = tmp_path / "a.db"
    writer = sqlite3.connect(place)
    writer.execute("CREATE TABLE messages (id TEXT, parts TEXT)")
    writer.execute('INSERT INTO messages VALUES (\'m-secret\', \'[{"type": "text", "text": "secret words"}]\')')
    writer.commit()
    writer.close()
    table, row = (loads(line.encode()) for line in skeleton(place.read_bytes()).splitlines())
    assert table == {"table": "messages", "columns": ["id", "parts"]}
    assert loads(row["parts"].encode()) == [{"type": "text", "text": "xxxxxx xxxxx"}]
    packed = zipped({"header.json": b'{"status": "success"}', "samples/secret.json": b'{"input": "secret words"}'})
    assert "secret" not in skeleton(packed)
    assert len(skeleton(packed).splitlines()) == 2
