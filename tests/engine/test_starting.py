"""Where a replay starts from: the version that recorded, at and beside every boundary; what was not written down."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest

from sessions.engine.base import registry
from sessions.engine.base.errors import BadParameter
from sessions.engine.reading.reading import read_transcripts
from sessions.engine.replays.initial_params import as_recorded, starting
from sessions.engine.replays.replay import replay
from sessions.engine.sweeps.sweep import grid, read_over, sweep
from sessions.engine.weigh.calibration.calibrate import weigh
from sessions.engine.weigh.outputs import outputs
from sessions.engine.why.recorded import compare
from tests.engine.claude_lines import Lines
from tests.engine.sessions import Build

RESERVE = {"output_reserve_cap": None, "max_output": 32_000}
WRITTEN = {"output": "written"}


def of_client(weighed, client, **facts):
    """The same session as a version of Claude Code recorded it."""
    return weigh(replace(weighed.transcript, format="claude_code", client=client, **facts))


def used(total: int, client: str, *, tail: int = 0, placeholder: int = 0):
    """A session whose second request finds the first's input and output at ``total`` and ``tail`` after it."""
    session = Build(overhead=10_000)
    session.prompt(total - 10_000 - 100)
    session.reply(100, "c0")
    session.result("c0", tail)
    session.reply(100)
    made = session.done()
    if placeholder:
        first = replace(made.requests[0], usage=replace(made.requests[0].usage, output=placeholder, placeholder=True))
        made = replace(made, requests=(first, *made.requests[1:]))
    return of_client(weigh(made), client)


@pytest.mark.parametrize(
    ("client", "params"),
    [
        ("2.0.76", RESERVE | {"tail": "off"}),
        ("2.1.1", RESERVE | {"tail": "off"}),
        ("2.1.2", RESERVE),
        ("2.1.13", RESERVE),
        ("2.1.14", RESERVE | WRITTEN),
        ("2.1.20", RESERVE | WRITTEN),
        ("2.1.22", WRITTEN),
        ("2.1.29", WRITTEN),
        ("2.1.30", {}),
        ("2.2.0", {}),
        ("3.0.1", {}),
        ("", {}),
        ("not a version", {}),
    ],
)
def test_every_version_starts_as_it_was(client, params):
    """Policies 4.11."""
    assert starting(used(60_000, client), "claude_code").params == params


@pytest.mark.golden("claude_code")
@pytest.mark.parametrize(("client", "threshold"), [("2.1.20", 155_000), ("2.1.22", 167_000)])
@pytest.mark.parametrize("off", [-1, 0, 1])
def test_the_threshold_of_a_version(client, threshold, off):
    """Policies 4.11: at the threshold and on both sides of it."""
    gate = replay(used(threshold + off, client), "claude_code").gates[1]
    assert (gate.fires, gate.measure, gate.threshold, gate.operator) == (off >= 0, threshold + off, threshold, ">=")


@pytest.mark.golden("claude_code")
@pytest.mark.parametrize(("client", "measure"), [("2.1.1", 154_000), ("2.1.2", 155_000)])
def test_what_comes_after_the_reply_counts_from_a_version_on(client, measure):
    """Policies 4.11: 1,000 tokens of a result, four characters each."""
    gate = replay(used(154_000, client, tail=1_000), "claude_code").gates[1]
    assert (gate.measure, gate.fires) == (measure, measure >= 155_000)


@pytest.mark.golden("claude_code")
@pytest.mark.parametrize(("client", "counted"), [("2.1.13", "real"), ("2.1.14", 3), ("2.1.29", 3), ("2.1.30", "real")])
def test_a_placeholder_counts_as_it_was_written_in_some_versions(client, counted):
    """Policies 4.11: the output that a streaming placeholder gives, or the reply's own size."""
    weighed = used(100_000, client, placeholder=3)
    gate = replay(weighed, "claude_code").gates[1]
    assert outputs(weighed)[0] == 100, "what the next context grew by"
    assert gate.measure == 99_900 + (100 if counted == "real" else counted)


def test_what_is_given_stands_above_the_client():
    weighed = used(160_000, "2.1.14")
    assert replay(weighed, "claude_code").gates[1].threshold == 155_000
    given = replay(weighed, "claude_code", params={"output_reserve_cap": 20_000})
    assert given.gates[1].threshold == 167_000
    assert given.params.output == "written"
    plain = replay(weighed, "claude_code", start="defaults")
    assert (plain.gates[1].threshold, plain.params) == (
        168_000 - 1_000,
        registry.get("policies", "claude_code").params(),
    )
    with pytest.raises(BadParameter, match="recorded, defaults"):
        replay(weighed, "claude_code", start="now")


