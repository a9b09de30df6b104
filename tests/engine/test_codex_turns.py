"""Who started a Codex compaction, by its place in the turn, and the reasoning that Codex counts beside the usage."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

import pytest

from sessions.engine.packing.pack import pack, unpack
from sessions.engine.reading.reading import read_transcripts
from sessions.engine.weigh.calibration.calibrate import weigh
from sessions.engine.why.recorded import compare
from sessions.engine.why.verdicts import verdicts_of
from tests.engine.verdict_files import png, words

if TYPE_CHECKING:
    from sessions.engine.transcript.types import RecordedCompaction, Transcript

WINDOW = 258_400
"""As a rollout records it: 272,000 less the reserve, so that the limit is 244,800."""


class Rollout:
    """The lines of a rollout; ``total`` makes every usage another call's."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.total = 0
        self.line("session_meta", {"id": "t", "cli_version": "0.142.5", "model_provider": "openai"})
        self.line("turn_context", {"model": "gpt-5.5"})

    def line(self, kind: str, payload: dict[str, Any]) -> Rollout:
        self.lines.append(json.dumps({"timestamp": "2026-07-01T10:00:00Z", "type": kind, "payload": payload}))
        return self

    def event(self, kind: str, **facts: Any) -> Rollout:
        return self.line("event_msg", {"type": kind, **facts})

    def starts(self) -> Rollout:
        return self.event("task_started", model_context_window=WINDOW)

    def ends(self) -> Rollout:
        return self.event("task_complete")

    def prompt(self) -> Rollout:
        return self.item(type="message", role="user", content=[{"type": "input_text", "text": words(20)}])

    def item(self, **item: Any) -> Rollout:
        return self.line("response_item", item)

    def call(self, context: int, reasoning: int = 0, encrypted: str | None = None, *, window: int = WINDOW) -> Rollout:
        """Reasoning, a call with its result, and the usage of both."""
        self.total += context
        thought: dict[str, Any] = {"type": "reasoning", "summary": []}
        self.item(**thought | ({} if encrypted is None else {"encrypted_content": encrypted}))
        call = f"c{len(self.lines)}"
        self.item(type="function_call", name="shell", arguments="{}", call_id=call)
        self.item(type="function_call_output", call_id=call, output=words(20))
        used = {"input_tokens": context, "output_tokens": reasoning + 20, "reasoning_output_tokens": reasoning}
        info = {"last_token_usage": used, "total_token_usage": {"n": self.total}, "model_context_window": window}
        return self.event("token_count", info=info)

    def says(self) -> Rollout:
        return self.item(type="message", role="assistant", content=[{"type": "output_text", "text": "Done."}])

    def compacted(self, summary: str | None = None) -> Rollout:
        """What was kept, and the encrypted summary, where "" stands for one that the file lacks."""
        kept = {
            "type": "message",
            "role": "user",
            "content": [
                {
                    "type": "input_text",
                    "text": "What was done until here, what is left to do, and where the files of it stand. " * 3,
                }
            ],
        }
        held = {} if summary is None else {"encrypted_content": summary}
        made = [] if summary == "" else [{"type": "compaction", **held}]
        return self.line("compacted", {"message": "", "replacement_history": [kept, *made]})

    def transcript(self) -> Transcript:
        (found,) = read_transcripts(io.BytesIO("\n".join(self.lines).encode()), "rollout.jsonl").transcripts
        return found


def only(transcript: Transcript) -> RecordedCompaction:
    (found,) = transcript.compactions
    return found


def turn(context: int = 20_000) -> Rollout:
    """A whole turn."""
    return Rollout().starts().prompt().call(context).says().ends()


