"""The account of evidence: what each class of event says first, how sure; no session that died reads as well."""

from __future__ import annotations

import base64
import dataclasses
import io
import json
import random
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sessions.engine.base.errors import EngineError
from sessions.engine.reading.reading import read_transcripts
from sessions.engine.transcript.recorded_events import EventKind, RecordedEvent
from sessions.engine.transcript.types import ProviderError
from sessions.engine.weigh.calibration.calibrate import weigh
from sessions.engine.why.account import MOST_OPEN, Explanation, Fact, remaining
from sessions.engine.why.headline import headline, headline_of
from sessions.engine.why.steps import STEPS
from sessions.engine.why.verdicts import ENDS, verdicts_of
from tests.engine.sessions import Build
from tests.engine.test_why_reports import ALL
from tests.engine.verdict_files import Codex, Opencode, Pi, weighed_text, words
from tests.why_cases import claude as c
from tests.why_cases.agents import Copilot

if TYPE_CHECKING:
    from sessions.engine.weigh.calibration.weighed import Weighed
    from sessions.engine.why.headline import Headline

PLAN = "Error: Error during compaction: API Error: Extra usage is required for 1M context · run /extra-usage to enable"
BUSY = "Error running remote compact task: We're currently experiencing high demand, which may cause temporary errors."


def first(weighed: Weighed) -> Headline:
    """The first lines about a session."""
    return headline_of(weighed, verdicts_of(weighed))


def failed_by_command(text: str, context: int, *, times: int = 1) -> Weighed:
    """/compact in Claude Code, answered by an error."""
    session = c.claude().until(context)
    session.reply()
    for _ in range(times):
        session.emit("system", subtype="local_command", content="<command-name>/compact</command-name>")
        said = f"<local-command-stderr>{text}</local-command-stderr>"
        session.emit("system", subtype="local_command", content=said)
    return session.weighed()


def test_a_failed_command_is_told_in_its_own_words() -> None:
    """What they mean comes first; the advice is not the command that failed."""
    told = first(failed_by_command(PLAN, 150_000, times=3))
    assert (told.cause, told.certainty) == ("compaction_failed", "certain")
    assert told.what.startswith("Compaction failed 3 times")
    assert "the plan does not cover it" in told.why
    assert '"Extra usage is required for 1M context · run /extra-usage to enable"' in told.why
    assert "command" not in told.change
    assert "plan" in told.change


def test_a_service_that_was_overloaded_is_no_matter_of_size() -> None:
    session = Codex()
    session.prompt()
    session.until(230_000)
    for _ in range(6):
        session.line("event_msg", {"type": "error", "message": BUSY, "codex_error_info": "other"})
    told = first(session.weighed())
    assert told.what.startswith("Compaction failed 6 times")
    assert told.why.startswith("the service was overloaded")
    assert told.change == "Try again later."


@pytest.mark.parametrize(("context", "cause"), [(118_000, "cannot_tell"), (185_000, "summary_request_too_long")])
def test_words_of_a_size_are_held_against_the_context(context: int, cause: str) -> None:
    """ "Too long" at 59% of the window is quoted, and contradicted by its size; at 92% it is believed."""
    text = "Error: Error during compaction: Error: Conversation too long. Press esc twice and try again."
    told = first(failed_by_command(text, context))
    assert told.cause == cause
    if cause == "cannot_tell":
        assert '"Conversation too long. Press esc twice and try again."' in told.why
        assert "of the model's window: why it did not fit is not recorded" in told.why
        assert told.certainty == "unknown"


def test_an_answer_larger_than_the_recorded_window_contradicts_it() -> None:
    """24,000 were answered with a window of 2,560: the window is wrong, and overhead is no explanation."""
    session = Codex(window=2_432, overhead=24_000)
    for _ in range(4):
        session.prompt()
        session.turn(40)
        session.compact(summary=60)
    session.turn(40)
    told = first(session.weighed())
    assert (told.cause, told.certainty) == ("wrong_window", "certain")
    assert "were answered" in told.why


