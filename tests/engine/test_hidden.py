"""What a client adds and does not record (estimators 7.4, 7.5)."""

from __future__ import annotations

import dataclasses

import pytest

from sessions.engine.transcript.types import Block, Kind, Role, Transcript
from sessions.engine.weigh.calibration.calibrate import weigh
from sessions.engine.weigh.calibration.fit import fit_points
from sessions.engine.weigh.calibration.growth import steps_of
from sessions.engine.weigh.calibration.hidden import planned, reminded
from sessions.engine.weigh.calibration.prior import Prior
from tests.engine.sessions import Build

PRIOR = Prior(1.0, reminder=100, reminder_task=5)
MEASURED = Prior(1.0, clients=((2, 0, 64), (2, 1, 41)))


def session(
    n_turns: int, *, client: str = "2.1.37", tools: dict[int, str] | None = None, kind: str = "claude_code"
) -> Build:
    """Turns of two blocks each, a text and a call; ``tools`` names the tools of some turns."""
    build = Build(model="gpt-4o")
    build.prompt()
    for turn in range(n_turns):
        build.reply(50, f"c{turn}", name=(tools or {}).get(turn, "Read"))
        build.result(f"c{turn}", 100)
    build.reply(50)
    return build


def recorded(build: Build, client: str = "2.1.37", kind: str = "claude_code") -> Transcript:
    return dataclasses.replace(build.done(), format=kind, client=client)


def fired(transcript: Transcript) -> dict[int, int]:
    return reminded(transcript, steps_of(transcript))


@pytest.mark.parametrize(
    ("client", "expected"),
    [
        ("2.1.2", {5: 0, 10: 0}),
        ("2.0.76", {4: 0, 6: 0, 8: 0, 10: 0, 12: 0}),
        ("1.0.98", {5: 0, 8: 0, 11: 0}),
        ("0.2.9", {}),
        ("3.0.1", {}),
        ("", {}),
    ],
)
def test_a_reminder_comes_after_as_many_blocks_as_the_version_waits(client: str, expected: dict[int, int]) -> None:
    """Two blocks a turn: 10 after five turns and 10 again; in 2.0 seven after four, then three after two.

    1.0 looks before the newest reply is there: seven stand one turn later, and three more after three.
    """
    assert fired(recorded(session(12), client)) == expected


def test_other_clients_and_recorded_attachments_are_left_alone() -> None:
    assert fired(recorded(session(12), kind="pi")) == {}
    build = session(12)
    build.add(Role.USER, Block(Kind.TEXT, n_tokens=3), attachment="todo_reminder")
    assert fired(recorded(build)) == {}


def test_use_of_the_list_and_a_compaction_begin_the_count_anew() -> None:
    """Used in turn 3, with the fourth block of it: 10 blocks later is turn 8; thinking is no block."""
    used = session(12, tools={3: "TaskCreate"})
    assert fired(recorded(used)) == {9: 1}
    build = session(4)
    build.compact()
    for turn in range(6):
        build.reply(50, f"d{turn}")
        build.result(f"d{turn}", 100)
    build.reply(50)
    assert fired(recorded(build)) == {10: 0}
    thought = session(12)
    for index, message in enumerate(thought.messages):
        if message.role is Role.ASSISTANT:
            thinking = Block(Kind.THINKING, n_payload=300)
            thought.messages[index] = dataclasses.replace(message, blocks=(thinking, *message.blocks))
    assert fired(recorded(thought)) == {5: 0, 10: 0}


def test_the_first_version_counts_the_use_itself_and_not_what_is_new() -> None:
    """Used in turn 3 with its last block: 1 then, 3, 5 and 7 after turns 4 to 6, said with the request after turn 7.

    Its reminder lacks a sentence of 14 tokens.
    """
    used = recorded(session(12, tools={3: "TodoWrite"}), "1.0.98")
    assert fired(used) == {8: 0, 11: 0}
    assert weigh(used, prior=PRIOR, train_fraction=0).hidden == {8: 86, 11: 86}


