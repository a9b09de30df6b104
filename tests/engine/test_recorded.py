"""Recorded against replayed: outcomes, bounds on the threshold, and what differs, on built and on recorded sessions."""

from __future__ import annotations

import io
import json
from dataclasses import replace as changed_copy
from typing import TYPE_CHECKING, Any

import pytest

from sessions.engine.base.errors import BadParameter
from sessions.engine.base.registry import plugins
from sessions.engine.demo.session import write_demo
from sessions.engine.reading.reading import read_transcripts
from sessions.engine.replays.replay import replay
from sessions.engine.transcript.types import Request, Usage
from sessions.engine.weigh.calibration.calibrate import weigh
from sessions.engine.why.recorded import compare, policy_for, recorded_document
from sessions.engine.why.verdicts import verdicts_of
from tests.engine.sessions import Build
from tests.engine.truth_facts import fact, parsed
from tests.engine.verdict_files import Pi

if TYPE_CHECKING:
    from sessions.engine.weigh.calibration.weighed import Weighed

OLD = "an output reserve of 32,000 tokens"
NEW = "the defaults: an output reserve capped at 20,000 tokens"


def recorded(*, until: int, n: int = 1, trigger: str = "auto", step: int = 900):
    """A session of a 200,000 window compacted ``n`` times, each as soon as the context reaches ``until``."""
    session = Build(overhead=10_000)
    session.prompt()
    call = 0
    for _ in range(n):
        while True:
            session.reply(100, f"c{call}")
            session.result(f"c{call}", step)
            call += 1
            if 10_000 + session.context >= until:
                break
        session.compact(2_000, trigger)
    session.turns(5, start=call)
    session.reply()
    return weigh(changed_copy(session.done(), format="claude_code", window=200_000))


@pytest.mark.parametrize("base", ["full", "recorded"])
@pytest.mark.parametrize("n_after", [0, 1])
def test_a_session_that_ends_in_its_compaction_says_so(base, n_after):
    """No request after it: no gate is asked, in a comparison or a replay; with one more there is."""
    session = Build(overhead=10_000)
    session.prompt()
    session.turns(160, tokens=900)
    session.compact(2_000)
    session.turns(n_after, start=160)
    weighed = weigh(changed_copy(session.done(), format="claude_code", window=200_000))
    words = "recorded compaction 0 ends the session: no request was sent after it, so no trigger is asked"
    assert (words in replay(weighed, "claude_code", base=base).warnings) is (not n_after)
    assert (compare(weighed).compared[0].outcome == "not comparable") is (not n_after)
    assert (words in compare(weighed).warnings) is (not n_after)


@pytest.fixture(scope="module")
def at_167_000():
    return recorded(until=167_000, n=2)


def test_hits_at_the_recorded_requests(at_167_000):
    """A client with the default ladder: recall and precision are 1, the measure is the recorder's figure."""
    comparison = compare(at_167_000)
    assert [one.outcome for one in comparison.compared] == ["hit", "hit"]
    assert (comparison.recall, comparison.precision, comparison.n_false_alarms) == (1, 1, 0)
    for one in comparison.compared:
        assert one.gate.measure == one.recorded_before >= one.gate.threshold == 167_000
        assert one.fired_at == one.request
        assert one.reasons == ()


def test_an_older_client_compacts_earlier():
    """155,000 without the cap: the default ladder is not reached; the older reserve explains it."""
    comparison = compare(recorded(until=155_000, n=2), calibrate=True)
    assert [one.outcome for one in comparison.compared] == ["missed", "missed"]
    assert comparison.recall == 0
    assert comparison.precision is None
    assert f"consistent with {OLD}" in comparison.compared[0].reasons
    assert OLD in [words for words, _ in comparison.consistent.settings]
    assert NEW not in [words for words, _ in comparison.consistent.settings]
    calibrated = dict(comparison.consistent.settings)[OLD]
    again = compare(recorded(until=155_000, n=2), params=calibrated)
    assert (again.recall, again.precision) == (1, 1)


