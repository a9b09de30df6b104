"""The length of a list as JSON: the estimator against ``json.dumps`` of the very list (seeds 1.2)."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from sessions.engine.models.model_info import model_info
from sessions.engine.policies.edits import cut_text, marker, with_text
from sessions.engine.reading.measure import Measure, settle
from sessions.engine.tokens.estimators.serialized_chars import of_message
from sessions.engine.tokens.text_facts import json_blanks, json_escapes
from sessions.engine.tokens.tokenizer import TokenCounter
from sessions.engine.transcript.types import Content, Kind, Message, Parsed, Role, Transcript

MODEL = model_info("claude-sonnet-4-5")
TEXT = st.text(max_size=40)
ARGUMENTS = st.dictionaries(TEXT, st.recursive(TEXT | st.integers() | st.none(), lambda v: st.lists(v, max_size=3)))


def dumped(value):
    return len(json.dumps(value, default=str, ensure_ascii=False))


def compact(value):
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def measured(*contents):
    with TokenCounter() as counter:
        parsed = Parsed(format="f", transcripts=(Transcript("t", "f", (), system=Measure(counter)(contents)),))
        return settle(parsed, counter).transcripts[0].system


@given(TEXT)
def test_escapes_are_what_json_adds(text):
    assert len(text) + json_escapes(text) + 2 == dumped(text)


@given(ARGUMENTS)
def test_arguments_have_their_blanks(arguments):
    assert len(compact(arguments)) + json_blanks(compact(arguments)) == dumped(arguments)


SAID, ARGS = 'a "quoted"\n\\path\tund grüßt \x01', {"path": "a, b: c", "lines": [1, 2]}
GIVEN = [
    {"role": "user", "content": SAID},
    {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": SAID, "signature": "sig"},
            {"type": "text", "text": SAID},
            {"type": "tool_use", "id": "c1", "name": "Read", "input": ARGS},
            {"type": "tool_use", "id": "c2", "name": "List", "input": {}},
        ],
    },
    {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "c1", "content": SAID},
            {"type": "tool_result", "tool_use_id": "c2", "content": "", "is_error": True},
            {"type": "text", "text": SAID},
        ],
    },
    {
        "role": "user",
        "content": [
            {
                "type": "tool_result",
                "tool_use_id": "c3",
                "content": [
                    {"type": "text", "text": SAID},
                    {
                        "type": "image",
                        "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="},
                    },
                ],
            },
            {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}},
        ],
    },
]
PARTS = (Content(Kind.TEXT, SAID), Content(Kind.IMAGE, media_type="image/png", data="iVBORw0KGgo="))
CONTENTS = [
    (Role.USER, [Content(Kind.TEXT, SAID)]),
    (
        Role.ASSISTANT,
        [
            Content(Kind.THINKING, SAID, payload="sig"),
            Content(Kind.TEXT, SAID),
            Content(Kind.TOOL_USE, compact(ARGS), name="Read", call_id="c1"),
            Content(Kind.TOOL_USE, "{}", name="List", call_id="c2"),
        ],
    ),
    (
        Role.USER,
        [
            Content(Kind.TOOL_RESULT, SAID, call_id="c1"),
            Content(Kind.TOOL_RESULT, call_id="c2", is_error=True),
            Content(Kind.TEXT, SAID),
        ],
    ),
    (
        Role.USER,
        [
            Content(Kind.TOOL_RESULT, call_id="c3", parts=PARTS),
            Content(Kind.IMAGE, url="https://example.org/a.png"),
        ],
    ),
]


def test_a_whole_list_is_as_long_as_its_json():
    messages = [Message(n, f"m{n}", role, measured(*held)) for n, (role, held) in enumerate(CONTENTS)]
    sizes = [of_message(message, MODEL) for message in messages]
    assert [size - 2 for size in sizes] == [dumped(message) for message in GIVEN]
    assert sum(sizes) == dumped(GIVEN)
    opaque = {"type": "redacted", "data": ["x", "y"]}
    held = Message(0, "m", Role.ASSISTANT, measured(Content(Kind.OPAQUE, compact(opaque))))
    assert of_message(held, MODEL) == dumped([{"role": "assistant", "content": [opaque]}])


def test_what_a_policy_writes_is_escaped_too():
    (block,) = measured(Content(Kind.TOOL_RESULT, 'say "' * 100, call_id="c1"))
    assert block.n_json == 100
    assert marker('a "b"').n_json == 2
    assert with_text(block, "plain").n_json == 0
    assert cut_text(block, 250, 'cut "here"').n_json == 50 + 2
