"""Chats exported by Open WebUI, on small files of our own."""

from __future__ import annotations

from sessions.engine.reading.reading import read_contents
from tests.engine.test_formats_contract import FIXTURES, read

OPEN_WEBUI = FIXTURES / "open_webui"


def test_a_chat_of_open_webui_is_the_branch_up_from_its_current_message() -> None:
    fence, weather = read(OPEN_WEBUI / "chats.json").transcripts
    assert [m.id for m in fence.messages] == ["f1", "f2", "f3", "f4", "f5"]
    assert [(r.usage.input, r.usage.output, r.model) for r in fence.requests if r.usage] == [
        (40, 7, "llama3.1:8b"),
        (90, 2, "llama3.1:8b"),
    ]
    assert fence.warnings == ("Messages on branches that the conversation left: 1",)
    assert [str(b.kind) for b in fence.messages[2].blocks] == ["text", "image", "document"]
    (error,) = fence.errors
    assert (error.limit, error.status, error.model) == (4_096, 500, "llama3.1:8b")
    assert (fence.title, len(fence.system), weather.id) == ("A green fence", 1, "chat-weather")


def test_the_usage_of_an_answer_with_tools_is_that_of_its_last_call() -> None:
    _, weather = read(OPEN_WEBUI / "chats.json").transcripts
    assert [request.message for request in weather.requests] == [1, 3]
    first, last = (request.usage for request in weather.requests)
    assert first is None
    assert last is not None
    assert (last.input, last.cache_read, last.output) == (54, 256, 12)
    assert weather.messages[1].call_ids() == weather.messages[2].result_ids() == {"call_1"}
    assert [(event.kind, event.words) for event in weather.events] == [
        ("error", "Rate limit reached for gpt-4o, please try again in 20s."),
    ]


def test_an_older_export_is_the_chat_itself_and_may_point_nowhere() -> None:
    (session,) = read(OPEN_WEBUI / "older_chat.json").transcripts
    assert [m.preview for m in session.messages] == ["Name a tree.", "Oak.", "Another one.", "Elm."]
    assert [(r.usage.input, r.usage.output) for r in session.requests if r.usage] == [(21, 3), (29, 3)]


def test_the_sources_of_an_answer_were_sent_with_its_question() -> None:
    """And with no later question: those of the answers before are told, not counted."""
    (session,) = read(OPEN_WEBUI / "sources.json").transcripts
    with (OPEN_WEBUI / "sources.json").open("rb") as file:
        said = [[content.text for content in read_contents(file, "open_webui", m)] for m in session.messages]
    assert said == [
        ["Which lamp lasts?"], ["The brass one."],
        ["Who mends it?", "The smith mends brass.", "So does the tinker.", "Two coins."],
    ]  # fmt: skip
    assert session.warnings == ("Sources whose texts were sent with an earlier question alone: 1, not counted",)
    assert (session.title, [message.typed for message in session.messages]) == ("Lamps", [True, False, True])