@pytest.mark.parametrize(
    ("typed", "cause", "certainty"),
    [(False, "asked_at_turn_end", "possible"), (True, "fallback_window", "possible")],
)
def test_one_run_into_a_small_window(typed: bool, cause: str, certainty: str) -> None:
    """pi asks when a run ends, whatever window it took the local model for; over 47,617 it was asked, or not."""
    session = Pi(model="qwen3.6-27b-q4")
    session.prompt()
    session.until(52_000)
    if typed:
        session.prompt()
    session.until(63_000)
    session.refuse("400 request (64038 tokens) exceeds the available context size (64000 tokens)")
    told = first(session.weighed())
    assert (told.cause, told.certainty) == (cause, certainty)
    assert "47,617" in told.why
    assert "64,000" in told.why


def test_a_limit_on_the_input_moves_the_threshold() -> None:
    """gpt-5.5 takes 1,050,000; opencode under an input limit of 272,000 compacts from 252,000."""
    session = Opencode(model="gpt-5.5")
    session.prompt()
    session.until(251_800)
    session.turn(1_200)
    session.turn(100)
    session.compact()
    session.turn(300)
    told = first(session.weighed())
    assert (told.cause, told.certainty) == ("wrong_window", "possible"), "one of eight windows that are tried"
    assert "272,000" in told.why


def test_what_the_agent_counted_of_its_tools_goes_before_an_estimate() -> None:
    session = Copilot(model="claude-opus-4.7-1m-internal", system=12_000, tools=160_000).prompt()
    session.compact()
    for _ in range(3):
        session.turn(900)
    told = first(session.compact().turn(300).weighed())
    assert (told.cause, told.certainty) == ("overhead_near_threshold", "likely")
    assert "172,000 of the 172,050 tokens that the agent counted" in told.why


@pytest.mark.parametrize(("reported", "cause"), [(40_960, "prompt_cut_by_server"), (None, "")])
def test_a_usage_that_stands_still(reported: int | None, cause: str) -> None:
    """The server cuts the prompt there; the same session whose usage grows has nothing to tell."""
    session = Opencode(model="qwen3-coder")
    session.prompt()
    session.until(38_000, 2_000)
    for _ in range(8):
        session.turn(900, whole=reported, cached=None if reported is None else 0)
    told = first(session.weighed())
    assert told.cause == cause
    if cause:
        assert "stands at 40,960 for" in told.why
        assert told.certainty == "likely"


def test_a_summary_of_a_few_fixed_words() -> None:
    """LangChain's words where it could not summarise: nothing of the history is left."""
    text = "Here is a summary of the conversation to date:\n\nPrevious conversation was too long to summarize."
    head = {"type": "human", "content": text, "additional_kwargs": {"lc_source": "summarization"}, "id": "h0"}
    rows = [head | {"response_metadata": {}}]
    for n in range(6):
        usage = {"input_tokens": 9_400 + 1_000 * n, "output_tokens": 70, "total_tokens": 9_470 + 1_000 * n}
        call = {"name": "read_file", "args": {"path": "a.py"}, "id": f"c{n}", "type": "tool_call"}
        facts = {"additional_kwargs": {}, "response_metadata": {}}
        rows.append({"type": "ai", "content": words(40), "tool_calls": [call], "usage_metadata": usage, **facts})
        rows.append({"type": "tool", "content": words(900), "tool_call_id": f"c{n}", "name": "read_file", **facts})
    told = first(weighed_text(json.dumps([{"type": row["type"], "data": row} for row in rows])))
    assert (told.cause, told.certainty) == ("placeholder_summary", "certain")
    assert "Previous conversation was too long to summarize" in told.why


def test_data_as_text_is_named() -> None:
    """A PDF as base64 in a prompt: the message, and what it is, beside the limit."""
    data = base64.b64encode(random.Random(4).randbytes(260_000)).decode()
    session = Pi(model="kimi-k2")
    session.prompt()
    session.turn(400)
    session.entry("message", message={"role": "user", "content": [{"type": "text", "text": f"Read this: {data}"}]})
    session.refuse(
        "400 This model's maximum context length is 262144 tokens. However, your messages resulted in 298018 tokens"
    )
    told = first(session.weighed())
    assert "data as text" in told.why
    assert "262,144" in told.text
    assert told.change != "Send fewer or smaller images in one request."