def test_a_client_that_compacts_later_is_early(at_167_000):
    """Against an older ladder the same recording is compacted late: two false alarms."""
    comparison = compare(at_167_000, params={"output_reserve_cap": "none", "max_output": 32_000}, calibrate=True)
    assert [one.outcome for one in comparison.compared] == ["early", "early"]
    assert comparison.n_false_alarms == 2
    assert all(one.fired_at < one.request for one in comparison.compared)
    assert comparison.consistent.above < 167_000 <= comparison.consistent.up_to


def test_compactions_made_by_hand_are_apart():
    """Neither a miss nor a false alarm."""
    comparison = compare(recorded(until=60_000, trigger="manual"), calibrate=True)
    (one,) = comparison.compared
    assert one.outcome == "by hand"
    assert (comparison.recall, comparison.precision, comparison.n_by_hand, comparison.n_false_alarms) == (
        None,
        None,
        1,
        0,
    )
    assert comparison.consistent is None


def test_firing_before_one_made_by_hand_is_a_false_alarm():
    comparison = compare(recorded(until=180_000, trigger="manual"))
    assert (comparison.n_by_hand, comparison.n_false_alarms, comparison.precision) == (1, 1, 0)


def test_no_one_threshold():
    """Compacted at 60,000 and then, later, not at 90,000."""
    session = Build(overhead=10_000)
    session.prompt()
    session.turns(50)
    session.compact(1_000)
    session.turns(150, start=50)
    session.reply()
    weighed = weigh(changed_copy(session.done(), format="claude_code", window=200_000))
    comparison = compare(weighed, calibrate=True)
    assert not comparison.consistent.possible
    assert comparison.consistent.settings == ()


def test_doubts_are_named():
    """No usage before the compaction; a model that changed on the way."""
    bare = Build(usage=False)
    bare.prompt()
    bare.turns(3)
    bare.compact()
    bare.turns(3, start=3)
    bare.reply()
    reasons = compare(weigh(bare.done()), "claude_code").compared[0].reasons
    assert any("no usage is reported" in reason for reason in reasons)
    session = Build()
    session.prompt()
    session.turns(3)
    session.model = "claude-haiku-4-5"
    session.turns(3, start=3)
    session.compact()
    session.turns(1, start=6)
    session.reply()
    reasons = compare(weigh(session.done()), "claude_code").compared[0].reasons
    assert any("claude-sonnet-4-5, claude-haiku-4-5" in reason for reason in reasons)


def test_a_gate_that_fires_in_vain_was_not_below_its_threshold():
    """The tail that is always kept is the whole list: the gate fires at every request, no edit can be made."""
    session = Build(overhead=10_000)
    session.prompt()
    session.turns(30)
    session.compact()
    session.turns(5, start=30)
    session.reply()
    (one,) = compare(weigh(session.done()), "parametric", params={"share": 5, "keep_last": 200}).compared
    assert (one.outcome, one.gate.fires) == ("missed", True)
    assert one.reasons[0] == (
        f"the policy's trigger fires too ({one.gate.measure:,} tokens reached the policy's {one.gate.threshold:,}), "
        "but its edit failed: "
        "nothing but what is always kept is left to compact"
    )


def test_a_summary_call_off_the_branch_is_not_the_request_before():
    """Some clients record the call that wrote the summary, with a usage and a model of its own."""
    session = Build(overhead=10_000)
    session.prompt()
    session.turns(30)
    before = session.requests[-1].usage
    call = Request(len(session.requests), None, Usage(input=77, output=7), on_branch=False, model="claude-haiku-4-5")
    session.requests.append(call)
    session.compact()
    session.turns(5, start=30)
    session.reply()
    (one,) = compare(weigh(session.done()), "claude_code").compared
    assert one.usage_before == before.context + before.output
    assert not any("the model changed" in reason for reason in one.reasons)


def test_what_is_kept_is_compared(at_167_000):
    """Claude Code keeps nothing of the messages before, nor does its replay."""
    first = compare(at_167_000).compared[0]
    after = first.after
    assert (after.kept_by_both, after.kept_by_recording, after.kept_by_policy) == (0, 0, 0)
    assert after.tokens_recorded == at_167_000.transcript.requests[first.request].usage.context