@pytest.mark.parametrize(
    ("client", "trigger", "expected"),
    [("2.1.29", "auto", {5: 900}), ("2.1.28", "auto", {}), ("2.1.29", "manual", {}), ("2.1.29", None, {})],
)
def test_lists_are_said_anew_with_the_second_request_after_an_automatic_compaction(
    client: str, trigger: str | None, expected: dict[int, int]
) -> None:
    """Measured from 2.1.29 on (estimators 7.4); one measured growth counts beside the prior's two."""
    build = session(3)
    build.compact()
    build.prompt()
    for turn in range(3):
        build.reply(50, f"d{turn}")
        build.result(f"d{turn}", 100)
    build.reply(50)
    done = recorded(build, client)
    done = dataclasses.replace(
        done, compactions=tuple(dataclasses.replace(c, trigger=trigger) for c in done.compactions)
    )
    prior = Prior(1.0, relisted=900)
    assert weigh(done, prior=prior, train_fraction=0).hidden == expected
    attached = dataclasses.replace(done.messages[-1], attachment="skill_listing")
    assert weigh(dataclasses.replace(done, messages=(*done.messages[:-1], attached)), prior=prior).hidden == {}


def marked(transcript: Transcript, **marks: int) -> Transcript:
    """With marks on the messages at the given indices."""
    messages = list(transcript.messages)
    for name, index in marks.items():
        messages[index] = dataclasses.replace(messages[index], **{name: True})
    return dataclasses.replace(transcript, messages=tuple(messages))


def test_a_client_that_was_started_again_has_forgotten_its_reminders() -> None:
    """Reminded at request 5, started again before 8: 16 blocks since the list's use are enough."""
    again = marked(recorded(session(12)), resumed=16)
    assert again.messages[16].role is Role.USER
    assert fired(again) == {5: 0, 8: 0}
    assert fired(marked(recorded(session(12)), resumed=4)) == {5: 0, 10: 0}, "10 blocks since the list's use stand"


def test_a_prompt_in_the_plan_mode_is_told_so() -> None:
    """At most every five requests; where attachments are recorded, or with another client, it is no guess of ours."""

    def told(transcript: Transcript) -> frozenset[int]:
        return planned(transcript, steps_of(transcript))

    plain = recorded(session(12))
    assert told(plain) == frozenset()
    assert told(marked(plain, planned=4)) == {2}
    both = marked(marked(plain, planned=4), planned=12)
    assert told(both) == {2}
    assert told(marked(both, planned=14)) == {2, 7}
    assert told(recorded(session(12, tools={3: "EnterPlanMode"}))) == {4}
    assert told(marked(recorded(session(12), kind="pi"), planned=4)) == frozenset()
    weighed = weigh(marked(plain, planned=4), prior=PRIOR._replace(plan=1_100), train_fraction=0)
    assert weighed.hidden == {2: 1_100, 5: 100, 10: 100}


def test_a_reminder_is_in_the_context_from_its_request_on() -> None:
    weighed = weigh(recorded(session(12)), prior=PRIOR, train_fraction=0)
    assert weighed.hidden == {5: 100, 10: 100}
    growths = [(b or 0) - (a or 0) for a, b in zip(weighed.estimated, weighed.estimated[1:], strict=False)]
    assert [g - 150 for g in growths] == [0, 0, 0, 0, 100, 0, 0, 0, 0, 100, 0, 0]


@pytest.mark.parametrize(("own", "expected"), [(90, 95), (0, 0)])
def test_own_growths_say_what_a_reminder_weighs(own: int, expected: int) -> None:
    """Four of 90 against the prior's two of 100, or four of nothing: the median of all six."""
    build = Build(model="gpt-4o")
    build.prompt()
    for turn in range(24):
        build.context += own if turn in {5, 10, 15, 20} else 0
        build.reply(50, f"c{turn}")
        build.result(f"c{turn}", 100)
    weighed = weigh(recorded(build), prior=PRIOR)
    assert set(weighed.hidden.values()) == ({90} if expected else set())


