"""The prior of a family (estimators 7.3): its arithmetic, when it stands, how far a session moves it, and its fit."""

from __future__ import annotations

import dataclasses

import pytest

from sessions.engine.models.model_info import model_info
from sessions.engine.tokens.text_facts import text_classes
from sessions.engine.transcript.types import Block, Kind, Label, Role, Transcript
from sessions.engine.weigh.calibration.calibrate import prior_of, weigh
from sessions.engine.weigh.calibration.prior import FEATURES, Prior
from sessions.engine.weigh.calibration.prior_table import CLAUDE
from tests.bench.prior_fit import COLUMNS, Equation, fit, least_absolute, solved, table, untold
from tests.engine.sessions import Build, text

RULE = Prior(
    1.0,
    (1.0, 0, 0, 0, 0.5, 0, 0, 0),
    (2.0, *(0.0,) * 7),
    call=40,
    wrapper=10,
    signature=0.2,
    signature_head=100,
    results=2,
)


def told(tokens: int, kind: Kind = Kind.TEXT, *, digits: int = 0, **facts: object) -> Block:
    """A text that says its classes."""
    return dataclasses.replace(text(tokens, kind, **facts), classes=(digits, 0, 0, 0))


def test_classes_are_digits_capitals_punctuation_and_blanks() -> None:
    assert text_classes("Ab 12, c_D é") == (2, 2, 2, 3)
    assert text_classes("") == ()
    assert text_classes("x") == (0, 0, 0, 0)
    assert len(CLAUDE.text) == len(CLAUDE.arguments) == len(FEATURES)


@pytest.mark.parametrize(
    ("text", "arguments", "more"),
    [
        ("key=REDACTED", False, (1, 0, 0)),
        ("https://x.io/open?REDACTED.REDACTED.REDACTED and REDACTED", False, (4, 3, 0)),
        ("redacted", False, ()),
        ('{"path":"a,b:{c}","limit":3}', True, ()),
        ('{"todos":[{"text":"a","done":true},{"text":"b","done":false}],"n":1}', True, (0, 0, 7)),
        ('{"todos":[{"text":"a","done":true}]}', False, ()),
        ('{"key":"REDACTED","in":{"a":1}}', True, (1, 0, 1)),
    ],
)
def test_marks_of_redaction_and_nested_separators_are_counted(
    text: str, arguments: bool, more: tuple[int, ...]
) -> None:
    """The last three numbers are there where one is not 0: most texts have four."""
    assert text_classes(text, arguments=arguments)[4:] == more


def test_a_mark_of_redaction_weighs_what_stood_there() -> None:
    rule = RULE._replace(text=(*RULE.text, 45, 190, 0), arguments=(*RULE.arguments, 0, 0, -3))
    marked = dataclasses.replace(told(100), classes=(0, 0, 0, 0, 3, 2, 0))
    assert rule.weight_of(marked) == 100 + 3 * 45 + 2 * 190
    call = dataclasses.replace(told(100, Kind.TOOL_USE, name="TodoWrite"), classes=(0, 0, 0, 0, 0, 0, 7))
    assert rule.weight_of(call) == 200 - 21
    assert rule.weight_of(told(100)) == 100, "a session stored earlier says four classes"


def test_a_text_weighs_the_sum_of_its_parts() -> None:
    assert RULE.weight_of(told(100, digits=30)) == 115
    assert RULE.weight_of(told(100, Kind.TOOL_USE, digits=30, name="Bash")) == 200
    assert RULE.weight_of(told(100, Kind.TOOL_USE, name="ExitPlanMode")) == 0
    assert RULE.weight_of(text(100)) == 100


def test_thinking_weighs_by_its_signature() -> None:
    assert RULE.thinking(Block(Kind.THINKING, n_tokens=7, n_payload=600)) == 100
    assert RULE.thinking(Block(Kind.THINKING, n_tokens=7, n_payload=50)) == 0
    assert RULE.thinking(Block(Kind.THINKING, n_tokens=7)) is None
    assert RULE.thinking(Block(Kind.OPAQUE, n_payload=600)) is None


@pytest.mark.parametrize(
    ("model", "block", "measured"),
    [
        ("claude-opus-4-6", told(10), True),
        ("claude-haiku-4-5", told(10), True),
        ("claude-opus-4-6", text(10), False),
        ("claude-opus-4-8", told(10), False),
        ("gpt-5", told(10), False),
    ],
)
def test_the_table_stands_for_claude_before_opus_4_7_where_classes_are_known(
    model: str, block: Block, measured: bool
) -> None:
    build = Build(model=model)
    build.add(Role.USER, block)
    assert (prior_of(model_info(model), build.done()) == CLAUDE) is measured


def reading(n_turns: int, weights: list[int], *, model: str = "claude-opus-4-6") -> Transcript:
    """Turns whose results of 500 o200k tokens, without a digit, weighed what is given, 10 around them."""
    build = Build(model=model)
    build.add(Role.USER, told(50), typed=True)
    for turn in range(n_turns):
        build.reply(50, f"c{turn}")
        build.add(Role.USER, told(500, Kind.TOOL_RESULT, call_id=f"c{turn}"))
        build.context += weights[turn % len(weights)] + 10 - 500
    build.reply(50)
    return build.done()