def stated(n_over: int, *, refused: bool) -> Weighed:
    """Requests that ask for a compaction at 200,000, ``n_over`` of them over it; then a refusal, or none."""
    build = Build(overhead=20_000).turns(20, tokens=8_900)
    errors: tuple[ProviderError, ...] = ()
    build.turns(n_over, tokens=1_000, start=20)
    if refused:
        said = "Your input exceeds the context window of this model."
        errors = (ProviderError("context", len(build.requests), len(build.messages), words=said),)
    return weigh(dataclasses.replace(build.done(), trigger_at=200_000, errors=errors))


@pytest.mark.parametrize("refused", [True, False])
def test_a_trigger_that_the_request_gives_is_passed_and_does_not_fire(refused: bool) -> None:
    told = first(stated(6, refused=refused))
    assert (told.cause, told.certainty) == ("stated_trigger_not_fired", "certain")
    assert "passed 200,000, the trigger that the request gives" in told.why


def test_a_trigger_that_was_just_passed_is_not_missed() -> None:
    assert first(stated(1, refused=False)).cause == ""


def died(kind: str, text: str, **facts: int) -> Weighed:
    """A session at 34,000 of 200,000 tokens whose last event is an error."""
    build = Build(overhead=10_000).turns(40)
    error = ProviderError(kind, len(build.requests), len(build.messages), words=text, **facts)
    return weigh(dataclasses.replace(build.done(), errors=(error,)))


@pytest.mark.parametrize("kind", ["context", "body", "media", "compaction", "thrashing", "other", "server"])
@pytest.mark.parametrize("text", ["Strange words of a gateway that nobody knows", ""])
def test_what_ended_a_session_leads_in_its_own_words(kind: str, text: str) -> None:
    told = first(died(kind, text))
    assert told.verdict is not None
    assert "No compaction" not in told.text
    if text and told.certainty == "unknown":
        assert text in told.text
    if text and kind in ("media", "compaction", "other", "server"):
        assert text in told.text


def with_event(kind: EventKind, *, answered: bool) -> Headline:
    """A session with an event that is no refusal for size, as its last one or with answers after it."""
    build = Build(overhead=10_000).turns(40)
    event = RecordedEvent(kind, len(build.requests), len(build.messages), "The dog ate the socket", count=2)
    if answered:
        build.turns(3, start=40)
    return first(weigh(dataclasses.replace(build.done(), events=(event,))))


NOTED = (EventKind.REPLY_CUT, EventKind.SUBAGENT, EventKind.CONTEXT_LISTED, EventKind.SETTINGS, EventKind.CACHE_UNREAD,
         EventKind.CACHE_NOTED, EventKind.LIMIT_SET, EventKind.COMPACTION_LEFT)  # fmt: skip
"""What is noted of a session that it does not end."""


@pytest.mark.parametrize("kind", NOTED)
def test_what_is_noted_beside_a_session_ends_none(kind: EventKind) -> None:
    told = with_event(kind, answered=False).text
    assert "No compaction. Peak" in told
    assert "Ended" not in told


@pytest.mark.parametrize("kind", [kind for kind in EventKind if kind not in NOTED])
def test_an_event_that_ended_a_session_is_told(kind: EventKind) -> None:
    """Errors, ends and compactions that never ended; what its user interrupted, or what went on, is no end.

    A compaction that was broken off is told wherever it stands.
    """
    told, recovered = with_event(kind, answered=False), with_event(kind, answered=True)
    ended = kind not in (EventKind.RETRY, EventKind.INTERRUPTION, EventKind.MODEL_CHANGE)
    assert ("The dog ate the socket" in told.text) == ended
    assert told.text.startswith("No compaction") != ended
    assert ("Compaction failed 2 times" in told.text) == kind.startswith("compaction")
    assert recovered.text.startswith("No compaction") != (kind is EventKind.COMPACTION_CANCELLED)


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("You have hit your session limit, resets at 3pm", "Wait until the limit resets."),
        ("stream disconnected before completion: transport error", "Try again on a stable connection."),
        ("401 invalid api key", "Sign in again."),
        ("The model gpt-9 does not exist", "Choose a model that the provider offers."),
        ("Something went wrong", ""),
    ],
)
def test_advice_follows_from_the_words(text: str, advice: str) -> None:
    assert first(died("other", text)).change == advice


