"""Lists of messages in JSON that no format knows, on small files of our own; and known files inside other ones."""

from __future__ import annotations

import io

import pytest

from sessions.engine.reading.jsonio import dumps
from sessions.engine.reading.reading import NotATranscript, read_transcripts
from sessions.engine.transcript.types import Transcript, Usage
from sessions.engine.weigh.calibration.calibrate import weigh
from sessions.engine.why.headline import headline
from sessions.engine.why.orphans import parted_results, parted_sentence
from sessions.engine.why.verdicts import verdicts_of
from tests.engine.test_formats_contract import FIXTURES, read
from tests.engine.told import Told

LISTS = FIXTURES / "message_lists"
ALONE = "Read by its messages: of what else this file records, only the usual is known"

BOTH = ("user", "assistant")


def told_of(record: dict[str, object]) -> list[str]:
    """The first lines about the sessions of a file."""
    found = map(weigh, read_transcripts(io.BytesIO(dumps(record).encode())).transcripts)
    return [headline(weighed, verdicts_of(weighed)) for weighed in found]


def contexts(session: Transcript) -> list[int]:
    return [request.usage.context if request.usage else 0 for request in session.requests]


def test_a_history_with_results_beside_its_messages_a_summary_and_a_refusal() -> None:
    (session,) = read(LISTS / "history.json").transcripts
    assert [(str(m.role), [str(b.kind) for b in m.blocks]) for m in session.messages[:5]] == [
        ("user", ["text"]),
        ("assistant", ["text", "tool_use"]),
        ("user", ["tool_result"]),
        ("assistant", ["text", "tool_use"]),
        ("user", ["tool_result"]),
    ]
    assert session.messages[2].result_ids() == {"call_0"}
    assert (session.id, session.title, session.window, session.model) == ("s-1", "Flicker", 8_192, "small-chat")
    assert contexts(session) == [1_200, 5_400, 900]
    assert [(c.request, c.message, c.preserved) for c in session.compactions] == [(2, 5, ())]
    assert [(e.request, e.tokens, e.limit, e.code) for e in session.errors] == [
        (3, 9_301, 8_192, "context_length_exceeded")
    ]
    assert session.warnings == (ALONE,)


def test_lines_of_which_the_first_is_no_message() -> None:
    parsed = read(LISTS / "lines.jsonl")
    assert [str(m.role) for m in parsed.transcripts[0].messages] == ["user", "assistant", "user", "assistant"]
    assert [skipped.reason for skipped in parsed.skipped] == ["an object without messages"]


def test_what_runs_send_again_is_read_once() -> None:
    (session,) = read(LISTS / "runs.json").transcripts
    assert (session.id, session.model, contexts(session)) == ("s-2", "tiny-1", [310, 350])
    assert session.warnings == ("Messages marked as sent again from history: 2; each is read once", ALONE)


def test_a_list_that_repeats_the_one_beside_it_is_read_once_and_steps_tell_of_its_replies() -> None:
    found = read(LISTS / "steps.json")
    (session,) = found.transcripts
    assert found.warnings == ("Lists that repeat the messages of one beside them: 1; each is read once",)
    assert len(session.messages) == 6
    assert [(r.message, r.usage) for r in session.requests] == [
        (1, Usage(4, cache_write=40, output=21)),
        (3, Usage(4, cache_read=40, cache_write=30, output=64)),
        (5, Usage(4, cache_read=70, cache_write=70, output=5)),
    ]
    assert [(e.kind, e.request, e.code) for e in session.events] == [("reply cut off", 2, "max_tokens")]


def test_lists_beside_each_other_that_differ_are_sessions_of_their_own() -> None:
    said = [{"role": role, "content": f"{role} {n}"} for n in range(2) for role in ("user", "assistant")]
    held = {"first": said, "second": [*said[:3], {"role": "assistant", "content": "Something else."}]}
    assert len(read_transcripts(io.BytesIO(dumps(held).encode())).transcripts) == 2


def test_a_session_for_each_topic_that_messages_name() -> None:
    sessions = read(LISTS / "topics.json").transcripts
    assert [(session.id, session.model, contexts(session)) for session in sessions] == [
        ("a", "sees-1", [420]),
        ("b", "sees-1", [420]),
    ]
    assert all(str(session.messages[0].blocks[1].kind) == "image" for session in sessions)


@pytest.mark.parametrize("path", ["claude_code/rewind.jsonl", "pi/version_3_tree.jsonl", "tau2/one_simulation.json"])
def test_a_known_file_inside_another_is_read_as_what_it_is_and_two_are_refused(path: str) -> None:
    data = (FIXTURES / path).read_bytes()
    inside = b"[" + (data if path.endswith(".json") else b",".join(data.strip().splitlines())) + b"]"
    name = path.split("/", maxsplit=1)[0]
    wrapped = read_transcripts(io.BytesIO(b'{"kept": ' + inside + b"}"), "kept.json")
    assert {transcript.format for transcript in wrapped.transcripts} == {name}
    with pytest.raises(NotATranscript) as caught:
        read_transcripts(io.BytesIO(b'{"kept": ' + inside + b', "more": ' + inside + b"}"), "kept.json")
    assert "under 'kept'" in caught.value.next_step


def told(document: object) -> list[Transcript]:
    return list(read_transcripts(io.BytesIO(dumps(document).encode()), "notes.json").transcripts)


def said(*words: str) -> list[dict[str, object]]:
    """A conversation of these words, a user's first."""
    return [{"role": ("user", "assistant")[n % 2], "content": text} for n, text in enumerate(words)]


