"""The openhands format, on small files of our own."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from sessions.engine.reading.formats._openhands_v0 import contents_of_event
from sessions.engine.reading.formats._openhands_v1 import condenser_limit
from sessions.engine.reading.jsonio import dumps
from sessions.engine.reading.reading import read_contents, read_transcripts
from sessions.engine.replays.initial_params import starting
from sessions.engine.transcript.types import Kind, Parsed, Role
from sessions.engine.weigh.calibration.calibrate import weigh
from tests.engine.truth_facts import fixture

FIXTURES = Path(__file__).parent.parent / "fixtures" / "transcripts" / "openhands"


def read(name: str) -> Parsed:
    with (FIXTURES / name).open("rb") as file:
        return read_transcripts(file, name)


def test_an_output_file_holds_one_session_a_line() -> None:
    first, second = read("output.jsonl").transcripts
    assert (first.id, second.id) == ("one", "two")
    assert (first.client, first.model, second.model) == ("0.40.0", "claude-sonnet-4-5", "gpt-4o")
    assert [block.name for block in first.system] == ["execute_bash"]


def test_calls_of_one_response_are_messages_of_one_request() -> None:
    session = read("output.jsonl").transcripts[0]
    assert [m.id for m in session.messages] == ["0", "1", "2", "4", "5", "6", "7", "8", "9", "10", "11", "13"]
    assert [(r.message, r.response_id) for r in session.requests] == [(4, "resp-1"), (8, "resp-2"), (11, "resp-3")]
    assert [[b.kind for b in session.messages[i].blocks] for i in (4, 5)] == [
        [Kind.TEXT, Kind.TOOL_USE],
        [Kind.TOOL_USE],
    ]
    assert [r.n_messages for r in session.requests] == [2, 1, 1]
    usage = session.requests[0].usage
    assert usage
    assert (usage.input, usage.cache_read, usage.context, usage.output) == (800, 200, 1000, 40)


def test_a_condensation_forgets_what_it_says_and_keeps_the_rest() -> None:
    session = read("output.jsonl").transcripts[0]
    (compaction,) = session.compactions
    assert (compaction.boundary, compaction.request, compaction.message) == (10, 2, 10)
    assert compaction.preserved == (0, 1, 2, 8, 9)
    assert (compaction.tokens_before, compaction.tokens_after) == (1130, 700)
    summary = session.messages[10]
    assert (summary.role, summary.summary, summary.compaction) == (Role.USER, True, 0)
    with (FIXTURES / "output.jsonl").open("rb") as file:
        (text,) = read_contents(file, "openhands", summary)
    assert text.text == "The folder holds a.py and b.py."


def test_pictures_of_prompts_and_browsers_count_once() -> None:
    session = read("output.jsonl").transcripts[0]
    assert [m.index for m in session.messages for leaf in m.leaves() if leaf.kind is Kind.IMAGE] == [1, 9]


def test_usage_by_order_where_replies_have_no_id() -> None:
    session = read("output.jsonl").transcripts[1]
    assert [(r.message, r.usage.input, r.usage.cache_read) for r in session.requests if r.usage] == [
        (1, 40, 10),
        (3, 80, 0),
    ]
    assert session.messages[2].blocks[0].call_id == session.messages[1].blocks[-1].call_id == "1"
    assert session.messages[2].blocks[0].is_error


def test_v1_events_take_usage_from_totals_that_grew_by_one_call() -> None:
    session = read("events_v1.jsonl").transcripts[0]
    assert [r.response_id for r in session.requests] == ["r1", "r2", "r3"]
    used = [r.usage for r in session.requests]
    assert used[0]
    assert used[1]
    assert (used[0].input, used[0].cache_read, used[0].output) == (800, 100, 20)
    assert (used[1].input, used[1].cache_read, used[1].output) == (800, 800, 40)
    assert used[2] is None, "the growth is not what the recorder says of the last turn"


def test_v1_condensation_thinking_and_results() -> None:
    session = read("events_v1.jsonl").transcripts[0]
    (compaction,) = session.compactions
    assert (compaction.request, compaction.message, compaction.preserved) == (2, 8, (0, 1, 6, 7))
    assert [b.kind for b in session.messages[2].blocks] == [Kind.THINKING, Kind.TEXT, Kind.TOOL_USE]
    assert [b.kind for b in session.messages[6].blocks] == [Kind.TEXT, Kind.TOOL_USE], "thinking that is said again"
    assert session.messages[5].blocks[0].is_error
    assert session.messages[1].typed
    assert session.n_images == 2


def test_what_is_not_context_is_counted_by_kind() -> None:
    assert "Events that are not context: 1 × SomethingNewEvent" in read("events_v1.jsonl").warnings


def test_older_pairs_of_action_and_observation() -> None:
    (session,) = read("pairs.json").transcripts
    assert [m.role for m in session.messages] == [Role.ASSISTANT, Role.USER, Role.ASSISTANT]
    assert session.messages[1].origins[0].path == (0, 1)


@pytest.mark.parametrize(
    ("event", "said"),
    [
        (
            {"metadata": {"prefix": "[Below]\n", "suffix": "\n[Done.]", "working_dir": "/src", "exit_code": 2}},
            "[Below]\nfour\n[Done.]\n[Current working directory: /src]\n[Command finished with exit code 2]",
        ),
        (
            {"metadata": {"suffix": "", "py_interpreter_path": "/bin/python", "exit_code": 0}},
            "four\n[Python interpreter: /bin/python]\n[Command finished with exit code 0]",
        ),
        ({"metadata": {"exit_code": -1}}, "four"),
        ({}, "four"),
    ],
)
def test_a_command_s_output_is_what_the_model_is_told(event: dict[str, object], said: str) -> None:
    whole = {"id": 3, "cause": 2, "observation": "run", "content": "four", "extras": event}
    (block,) = contents_of_event(whole)
    assert (block.kind, block.text, block.call_id) == (Kind.TOOL_RESULT, said, "2")


def test_an_error_says_so() -> None:
    (block,) = contents_of_event({"id": 3, "cause": 2, "observation": "error", "content": "no such file"})
    assert block.text == "no such file\n[Error occurred in processing last action]"
    assert block.is_error


def test_events_of_the_resolver_have_no_source_and_answer_what_stands_before_them() -> None:
    (session,) = fixture("openhands/resolver.jsonl").transcripts
    assert session.id == "issue-7"
    assert [(str(m.role), [str(b.kind) for b in m.blocks]) for m in session.messages] == [
        ("user", ["text"]),
        ("assistant", ["text", "tool_use"]),
        ("user", ["tool_result"]),
        ("assistant", ["text"]),
        ("user", ["text"]),
        ("assistant", ["tool_use"]),
        ("user", ["tool_result"]),
        ("assistant", ["text", "tool_use"]),
    ]
    assert [m.result_ids() for m in session.messages if m.result_ids()] == [{"event-1"}, {"event-5"}]
    assert [m.preview for m in session.messages if m.typed] == ["Fix the grey fence", "Please continue"]


@pytest.mark.parametrize(("n", "sent"), [(29_999, 29_999), (30_000, 30_000), (30_001, 30_047), (132_954, 30_047)])
def test_a_long_observation_is_sent_as_its_two_ends(n: int, sent: int) -> None:
    event = {"observation": "mcp", "source": "environment", "content": "a" * (n // 2) + "b" * (n - n // 2)}
    (content,) = contents_of_event(event)
    assert len(content.text) == sent
    assert content.text.startswith("a" * 14_000)
    assert content.text.endswith("b" * 14_000)


def test_what_was_read_from_a_file_is_sent_whole() -> None:
    (content,) = contents_of_event({"observation": "read", "source": "environment", "content": "a" * 40_000})
    assert len(content.text) == 40_000


def test_a_recall_is_an_event_of_the_list_that_sends_nothing() -> None:
    session = read("output.jsonl").transcripts[0]
    recall = session.messages[2]
    assert (recall.role, recall.blocks, recall.typed) == (Role.USER, (), False)


@pytest.mark.parametrize(("settings", "limit"), [
    ({"condenser_config": {"type": "llm", "max_size": 80, "keep_first": 4}}, 80),
    ({"agent": {"condenser": {"kind": "LLMSummarizingCondenser", "max_size": 240}}}, 240),
    ({"agent_config": {"condenser": {"max_size": 100}}}, 100),
    ({"condenser_config": {"type": "noop"}}, None), ({"condenser": []}, None), (None, None),
])  # fmt: skip
def test_the_limit_of_the_condenser_is_what_the_file_states(settings: object, limit: int | None) -> None:
    assert condenser_limit(settings) == limit


def test_a_replay_starts_from_the_limit_that_the_file_states() -> None:
    event = {"id": 1, "source": "user", "timestamp": "2026-03-01T10:00:00", "action": "message"}
    history = [
        {**event, "args": {"content": "Go on."}},
        {**event, "id": 2, "source": "agent", "args": {"content": "Ok"}},
    ]
    holder = {"instance_id": "one", "metadata": {"condenser_config": {"max_size": 80}}, "history": history}
    session = read_transcripts(io.BytesIO(dumps(holder).encode()), "o.jsonl").transcripts[0]
    assert session.events_at == 80
    for policy in ("openhands_llm_summarizing", "openhands_sdk", "openhands_amortized"):
        assert starting(weigh(session), policy)[:2] == ({"max_size": 80}, "as the file states")