def test_a_figure_that_is_recorded_is_over_the_words() -> None:
    told = first(died("context", "too many tokens", tokens=90_000, limit=64_000))
    assert "90,000" in told.text
    assert "64,000" in told.text


LACKS = re.compile(r"Missing:|names no size|if the window is|added [\d,]+ tokens to 0\b|smaller images")
"""Wordings that name what we lack, hedge a guess, or advise against the case."""


@pytest.mark.parametrize("name", sorted(ALL))
def test_no_rebuilt_session_that_died_reads_as_well(name: str) -> None:
    """Where the last event is an error the first line is about it: a cause, or its own words, or its figures."""
    weighed = ALL[name].build()
    transcript = weighed.transcript
    assert not LACKS.search(first(weighed).text)
    failed = first(weighed)
    assert not (failed.cause == "compaction_failed" and "by command" in failed.change)
    ends = [error for error in transcript.errors if error.request >= len(transcript.requests)]
    if not ends:
        return
    told = first(weighed)
    assert told.verdict is not None
    assert verdicts_of(weighed)[told.verdict].what == "error"
    if told.cause == "cannot_tell":
        assert '"' in told.why or any(char.isdigit() for char in told.why)


FIXTURES = Path(__file__).parents[1] / "fixtures" / "transcripts"


def test_no_format_lets_a_session_that_died_read_as_well() -> None:
    """Every shape of an error, a refusal or a limit that a reader knows: the first line is about it, in its words."""
    n_ends = 0
    for path in sorted(path for path in FIXTURES.rglob("*") if path.is_file()):
        try:
            transcripts = read_transcripts(io.BytesIO(path.read_bytes()), path.name).transcripts
        except EngineError:
            continue
        for transcript in transcripts:
            ends = [error for error in transcript.errors if error.request >= len(transcript.requests)]
            ends += [e for e in transcript.events if e.request >= len(transcript.requests) and e.kind in ENDS]
            if not ends:
                continue
            n_ends += 1
            told = first(weigh(transcript))
            how = ("Ended", "Refused", "Compaction failed", "Stopped", "Reply cut off")
            assert told.what.startswith(how), (path, told.text)
            assert told.certainty != "unknown" or '"' in told.why or any(map(str.isdigit, told.why)), (path, told.text)
    assert n_ends >= 15


def test_every_account_has_four_steps_and_names_what_is_left_open() -> None:
    for verdict in verdicts_of(c.thrashing(3, 3, 48_000)):
        assert {row.step for row in verdict.account} == set(STEPS)
        told = [row.text for row in verdict.account if row.step == "remains"]
        assert all(one in told[0] for one in verdict.left)
        assert verdict.certainty == ("certain", "likely", "possible")[min(2, len(verdict.left))]


def one(cause: str, accounts: Fact, *left: str, against: str = "") -> Explanation:
    """An explanation without rows."""
    return Explanation(cause, accounts, cause, open=left, against=(against,) if against else ())


def test_what_explains_more_takes_what_explains_a_part_of_it() -> None:
    whole, part = one("refilled", Fact.SIZE | Fact.TIMING), one("threshold_reached", Fact.SIZE)
    assert remaining([part, whole]) == [whole]


def test_an_explanation_with_two_others_open_takes_nothing() -> None:
    weak, part = one("refilled", Fact.SIZE | Fact.TIMING, "x", "y"), one("threshold_reached", Fact.SIZE)
    assert remaining([weak, part]) == [part, weak]


def test_a_contradicted_explanation_is_out_whatever_it_accounts_for() -> None:
    best, part = one("manual", Fact.WORDS | Fact.SIZE, against="the record says auto"), one("refilled", Fact.SIZE)
    assert remaining([best, part]) == [part]


def test_beside_more_than_two_others_an_explanation_says_nothing() -> None:
    assert remaining([one("refilled", Fact.SIZE, *"abc"[: MOST_OPEN + 1])]) == []


def test_the_events_own_words_stand_alone() -> None:
    said, other = one("manual", Fact.WORDS), one("wrong_window", Fact.FIGURE | Fact.SIZE, "x")
    assert remaining([other, said]) == [said]
    assert headline(died("other", "x"), ()).startswith("No compaction")
