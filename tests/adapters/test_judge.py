"""The judge against the loopback server: what it is told, and that only a well-formed answer counts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from sessions.adapters import anthropic_client
from sessions.adapters.anthropic_client import Access, Client
from sessions.adapters.anthropic_judge import Action, Answer, Grade, answer_probe, grade, next_action
from sessions.adapters.anthropic_summaries import Said
from sessions.adapters.calls import CallFailed
from sessions.engine.transcript.types import Content, Kind
from tests import fake_anthropic as fake
from tests.fake_anthropic import FakeAnthropic

CONTEXT = (
    Said(0, "user", (Content(Kind.TEXT, text="Use SQLite, not files. Fix cache.py."),)),
    Said(1, "assistant", (Content(Kind.TOOL_USE, name="edit", text='{"path":"cache.py"}', call_id="t1"),)),
)
GOOD = {"answer": "SQLite", "found": True}


@pytest.fixture
def client(fake_anthropic: FakeAnthropic, monkeypatch: pytest.MonkeyPatch) -> Iterator[Client]:
    monkeypatch.setattr(anthropic_client, "BACKOFF_SECONDS", 0.01)
    with Client(Access("sk-test", fake_anthropic.base_url), timeout=0.5) as ours:
        yield ours


def called(name: str, given: dict[str, Any], **more: Any) -> fake.Answer:
    return fake.message(tools=[(name, given)], **({"stop": "tool_use"} | more))


def test_answers_from_the_context_it_is_given(fake_anthropic: FakeAnthropic, client: Client) -> None:
    fake_anthropic.then(called("answer", GOOD))
    assert answer_probe(client, "claude-x", CONTEXT, "Which store?") == Answer("SQLite", found=True)
    sent = fake_anthropic.requests[0].body
    said = sent["messages"][0]["content"]
    assert '<message index="0" role="user">\nUse SQLite, not files. Fix cache.py.\n</message>' in said
    assert '[tool call: edit {"path":"cache.py"}]' in said
    assert said.endswith("Question: Which store?")
    assert "Information not found" in sent["system"]
    assert sent["tool_choice"] == {"type": "tool", "name": "answer"}
    assert sent["tools"][0]["input_schema"]["required"] == ["answer", "found"]


def test_what_is_not_there_is_not_found(fake_anthropic: FakeAnthropic, client: Client) -> None:
    fake_anthropic.then(called("answer", {"answer": "Information not found", "found": False}))
    assert not answer_probe(client, "m", CONTEXT, "Which port?").found


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (fake.message(), "empty"),
        (fake.message("I would say SQLite."), "empty"),
        (called("answer", {"answer": "  ", "found": True}), "empty"),
        (fake.message(stop="refusal"), "refused"),
        (called("answer", GOOD, stop="max_tokens"), "cut"),
        (called("other", GOOD), "malformed"),
        (called("answer", {"answer": "SQLite"}), "malformed"),
        (called("answer", {**GOOD, "sure": 1}), "malformed"),
        (called("answer", {"answer": "SQLite", "found": "yes"}), "malformed"),
        (called("answer", {"answer": ["SQLite"], "found": True}), "malformed"),
        (fake.message(tools=[("answer", GOOD), ("answer", GOOD)]), "malformed"),
        (fake.Answer(body=b"{"), "malformed"),
        (fake.Answer(body={"type": "message", "content": "SQLite"}), "malformed"),
    ],
)
def test_nothing_but_a_well_formed_answer_counts(
    fake_anthropic: FakeAnthropic, client: Client, answer: fake.Answer, kind: str
) -> None:
    fake_anthropic.then(answer)
    with pytest.raises(CallFailed) as caught:
        answer_probe(client, "m", CONTEXT, "Which store?")
    assert caught.value.kind == kind


def test_a_judge_that_does_not_answer(fake_anthropic: FakeAnthropic, client: Client) -> None:
    fake_anthropic.then(*[fake.Answer(delay=5)] * 3)
    with pytest.raises(CallFailed) as caught:
        grade(client, "m", "Which store?", "SQLite", "files")
    assert caught.value.kind == "timeout"


@pytest.mark.parametrize("verdict", ["correct", "partial", "wrong"])
def test_grades(fake_anthropic: FakeAnthropic, client: Client, verdict: str) -> None:
    fake_anthropic.then(called("grade", {"verdict": verdict, "reason": " It says so. "}))
    found = grade(client, "m", "Which store?", "SQLite", "SQLite")
    assert found == Grade(verdict, "It says so.")
    assert "<expected>SQLite</expected>" in fake_anthropic.requests[0].body["messages"][0]["content"]


def test_a_verdict_of_its_own_is_no_grade(fake_anthropic: FakeAnthropic, client: Client) -> None:
    fake_anthropic.then(called("grade", {"verdict": "mostly", "reason": "x"}))
    with pytest.raises(CallFailed) as caught:
        grade(client, "m", "Which store?", "SQLite", "SQLite")
    assert caught.value.kind == "malformed"


def test_next_actions_are_asked_for_as_often_as_wanted(fake_anthropic: FakeAnthropic, client: Client) -> None:
    for target in ("cache.py", " cache.py ", "store.py"):
        fake_anthropic.then(called("act", {"tool": "read", "target": target}))
    found = next_action(client, "m", CONTEXT, ["read", "edit", "read"], replicates=3)
    assert found == (Action("read", "cache.py"), Action("read", "cache.py"), Action("read", "store.py"))
    rules = fake_anthropic.requests[0].body["tools"][0]["input_schema"]["properties"]
    assert rules["tool"]["enum"] == ["read", "edit"]


def test_an_action_is_one_of_the_tools(fake_anthropic: FakeAnthropic, client: Client) -> None:
    fake_anthropic.then(called("act", {"tool": "delete", "target": "."}))
    with pytest.raises(CallFailed):
        next_action(client, "m", CONTEXT, ["read"])
    with pytest.raises(ValueError, match="needs a tool"):
        next_action(client, "m", CONTEXT, [])