def test_what_stands_in_an_entry_of_a_list_is_about_that_entry_alone() -> None:
    chats = [
        {"id": n, "title": title, "contextLength": 8_192 * n, "messages": said("Hello", "Hi", "More", title)}
        for n, title in ((1, "First"), (2, "Second"))
    ]
    found = told({"chats": chats})
    assert [(t.id, t.title, t.window, len(t.messages)) for t in found] == [
        ("1", "First", 8_192, 4),
        ("2", "Second", 16_384, 4),
    ]
    both = told({"id": "x", "messages": said("Hello", "Hi"), "history": said("Hello", "You")})
    assert [len(t.messages) for t in both] == [2, 2]
    twice = told({"id": "x", "messages": said("Hello", "Hi"), "history": said("Hello", "Hi")})
    assert [len(t.messages) for t in twice] == [2]


def test_keys_in_capitals_are_the_same_keys() -> None:
    (found,) = told({"Log": [{"Role": "user", "Content": "Hello"}, {"Role": "assistant", "Content": "Hi"}]})
    assert [str(m.role) for m in found.messages] == ["user", "assistant"]


def test_a_tools_error_is_no_refusal_and_an_answer_beside_an_error_stands() -> None:
    log = [
        *said("Read it"),
        {"role": "assistant", "content": "I look", "error": {}},
        {"role": "tool", "tool_call_id": "c1", "content": "none", "error": "ENOENT"},
        {"role": "assistant", "content": "Half an answer", "error": "connection lost"},
    ]
    (found,) = told({"log": log})
    assert [m.preview for m in found.messages] == ["Read it", "I look", "none", "Half an answer"]
    assert [(event.words, event.request) for event in found.events] == [("connection lost", 1)]


def test_counts_with_the_whole_prompt_beside_its_cached_part() -> None:
    usage = {"prompt_tokens": 12_000, "completion_tokens": 300, "cache_read_input_tokens": 11_000}
    log = said("Hello", "Hi")
    log[1]["usage"] = usage
    (found,) = told({"log": log})
    assert contexts(found) == [12_000]


def test_one_speaker_alone_is_no_conversation() -> None:
    data = dumps({"queue": [{"role": "user", "content": "One"}, {"role": "user", "content": "Two"}]}).encode()
    with pytest.raises(NotATranscript):
        read_transcripts(io.BytesIO(data), "queue.json")


def test_semantic_kernels_items_are_blocks_and_its_summary_stands_for_what_was_before() -> None:
    (session,) = read(LISTS / "kernel.json").transcripts
    assert [(m.summary, [str(b.kind) for b in m.blocks]) for m in session.messages] == [
        (True, ["text"]), (False, ["tool_result"]), (False, ["tool_result"]), (False, ["tool_use"]),
        (False, ["tool_result"]), (False, ["text"]), (False, ["text"]),
    ]  # fmt: skip
    assert session.messages[3].call_ids() == session.messages[4].result_ids() == {"call_3"}
    parted = "After its summary 2 tool results stand without their calls: providers refuse such a list."
    assert parted_sentence(session) == parted
    weighed = weigh(session)
    assert parted in headline(weighed, verdicts_of(weighed))


@pytest.mark.parametrize(
    ("preserved", "behind", "n"),
    [((), "c1", 1), ((1,), "c1", 0), ((1, 2), "", 0), ((2,), "", 1), ((1, 2), "c2", 1)],
    ids=["the call is gone", "the call is kept", "both are kept", "the result alone is kept", "a later call is gone"],
)
def test_results_are_parted_whose_calls_a_compaction_took(preserved: tuple[int, ...], behind: str, n: int) -> None:
    one = Told()
    one.prompt("Count the sacks.")
    one.reply("I count.", c1=("Bash", {"command": "count"}))
    one.result("c1", "twelve")
    one.reply("Again.", c2=("Bash", {"command": "count"}))
    one.compact("Sacks are counted.", preserved=preserved)
    if behind:
        one.result(behind, "twelve")
    one.reply("Twelve.")
    assert parted_results(one.transcript()) == n


def test_items_that_are_no_parts_leave_a_message_as_it_is() -> None:
    cart = [{"role": "user", "content": "Two lamps.", "items": [{"sku": 1}]}]
    rows = [{"messages": [*cart, {"role": "assistant", "content": "Both are here.", "items": []}], "cart": 7}]
    (session,) = read_transcripts(io.BytesIO(dumps(rows).encode()), "cart.json").transcripts
    assert [(message.preview, [str(b.kind) for b in message.blocks]) for message in session.messages] == [
        ("Two lamps.", ["text"]), ("Both are here.", ["text"]),
    ]  # fmt: skip


def test_what_stands_in_place_of_messages_beside_their_list() -> None:
    """LobeHub's groups, whose summary may be empty; PicoClaw's summary of messages that are in the file no more."""
    said = [{"role": role, "content": f"Notes on ferry {n}", "messageGroupId": "g"} for n in range(2) for role in BOTH]
    groups = [{"id": "g", "type": "compression", "content": ""}]
    new = [{"role": role, "content": "About what?"} for role in BOTH]
    (lobe,) = told_of({"data": {"messageGroups": groups, "messages": [*said, *new]}, "mode": "postgres"})
    assert "its summary of 4 messages is empty" in lobe
    words = f"The user asked for the opening hours of the ferry. {'It is long. ' * 8}No answer was given."
    (pico,) = told_of({"key": "agent:main", "messages": new, "summary": words, "updated": "2026-02-25"})
    assert 'Compacted before the first request: the summary, of 38 words, says itself "No answer was given"' in pico