@pytest.mark.parametrize(
    ("file", "trigger"),
    [
        (turn().starts().compacted().ends(), "manual"),
        (turn().starts().compacted().event("context_compacted").ends().starts().prompt().call(900), "manual"),
        (turn().starts().compacted().prompt().call(900).ends(), "auto"),
        (turn().starts().prompt().call(50_000).compacted().call(900), "auto"),
        (turn().starts().prompt().compacted().call(900).ends(), "auto"),
        (Rollout().prompt().call(50_000).compacted().call(900), "auto"),
        (Rollout().prompt().call(50_000).says().compacted().prompt().call(900), None),
        (turn().starts().compacted().event("turn_aborted"), None),
        (turn().starts().compacted(), None),
        (Rollout().prompt().call(50_000).event("turn_aborted").compacted().prompt().call(900), None),
    ],
)
def test_who_started_a_compaction_shows_by_its_place_in_the_turn(file: Rollout, trigger: str | None) -> None:
    """Alone in a turn: by hand; before or amid work: automatic; broken off or without a start: not known."""
    assert only(file.transcript()).trigger == trigger


def test_an_item_and_its_line_are_one_compaction() -> None:
    """The remote way leaves both, and neither is work of the turn."""
    file = turn().starts().item(type="compaction", encrypted_content="x" * 40).compacted().ends()
    assert only(file.transcript()).trigger == "manual"


def near_the_limit(encrypted: str | None, reasoning: int = 600) -> Transcript:
    """The transcript of a rollout near the limit."""
    return thoughtful(encrypted, reasoning).transcript()


def thoughtful(encrypted: str | None, reasoning: int = 600, summary: str | None = None) -> Rollout:
    """38 replies that thought, then a turn whose usage, 216,400, stands under the limit of 244,800."""
    file = Rollout().starts().prompt()
    for n in range(38):
        file.call(20_000 + 5_000 * n, reasoning, encrypted)
    return file.says().ends().starts().prompt().call(216_380).compacted(summary).call(25_000)


@pytest.mark.parametrize("encrypted", [None, "", "REDACTED", "x" * 4_898])
def test_reasoning_that_the_file_lost_is_counted_by_usage(encrypted: str | None) -> None:
    """38 × 600 × 1.26 = 28,728 (policies 6.1); 4,898 letters hold 756 tokens by themselves, as many."""
    transcript = near_the_limit(encrypted)
    (one,) = compare(weigh(transcript)).compared
    assert (one.outcome, one.trigger) == ("hit", "auto")
    assert one.gate is not None
    assert one.gate.measure - 216_400 == pytest.approx(28_728, abs=60)
    is_lost = len(encrypted or "") < 1_000
    assert [reason for reason in one.reasons if "estimated" in reason] == (
        ["28,728 tokens of it are estimated: the file lacks the reasoning that the client kept"] if is_lost else []
    )


@pytest.mark.parametrize("summary", ["", "REDACTED", "x" * 600])
def test_a_summary_that_was_taken_out_is_not_told_as_none_nor_as_short(summary: str) -> None:
    """Whoever published the file left it out: what Codex wrote is not known."""
    (verdict,) = verdicts_of(weigh(thoughtful(None, summary=summary).transcript()))
    assert "without a summary" not in verdict.because
    assert "its summary has" not in verdict.because
    assert ("the file holds no summary of them" in verdict.because) is (summary == "")


def test_recorded_and_why_tell_the_same() -> None:
    """The threshold was passed with the reasoning of earlier turns, and the row says that it is an estimate."""
    (verdict,) = verdicts_of(weigh(near_the_limit(None)))
    assert (verdict.cause, verdict.certainty, verdict.trigger) == ("threshold_reached", "likely", "auto")
    assert "28,728 of them reasoning that the file lacks" in verdict.because
    rows = [(row.text, row.label) for row in verdict.evidence if "also counts" in row.text]
    text = "Codex also counts 28,728 tokens of reasoning of earlier turns, estimated by usage: the file lacks it"
    assert rows == [(text, "estimated")]