def test_a_session_moves_the_prior_with_the_weight_of_its_evidence() -> None:
    """Growths of 500 tokens at 1.2 against a prior of 5,000 at 1.0: nine do not outweigh it, eleven do."""
    rule = RULE._replace(weight=5_000)
    few, many = (weigh(reading(n, [600]), prior=rule) for n in (9, 11))
    assert (few.scale.factor, few.ratio_label) == (1.0, Label.CALIBRATED)
    assert many.scale.factor == pytest.approx(1.2)
    assert weigh(reading(4, [600]), prior=rule).ratio_label is Label.ESTIMATED


def test_no_growth_counts_for_more_than_its_cap() -> None:
    """Ten growths of unlike sizes at 1.0 and one of 900,000 tokens at 0.5: it counts for 2,000 of 8,500."""
    build = Build(model="gpt-4o")
    build.prompt()
    for turn in range(10):
        build.reply(50, f"c{turn}")
        build.result(f"c{turn}", 200 + 100 * turn)
    build.reply(50, "huge")
    build.result("huge", 900_000)
    build.context -= 450_000
    build.reply(50)
    assert weigh(build.done()).ratio == 1.0


def test_an_output_below_its_content_is_a_placeholder_where_a_session_has_some() -> None:
    build = Build(model="gpt-4o")
    build.prompt()
    for output in (1, 89, 90, 100):
        build.reply(100)
        last = build.requests[-1]
        assert last.usage
        usage = dataclasses.replace(last.usage, output=output, placeholder=output == 1)
        build.requests[-1] = dataclasses.replace(last, usage=usage)
        build.prompt(10)
    weighed = weigh(build.done())
    assert [weighed.tokens[r.message or 0] for r in build.requests] == [100, 100, 90, 100]
    plain = [
        dataclasses.replace(r, usage=dataclasses.replace(r.usage, placeholder=False)) for r in build.requests if r.usage
    ]
    weighed = weigh(dataclasses.replace(build.done(), requests=tuple(plain)))
    assert [weighed.tokens[r.message or 0] for r in build.requests] == [1, 89, 90, 100]


def test_a_linear_system_is_solved() -> None:
    assert solved([[0.0, 2.0], [4.0, 1.0]], [6.0, 7.0]) == pytest.approx([1.0, 3.0])


def test_the_fit_is_of_least_absolute_error() -> None:
    """Nine equations of one column at 2.0, and one far off that least squares would follow."""
    values = [(float(n),) for n in range(1, 11)]
    equations = [Equation(0, v, 2_000 * int(v[0]) if v[0] < 10 else 90_000) for v in values]
    assert least_absolute(equations) == pytest.approx([2_000], rel=0.01)


def test_a_corpus_that_keeps_a_rule_gives_the_rule_back() -> None:
    sessions = []
    for number in range(3):
        build = Build(model="claude-opus-4-6")
        build.add(Role.USER, told(50), typed=True)
        for turn in range(60):
            size, digits = 100 + 97 * ((turn + number) % 13), 10 * ((turn * 7 + number) % 17)
            build.reply(50, f"c{turn}")
            build.add(Role.USER, told(size, Kind.TOOL_RESULT, call_id=f"c{turn}", digits=digits))
            build.context += round(0.2 * size + 0.5 * digits) + 15
        sessions.append(build.done())
    found = fit(sessions)
    # n_chars is four times the o200k tokens here, so that only both together are told.
    assert found.text[0] + 4 * found.text[1] == pytest.approx(1.2, abs=0.01)
    assert found.text[FEATURES.index("digits")] == pytest.approx(0.5, abs=0.02)
    assert found.wrapper == 15
    assert len(COLUMNS) == 2 * len(FEATURES) + 8


@pytest.mark.parametrize(("more", "counted"), [(0, 0), (300, 300), (1_000, 1_000), (1_001, 1_000), (9_000, 1_000)])
def test_what_is_untold_is_what_makes_the_sum_right(more: int, counted: int) -> None:
    """One growth of 20 holds more than its estimate; over 1,000 tokens it counts as 1,000. Small growths carry none."""

    def build(result: int) -> Transcript:
        made = Build(model="gpt-4o")
        made.prompt()
        for turn in range(30):
            made.context += more if turn == 20 else 0
            made.reply(100, f"c{turn}")
            made.result(f"c{turn}", result)
        return made.done()

    assert untold([build(500)], Prior(1.0)) == round(counted / (19 * 600), 4)
    assert untold([build(200)], Prior(1.0)) == 0
    assert untold([], Prior(1.0)) == 0


def test_the_table_is_python_that_holds_the_prior_and_says_its_source() -> None:
    build = Build(model="claude-opus-4-6")
    build.add(Role.USER, told(50), typed=True)
    build.turns(12)
    transcript = dataclasses.replace(build.done(), client="2.1.9", ended_at=1_770_000_000.0)
    made = table([transcript])
    names: dict[str, object] = {}
    exec(made, names)
    assert names["CLAUDE"] == fit([transcript])
    assert "2.1.9 to 2.1.9, the latest of 2026-02-02" in made