def test_a_format_without_a_policy_asks_for_one():
    weighed = weigh(changed_copy(Build().turns(2).done(), format="nobody's"))
    with pytest.raises(BadParameter, match="name one"):
        compare(weighed)
    assert compare(weighed, "goose").compared == ()


def test_the_document_names_everything(at_167_000):
    document = recorded_document(compare(at_167_000, calibrate=True))
    assert document["schema"] == "ctxweb.recorded/1"
    assert document["consistent"]["settings"][0] == {"words": NEW, "params": {}}
    assert {"outcome", "tokens_before", "usage_before", "measure", "threshold", "reasons"} <= set(
        document["compactions"][0]
    )


def sample(name):
    """A shared sample's largest session, weighed; skips visibly where there are no samples."""
    return weigh(max(parsed(name).transcripts, key=lambda t: len(t.requests)))


PI = "pi/before-compaction.jsonl"


def test_pi_records_the_usage_before():
    """``tokensBefore`` is input and output of the request before, exactly, both times."""
    comparison = compare(sample(PI), "claude_code")
    told = [entry["tokensBefore"] for entry in fact(PI, "compactions")]
    assert [one.recorded_before for one in comparison.compared] == told == [175_004, 185_014]
    assert [one.usage_before for one in comparison.compared] == told
    assert [one.gate.measure for one in comparison.compared] == told


@pytest.mark.skipif("pi" not in plugins("policies"), reason="the policy pi is not registered")
def test_pi_against_itself():
    """Over 183,616 at 294; the one at 171, at 175,004, was made by hand (replay-semantics 2)."""
    comparison = compare(sample(PI))
    assert comparison.policy == "pi"
    assert [one.outcome for one in comparison.compared] == ["missed", "hit"]
    assert [one.gate.measure for one in comparison.compared] == [175_004, 185_014]


def test_claude_code_by_hand():
    """26,634 by hand, the last thing recorded: nothing to ask."""
    comparison = compare(sample("claude-code/vscode-98b76fb9-compaction.jsonl"))
    (one,) = comparison.compared
    assert (one.outcome, one.recorded_before, one.usage_before) == ("by hand", 26_634, 24_749)
    assert one.gate is None


def test_anthropic_ignores_what_is_before_the_block():
    """The request after a compaction: its trigger was 50,000; everything before the block leaves the context."""
    weighed = sample("anthropic-api/anthropic_compaction_end_to_end.1.request.json")
    assert compare(weighed).as_recorded == "as recorded: threshold 50,000 (as its requests ask)"
    assert [one.outcome for one in compare(weighed).compared] == ["hit"]
    comparison = compare(weighed, calibrate=True, start="defaults")
    assert comparison.policy == "anthropic_compact"
    assert [words for words, _ in comparison.consistent.settings] == [
        "a trigger of 50,000 tokens, the least the API takes"
    ]
    (event,) = replay(weighed, "anthropic_compact", params={"trigger": 50_000}, base="recorded").events
    (compaction,) = weighed.transcript.compactions
    ignored = [m.id for m in weighed.transcript.messages[: compaction.boundary]]
    assert event.request == compaction.request
    assert [item.id for item in event.before] == ignored, "the block stands in the reply after it"
    assert not set(ignored) & {item.id for item in event.after}
    assert sum(weighed.tokens[1:]) < 200
    assert weighed.tokens[0] > 50_000


def test_an_opaque_codex_item_is_remote():
    weighed = sample("openai-responses/compact_stateful_stream.3.request.json")
    assert policy_for(weighed) == "openai_compact_threshold", "its requests name their own threshold"
    assert policy_for(weigh(changed_copy(weighed.transcript, trigger_at=None))) == "codex_remote"
    assert policy_for(weigh(changed_copy(weighed.transcript, format="codex"))) == "codex_remote"
    assert policy_for(weigh(changed_copy(Build().turns(2).done(), format="codex"))) == "codex_local"