def test_what_nearly_every_growth_with_a_tool_leaves_over_stands_after_it() -> None:
    build = Build(model="gpt-4o")
    build.prompt()
    for turn in range(40):
        build.reply(50, f"c{turn}", name="TodoWrite" if turn % 5 == 0 else "Read")
        build.result(f"c{turn}", 100)
        build.context += 340 if turn % 5 == 0 else 0
    weighed = weigh(build.done())
    assert weighed.hidden == {turn + 1: 340 for turn in range(0, 39, 5)}
    assert weighed.estimated == tuple(r.usage.context for r in weighed.transcript.requests if r.usage)


@pytest.mark.parametrize(("result", "each"), [(250, 0), (251, 30), (950, 100)])
def test_what_no_line_tells_is_a_share_of_large_growths(result: int, each: int) -> None:
    """A reply of 50 tokens and its result: 300 tokens get nothing, 301 a tenth.

    Nothing at a compaction, nor between two measured requests.
    """
    build = Build(model="gpt-4o")
    build.prompt()
    for turn in range(4):
        build.reply(50, f"c{turn}")
        build.result(f"c{turn}", result)
    build.reply(50)
    build.compact(summary_tokens=2_000)
    build.reply(50)
    build.reply(50)

    def more(transcript: Transcript) -> list[int]:
        told, plain = (
            weigh(transcript, prior=MEASURED._replace(untold=share), train_fraction=0) for share in (0.1, 0.0)
        )
        assert (told.overhead, told.hidden) == (plain.overhead, {})
        return [(one or 0) - (other or 0) for one, other in zip(told.estimated, plain.estimated, strict=True)]

    assert more(recorded(build)) == [0, 0, each, 2 * each, 3 * each, 0, 0]
    assert more(recorded(build, kind="pi")) == [0] * 7
    assert weigh(recorded(build), prior=MEASURED._replace(untold=0.1)).estimated == weigh(recorded(build)).estimated
    for client, counts in (("2.0.63", 0), ("2.0.64", 1), ("2.1.41", 1), ("2.1.42", 0), ("1.0.98", 0), ("", 0)):
        assert more(recorded(build, client)) == [counts * tokens for tokens in (0, 0, each, 2 * each, 3 * each, 0, 0)]
    build.add(Role.USER, Block(Kind.TEXT, n_tokens=3), attachment="todo_reminder")
    assert more(recorded(build)) == [0] * 7, "this client records what it attaches"


def shifted(at: int, tokens: int, n_turns: int = 20) -> Build:
    build = Build(model="gpt-4o")
    build.prompt()
    for turn in range(n_turns):
        build.context += tokens if turn == at else 0
        build.reply(50, f"c{turn}")
        build.result(f"c{turn}", 100)
    return build


@pytest.mark.parametrize(("tokens", "expected"), [(500, {}), (501, {8: 501}), (-700, {8: -700})])
def test_a_context_that_leaves_its_estimate_takes_the_rest_along(tokens: int, expected: dict[int, int]) -> None:
    weighed = weigh(shifted(8, tokens).done())
    assert weighed.shifts == expected
    measured = [r.usage.context for r in weighed.transcript.requests if r.usage]
    assert (list(weighed.estimated)[9:] == measured[9:]) is bool(expected)


def test_a_shift_is_no_excuse_where_growths_are_compared_and_ends_at_a_compaction() -> None:
    build = shifted(8, 900, n_turns=12)
    build.compact()
    build.turns(3, start=12)
    weighed = weigh(build.done())
    (missed,) = [p for p in fit_points(weighed) if p.rest]
    assert (missed.request, missed.rest) == (8, -900)
    measured = [r.usage.context for r in weighed.transcript.requests if r.usage]
    assert list(weighed.estimated)[12:] == measured[12:]


def test_usage_that_is_not_trained_on_shifts_nothing() -> None:
    assert weigh(shifted(12, 5_000).done(), train_fraction=0.5).shifts == {}