@pytest.mark.parametrize("code", ["other", "server_overloaded", {"http_connection_failed": {"http_status_code": 503}}])
def test_a_compaction_that_failed_is_told_whatever_its_code(code: object) -> None:
    """Six tries at the limit, and no compaction: the code that Codex gives beside the message hides none."""
    file = Rollout().starts().prompt().call(245_000)
    for _ in range(6):
        file.event("error", message="Error running remote compact task: We're at capacity.", codex_error_info=code)
    transcript = file.transcript()
    assert [(e.kind, e.count, e.of_compaction) for e in transcript.errors] == [("compaction", 6, True)]
    assert verdicts_of(weigh(transcript))[0].cause == "compaction_failed"


def test_a_picture_that_a_compaction_keeps_is_one_message() -> None:
    """The history repeats it without its detail: it is preserved, and no second picture is made."""
    part = {"type": "input_image", "image_url": f"data:image/png;base64,{png(4_000, 900)}"}
    said = {"type": "message", "role": "user"}
    file = Rollout().starts().item(**said, content=[part | {"detail": "high"}]).call(50_000)
    history = [said | {"content": [part]}, {"type": "compaction", "encrypted_content": "x" * 40}]
    transcript = file.line("compacted", {"message": "", "replacement_history": history}).call(9_000).transcript()
    assert transcript.n_images == 1
    assert only(transcript).preserved == (0,)


def test_a_window_is_that_of_its_turn() -> None:
    """A turn of a model with a window of 128,000 is held against it, the others against theirs; packed alike."""
    file = Rollout().starts().prompt().call(50_000).says().ends()
    file.line("turn_context", {"model": "gpt-5.3-codex-spark"}).event("task_started", model_context_window=121_600)
    file.prompt().call(60_000, window=121_600).says().ends()
    file.line("turn_context", {"model": "gpt-5.5"}).starts().prompt().call(70_000)
    transcript = file.transcript()
    assert transcript.window == 272_000
    assert [(request.model, request.window) for request in transcript.requests] == [
        *[("gpt-5.5", 0)] * 2, *[("gpt-5.3-codex-spark", 128_000)] * 2, ("gpt-5.5", 0),
    ]  # fmt: skip
    assert unpack(pack(transcript)).requests[2] == transcript.requests[2]
    weighed = weigh(transcript)
    assert [held.window for held in weighed.held] == [
        transcript.requests[step.request].window or 272_000 for step in weighed.steps
    ]


def test_reasoning_of_the_turn_itself_is_in_the_usage() -> None:
    """Nothing before the last prompt: the usage alone counts, and the file's compaction is not met."""
    file = Rollout().starts().prompt()
    for n in range(38):
        file.call(20_000 + 5_000 * n, 600)
    (one,) = compare(weigh(file.compacted().call(25_000).transcript())).compared
    assert one.outcome == "missed"
    assert not [reason for reason in one.reasons if "estimated" in reason]


def with_history(*extra: dict[str, Any]) -> Transcript:
    """A compaction in a turn that kept both prompts, as a file has them whose keys were sorted; 25,000 after it."""
    file = Rollout().starts().prompt().call(20_000).says().ends().starts().prompt().call(245_000)
    kept = {"content": [{"text": words(20), "type": "input_text"}], "role": "user", "type": "message"}
    return (
        file.line("compacted", {"message": "", "replacement_history": [kept, kept, *extra]}).call(25_000).transcript()
    )


def test_a_kept_item_is_known_whatever_the_order_of_its_keys() -> None:
    transcript = with_history()
    typed = [message.index for message in transcript.messages if message.typed]
    assert (list(only(transcript).preserved), len(typed)) == (typed, 2)


@pytest.mark.parametrize("extra", [(), ({"type": "compaction"},)])
def test_a_summary_that_the_file_lost_weighs_what_the_next_context_leaves_for_it(extra: Any) -> None:
    """The list after is the measured 25,000, whether its item stands there without its content or not at all."""
    (one,) = compare(weigh(with_history(*extra))).compared
    assert one.after is not None
    assert (one.outcome, one.after.tokens_recorded) == ("hit", 25_000)
    assert one.after.tokens_policy == pytest.approx(25_000, abs=100)