def test_a_missed_compaction_is_explained_by_what_the_agent_counted():
    """The demo's first: 3,134,818 counted by its agent, 32,318 by the policy; what is automatic is never "manual"."""
    file = io.BytesIO()
    write_demo(file)
    (transcript, *_) = read_transcripts(io.BytesIO(file.getvalue()), "demo.jsonl").transcripts
    first, second = compare(weigh(transcript)).compared
    assert (first.outcome, second.outcome) == ("missed", "hit")
    assert "the agent counted 3,134,818, which passes it" in first.reasons[0]
    untold = changed_copy(
        transcript, compactions=tuple(changed_copy(c, tokens_before=None) for c in transcript.compactions)
    )
    assert compare(weigh(untold)).compared[0].reasons[0].endswith(": another threshold, or another count")


def test_a_compaction_after_a_refusal_is_counted_apart():
    """What started it is the refusal, as *why* says, also where the policy fires there in the window that it names."""
    build = Pi()
    build.until(120_000)
    build.refuse("prompt is too long: 121000 tokens > 120000 maximum")
    build.compact(120_000)
    build.until(60_000)
    weighed = build.weighed()
    (one,) = compare(weighed).compared
    assert (one.outcome, one.fired_at) == ("after a refusal", one.request)
    assert one.gate.threshold == 120_000 - 16_384
    assert compare(weighed).n_false_alarms == 0
    assert compare(weighed).recall is None
    assert next(v for v in verdicts_of(weighed) if v.what == "compaction").cause == "after_refusal"


def opencode_recording(result_words: int) -> Weighed:
    """opencode on github-copilot, 128,000 tokens: the last reply reports 107,440 of 108,000, then a result."""
    sold = {"modelID": "claude-sonnet-4.6", "providerID": "github-copilot"}

    def reply(number: int, context: int, parts: list[dict[str, Any]], **facts: Any) -> dict[str, Any]:
        tokens = {"input": context, "output": 40, "reasoning": 0, "cache": {"read": 0, "write": 0}}
        time = {"created": 1_772_900_000_000 + 1_000 * number}
        return {"info": {"id": f"m{number}", "role": "assistant", "time": time, **sold, "tokens": tokens, **facts},
                "parts": parts}  # fmt: skip

    def call(number: int, output: str) -> dict[str, Any]:
        state = {"status": "completed", "input": {"command": "ls"}, "output": output}
        return {"type": "tool", "tool": "bash", "callID": f"c{number}", "state": state}

    def asked(number: int, part: dict[str, Any]) -> dict[str, Any]:
        return {"info": {"id": f"m{number}", "role": "user", "time": {"created": 1_772_900_000_000}}, "parts": [part]}

    messages = [
        asked(0, {"type": "text", "text": "Look."}),
        reply(1, 100_000, [call(1, "alpha beta gamma " * 1_800)]),
        reply(2, 107_400, [call(2, "alpha " * result_words)]),
        asked(3, {"type": "compaction", "auto": True, "overflow": False}),
        reply(4, 98_000, [{"type": "text", "text": "They looked."}], summary=True),
        reply(5, 16_000, [{"type": "text", "text": "Done."}]),
    ]
    document = {"info": {"id": "s", "title": "t", "version": "1.4.3"}, "messages": messages}
    return weigh(read_transcripts(io.BytesIO(json.dumps(document).encode()), "export.json").transcripts[0])


@pytest.mark.parametrize(("result_words", "outcome"), [(4_000, "hit"), (100, "missed")])
def test_what_came_after_the_last_reply_may_pass_the_threshold(result_words: int, outcome: str) -> None:
    comparison = compare(opencode_recording(result_words))
    (one,) = comparison.compared
    assert one.outcome == outcome
    assert (comparison.recall, comparison.n_false_alarms, comparison.precision) == (float(outcome == "hit"), 0, None)
    assert one.gate is not None
    assert (one.gate.measure >= one.gate.threshold) == (outcome == "hit")