def test_other_policies_and_other_agents_start_from_their_defaults():
    weighed = used(160_000, "2.1.14")
    assert starting(weighed, "codex_local").params == {}
    elsewhere = weigh(replace(weighed.transcript, format="pi"))
    assert starting(elsewhere, "claude_code").params == {}


def test_it_says_whose_threshold_it_is():
    weighed = used(160_000, "2.1.14")
    policy = registry.get("policies", "claude_code")
    assert as_recorded(weighed, policy, 200_000) == "as recorded: threshold 155,000 (Claude Code 2.1.14)"
    assert as_recorded(weighed, policy, 1_000_000) == "as recorded: threshold 955,000 (Claude Code 2.1.14)"
    assert as_recorded(used(160_000, ""), policy, 200_000) == ""
    assert replay(weighed, "claude_code", params={"pct_override": 50}).as_recorded == as_recorded(
        weighed, policy, 200_000
    )


def test_a_sweep_starts_where_a_replay_does():
    weighed = used(156_000, "2.1.14")
    axes, settings = grid(["claude_code"], [read_over("buffer=13000:13000:1")])
    assert sweep(weighed, settings, axes).rows[0].totals.compactions == 1
    assert sweep(weighed, settings, axes, start="defaults").rows[0].totals.compactions == 0


def test_a_reply_is_no_larger_than_what_was_measured_after_it():
    """A plan that the client wrote into a call: the growth shows that the model wrote 34 tokens at most."""
    session = Build(overhead=10_000)
    session.prompt(1_000)
    session.reply(5_000, "c0")
    session.result("c0", 10)
    session.reply(100)
    made = session.done()
    usages = [replace(made.requests[0].usage, output=1, placeholder=True), replace(made.requests[1].usage)]
    usages[1] = replace(usages[1], input=made.requests[0].usage.context + 34, cache_read=0, cache_write=0)
    made = replace(made, requests=tuple(replace(r, usage=u) for r, u in zip(made.requests, usages, strict=True)))
    assert outputs(weigh(made))[0] == 34
    typed = [replace(m, typed=True) if m.index == 2 else m for m in made.messages]
    assert outputs(weigh(replace(made, messages=tuple(typed))))[0] > 4_000, "thinking may have left at a prompt"


def recorded_at(follows: str, pre: int):
    """A file of 2.1.14 whose boundary follows the line named, "" the last one; the context is about 150,000 tokens."""
    lines = Lines()
    lines.prompt("go on")
    lines.context = 150_000
    lines.reply(0, {"type": "text", "text": "done"})
    lines.context, lines.parent = pre, follows or lines.parent
    lines.compact("what was done")
    lines.reply(1, {"type": "text", "text": "more"})
    data = lines.text().replace("2.1.150", "2.1.14").encode()
    return read_transcripts(io.BytesIO(data), "s.jsonl").transcripts[0]


def test_a_message_that_is_not_in_the_file_was_counted():
    """Formats 3.6: the boundary names a line that no line is; the client's own count is the measure."""
    transcript = recorded_at("gone", 155_001)
    assert transcript.compactions[0].unseen
    (one,) = compare(weigh(transcript)).compared
    assert (one.outcome, one.gate.measure, one.is_told) == ("hit", 155_001, True)
    assert "not all that the client counted is in this file" in one.reasons[0]
    assert replay(weigh(transcript), "claude_code").events[0].request == 1


def test_a_message_that_is_in_the_file_is_counted_by_us():
    transcript = recorded_at("", 155_001)
    assert not transcript.compactions[0].unseen
    (one,) = compare(weigh(transcript)).compared
    assert (one.outcome, one.is_told) == ("missed", False)
    assert one.gate.measure < 155_000


@pytest.mark.parametrize(("below", "outcome"), [(1, "missed"), (0, "hit")])
def test_the_clients_own_count_is_held_against_its_threshold(below, outcome):
    """At 155,000 and one below it."""
    (one,) = compare(weigh(recorded_at("gone", 155_000 - below))).compared
    assert (one.outcome, one.gate.measure) == (outcome, 155_000 - below)


@pytest.mark.parametrize(("room", "put_back"), [(0, 0), (300, 300), (5_000, 800)])
def test_files_put_back_fit_into_the_next_measured_context(room, put_back):
    """Replay-semantics 5: the recorded summary, and the policy's own files as far as the measured context has room."""
    session = Build(overhead=10_000)
    session.prompt(50)
    session.reply(100, "c0", target="/src/a.py")
    session.result("c0", 800)
    session.turns(142, tokens=1_000, start=1)
    session.compact(1_000)
    session.context += room
    session.reply(100)
    weighed = weigh(replace(session.done(), format="claude_code", window=200_000))
    event = replay(weighed, "claude_code", base="recorded", params={"max_files": 1, "file_tokens": 800}).events[-1]
    assert event.after_tokens == 11_000 + put_back
