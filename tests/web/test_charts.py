"""The figures are pure: floor, scale, binning, roles, room for words."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions.engine.quality.carry import WorkingSet
from sessions.engine.reading import jsonio
from sessions.engine.weigh.calibration.fit import FitPoint
from sessions.pages.quality.chart import Chain, carried_figure, telephone_figure
from sessions.pages.session import bars as charts_bars
from sessions.pages.session.bars import Bar, Cut, Mark, Pressure, binned, byte_scale
from sessions.pages.session.chart import pressure_figure
from sessions.pages.ui.chart import figure_json, index_ticks, nice_top, spans
from sessions.pages.ui.saw import MOST_LINES, GateLane, Saw, Tooth, envelope, saw_figure, thinned
from sessions.pages.why.fit import MOST_POINTS, residual_figure, scatter_figure, shown_points
from sessions.pages.why.gates_chart import GateMark, Gates, GateTrack, gates_figure
from sessions.runs.overview import KINDS, bytes_per_token
from tests.web.drawn import check, roles

MORE = re.compile(r"<br>([\d,]+) more here, zoom in")
COLOUR = re.compile(r"#[0-9a-f]{3,8}|(rgb|hsl)a?\((?!0,0,0,0)", re.IGNORECASE)


def texts(value: Any) -> list[str]:
    """Every string of the figure."""
    if isinstance(value, str):
        return [value]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for part in inner for text in texts(part)]


def session_of(n: int, flagged: dict[int, float] | None = None) -> Pressure:
    flags = flagged or {}
    bars = [
        Bar(i, {"image": 2_025}, 3_118_893, flags[i], "screenshot") if i in flags
        else Bar(i, {"tool_result": 100 + i % 50}, 260)
        for i in range(n)
    ]  # fmt: skip
    contexts = [(i, 15_000 + 40 * i, i // 2) for i in range(1, n, 2)]
    return Pressure(bars, contexts, [Cut(n / 2 - 0.5, 167_371, 38_940)], 200_000, 2.6)


def saw_of(**more: Any) -> Saw:
    replay = [15_000 + 1_000 * i for i in range(60)]
    teeth = [Tooth(1, 30, 45_000, 20_000, chosen=True)]
    return Saw(replay, replay, [v * 5 for v in replay], 200_000, 140_000, teeth, [(20, 35_000)], **more)


POINTS = [FitPoint(n, n, 100 + n, 100 + n + n % 7) for n in range(1, 3_000)]


def gates_of() -> Gates:
    marks = [
        GateMark("false", 18, None, 37, "a < b"), GateMark("late", 30, 25, 60, "late"),
        GateMark("right", 40, None, 80, "right"),
        GateMark("missed", 50, None, 100, "missed"),
    ]  # fmt: skip
    lanes = [GateTrack("Claude Code", [], "never", own=True), GateTrack("buzz-agent", marks, "1 false", alarm=True)]
    return Gates([1_000 * n for n in range(60)], 200_000, lanes, "measured", [33])


@pytest.mark.parametrize(
    "figure",
    [
        {"data": [{"type": "heatmap", "z": [[1]]}]},
        {"data": [], "layout": {"xaxis": {"rangeslider": {"visible": True}}}},
    ],
)
def test_a_chart_of_parts_that_the_bundle_lacks_is_refused(figure: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"entry\.js does not name"):
        check(figure)


@pytest.mark.parametrize(("n", "rail"), [(20, 0), (21, 20)])
def test_many_compactions_of_the_pressure_chart_stand_on_a_rail(n: int, rail: int) -> None:
    """But for a false alarm, which goes through all lanes."""
    cuts = [Cut(10 * k + 0.5, 100_000, 20_000, k == 3) for k in range(n)]
    shapes = pressure_figure(replace(session_of(300), compactions=cuts))["layout"]["shapes"]
    lines = [(s, part) for s in shapes if s["type"] == "path" for part in s["path"].split("M")[1:]]
    assert len(lines) == n
    assert len([part for _, part in lines if float(part.split(",")[1].split("V")[0]) > 0.9]) == rail
    check(pressure_figure(replace(session_of(300), compactions=cuts)))


def test_floor_is_top_of_the_token_axis_in_bytes_of_text() -> None:
    scale = byte_scale(10_000, 2.61, 3_118_893, 1.72)
    assert scale.floor == pytest.approx(26_100)
    assert scale.place(scale.floor) == pytest.approx(1)
    assert scale.bottom == 2 * 3_118_893
    assert scale.place(scale.bottom) == pytest.approx(1 + 1.72)


def test_zone_ends_at_a_megabyte_at_least() -> None:
    assert byte_scale(1_000, 3, 5_000, 1.7).bottom == 1_000_000


@given(st.floats(1, 1e9), st.floats(1, 1e9))
def test_more_bytes_never_stand_higher(one: float, other: float) -> None:
    scale = byte_scale(10_000, 2.61, 1e9, 1.72)
    low, high = sorted((one, other))
    assert scale.place(low) <= scale.place(high)


def test_bytes_per_token_is_the_sessions_own() -> None:
    kinds = [{"text": 100}, {"text": 150, "thinking": 50}, {"text": 9, "image": 8}]
    assert bytes_per_token(kinds, [260, 520, 9_000]) == pytest.approx(2.6)
    assert bytes_per_token([{}], [900]) == 4


PLAIN_BARS = [Bar(i, {"text": 10 + i % 7}, 40) for i in range(2_500)]


@given(st.sets(st.integers(0, 2_499), max_size=30))
def test_binning_never_bins_a_flagged_message(flagged: set[int]) -> None:
    shown = binned([Bar(b.index, b.tokens, b.n_bytes, 20.0) if b.index in flagged else b for b in PLAIN_BARS])
    own = {bar.index for bar in shown if bar.flagged}
    assert own == flagged
    assert all(bar.width == 1 for bar in shown if bar.flagged)
    assert len(shown) <= charts_bars.MOST_BARS + len(flagged)


def test_bin_shows_its_heaviest_message_and_names_it() -> None:
    bars = [Bar(i, {"text": 10}, 40) for i in range(3_000)]
    bars[11] = Bar(11, {"tool_use": 900}, 4_000)
    whole = next(bar for bar in binned(bars) if bar.index <= 11 <= bar.index + bar.width - 1)
    assert whole.tokens == {"tool_use": 900}
    assert (whole.n_bytes, whole.message) == (4_000, 11)


def test_only_bars_that_are_shown_are_given_words() -> None:
    told: list[int] = []

    def words(bar: Bar) -> Bar:
        told.append(bar.message)
        return replace(bar, said="user, text")

    data = Pressure(PLAIN_BARS, [], [], 200_000, 2.6, told=words)
    said = pressure_figure(data)["layout"]["meta"]["points"]["said"]
    assert said == ["user, text"]
    assert len(told) == len(binned(PLAIN_BARS)) < len(PLAIN_BARS)


def test_few_messages_are_not_binned() -> None:
    bars = [Bar(i, {"text": 10}, 40) for i in range(1_500)]
    assert binned(bars) == bars


@pytest.mark.parametrize("figure", [
    pressure_figure(session_of(120, {37: 1_540.2, 40: 186.0})),
    pressure_figure(session_of(4_000, {3_990: 1_540.2})),
    pressure_figure(replace(session_of(120), refused=[Mark(60, 205_148, "No")], cleared=[Mark(30, 9_000, "Emptied")])),
    pressure_figure(session_of(0)),
    pressure_figure(session_of(1)),
    saw_figure(saw_of()),
    saw_figure(saw_of(gate=GateLane([100] * 60, 167_232, "bytes", "wire bytes", [30]))),
    saw_figure(Saw([], [], [], 200_000, None)),
    gates_figure(gates_of()),
    gates_figure(Gates([], 200_000, [], "none recorded")),
    scatter_figure(POINTS, POINTS[:5]),
    scatter_figure([], []),
    residual_figure(POINTS, POINTS[:5], 3_000),
    residual_figure([], [], 0),
    carried_figure(
        WorkingSet((), tuple(range(2_000)), (9_000,) * 2_000, (4_000,) * 2_000, (500,) * 2_000, None), [700]
    ),
    carried_figure(WorkingSet((), (), (), (), (), None)),
    telephone_figure([Chain("one", [90.0, 40.0]), Chain("two", []), Chain("three", [50.0])]),
    telephone_figure([]),
])  # fmt: skip
def test_figures_are_valid_and_name_no_colour(figure: dict[str, Any]) -> None:
    check(figure)
    assert roles(figure) <= ROLES
    plain = [text for text in texts(figure) if COLOUR.fullmatch(text) or text.startswith(("rgb(", "hsl("))]
    assert plain == []
    assert not [text for text in texts(figure) if "<b>" in text or "style" in text], (
        "a style attribute breaks the policy"
    )
    assert jsonio.loads(figure_json(figure).encode()) == jsonio.loads(jsonio.dumps(figure).encode())


ROLES = {f"kind-{kind.replace('_', '-')}" for kind in KINDS} | {
    "chart-line", "chart-area", "chart-ghost", "chart-recorded", "chart-bytes", "chart-over", "chart-over-zone",
    "chart-grid", "chart-axis", "chart-label", "chart-strong", "chart-paper", "chart-on-line", "chart-over-ink",
    "chart-image-ink", "chart-other",
}  # fmt: skip


@pytest.mark.parametrize("wrong", [{"xanchor": "lefft"}, {"no_such": 1}, {"font": {"color": "no colour"}}])
def test_an_invalid_figure_is_found(wrong: dict[str, Any]) -> None:
    figure = pressure_figure(session_of(120, {37: 1_540.2}))
    check(figure)
    figure["layout"]["annotations"][0] |= wrong
    with pytest.raises(ValueError, match="Invalid"):
        check(figure)


def test_every_role_is_a_registered_property_of_the_style_sheet() -> None:
    from pathlib import Path

    css = (Path(__file__).parents[2] / "static/css/tokens.css").read_text()
    assert [role for role in ROLES if f"@property --{role} " not in css.replace("  ", " ")] == []


def test_worst_message_is_named_with_factor_bytes_and_tokens() -> None:
    figure = pressure_figure(session_of(120, {37: 1_540.2}))
    words = " ".join(note["text"] for note in figure["layout"]["annotations"])
    assert "×1,540" in words
    assert "#37 screenshot: 3.12 MB, 2,025 tokens" in words
    assert "a byte trigger fires here" in words
    red = next(trace for trace in figure["data"] if trace["name"] == "over-counted")
    assert red["x"] == [37]
    assert red["meta"]["px"][0] >= 5


def test_kinds_are_stacked_from_the_calmest() -> None:
    bars = [Bar(0, dict.fromkeys(reversed(KINDS), 10), 300)]
    figure = pressure_figure(Pressure(bars, [], [], 200_000, 2.6))
    assert [trace["name"] for trace in figure["data"]][:8] == list(KINDS)


def test_json_cannot_close_its_element() -> None:
    bars = [Bar(0, {"image": 10}, 3_000_000, 300_000.0, "</template><script>")]
    text = figure_json(pressure_figure(Pressure(bars, [], [], 200_000, 2.6)))
    assert "<" not in text
    assert ">" not in text


@given(st.lists(st.one_of(st.none(), st.integers(0, 300_000)), min_size=1, max_size=4_000))
def test_thinning_keeps_the_peak(values: list[int | None]) -> None:
    known = [value for value in values if value is not None]
    kept = [values[at] for at in thinned(values)]
    assert None not in kept
    if known:
        assert max(value or 0 for value in kept) == max(known)


def test_saw_draws_the_fall_at_the_event() -> None:
    figure = saw_figure(saw_of())
    mine = next(trace for trace in figure["data"] if trace["name"] == "this replay")
    at = mine["x"].index(30)
    assert mine["y"][at : at + 2] == [45_000, 45_000]
    assert mine["x"][at : at + 2] == [30, 30]


def test_gate_in_another_unit_has_a_lane_and_no_line_in_the_main_one() -> None:
    figure = saw_figure(Saw([1] * 9, [1] * 9, [1] * 9, 200_000, None, gate=GateLane([5] * 9, 7, "bytes", "wire bytes")))
    dashed = [shape for shape in figure["layout"]["shapes"] if shape["line"].get("dash") == "5px,3px"]
    assert [shape["yref"] for shape in dashed] == ["y2"]


@pytest.mark.parametrize(("value", "top"), [(0, 10), (9, 10), (11, 12.5), (2_043, 2_500), (8_400, 10_000)])
def test_axis_ends_at_a_round_number(value: float, top: float) -> None:
    assert nice_top(value) == pytest.approx(top, abs=0.5)


def test_message_axis_starts_at_zero_and_ends_at_the_last() -> None:
    marks = index_ticks(0, 411)
    assert (marks[0], marks[-1]) == (0, 411)


def test_each_verdict_of_a_gate_has_its_own_mark_in_its_lane() -> None:
    figure = gates_figure(gates_of())
    marks = {trace["name"]: trace for trace in figure["data"] if trace["mode"] == "markers"}
    assert {name: (trace["x"], trace["y"]) for name, trace in marks.items()} == {
        "false": ([18], [1]), "late": ([30], [1]), "right": ([40], [1]), "missed": ([50], [1]),
    }  # fmt: skip
    assert len({trace["marker"]["symbol"] for trace in marks.values()}) == 4, "shape, not colour alone"
    waits = next(trace for trace in figure["data"] if trace["mode"] == "lines" and trace.get("yaxis") == "y2")
    assert waits["x"] == [25, 30, None, 50, 59, None]


def test_the_words_right_of_a_lane_have_room() -> None:
    lane = GateTrack("Letta", [], "100 false, 12 late, 118 right, 1 missed", alarm=True)
    figure = gates_figure(replace(gates_of(), lanes=[lane]))
    assert figure["layout"]["margin"]["r"] >= 6 * len(lane.sums) + 8


@pytest.mark.parametrize(("n", "foot"), [(60, 0.0), (61, 0.985)])
def test_many_recorded_compactions_stand_on_a_rail_above_the_triggers(n: int, foot: float) -> None:
    shapes = gates_figure(replace(gates_of(), compactions=range(n)))["layout"]["shapes"]
    (path,) = [s["path"] for s in shapes if s["type"] == "path"]
    assert path == "".join(f"M{at},{foot:g}V1" for at in range(n))


def test_a_long_fit_is_thinned_but_keeps_its_worst() -> None:
    worst = [POINTS[1], POINTS[2_501]]
    shown = shown_points(POINTS, worst)
    assert len(shown) <= MOST_POINTS + len(worst)
    assert set(worst) <= set(shown)
    assert max(point.rest for point in POINTS) == max(point.rest for point in shown)
    assert min(point.rest for point in POINTS) == min(point.rest for point in shown)
    assert [point.request for point in shown] == sorted(point.request for point in shown)


def crowd(n: int, *, chosen: int = 0) -> Saw:
    """A session of ``n`` compactions, thirty requests each."""
    values: list[int | None] = [20_000 + 4_000 * (at % 30) for at in range(30 * n)]
    teeth = [Tooth(k + 1, 30 * k + 29, 136_000, 20_000, chosen=k == chosen, is_false=k == 3) for k in range(n)]
    return Saw(values, [], [], 200_000, 136_000, teeth)


@pytest.mark.parametrize("n", [4, 5, 20, 21, 60, 61, 129])
def test_many_compactions_lose_their_words_then_their_numbers_then_their_lines(n: int) -> None:
    """Words up to 4, numbers up to 20, then marks on a rail; above 60 an envelope that misses no peak."""
    figure = saw_figure(crowd(n))
    check(figure)
    numbers = [a["text"] for a in figure["layout"]["annotations"] if a.get("captureevents")]
    assert numbers[:2] == ["1", "4"][: len(numbers)], "the chosen one first, then the false alarm"
    assert len(numbers) == (n if n <= 20 else 1)
    assert len({a["y"] for a in figure["layout"]["annotations"] if a.get("captureevents")}) == 1
    freed = [a for a in figure["layout"]["annotations"] if a["text"].startswith("\N{MINUS SIGN}")]
    assert len(freed) == (n if n <= 4 else 0)
    rail = [s["path"].count("M") for s in figure["layout"]["shapes"] if s["type"] == "path"]
    assert sum(rail) == (n if n > 20 else 0)
    staged = {t["meta"]["when"]: t for t in figure["data"] if t.get("meta", {}).get("when")}
    assert set(staged) == ({"near", "far"} if n > 60 else set())
    if n > 60:
        assert max(staged["far"]["y"]) == 136_000
        assert len(staged["far"]["y"]) <= 301
    assert ("strip" in figure["layout"]["meta"]) == (n > 20)


def test_the_rug_of_a_long_session_reaches_its_end() -> None:
    """Of 1,200 uses at most 300 are drawn, from the first to the last; a broken rule among them is there too."""
    saw = replace(crowd(40), uses=range(1_200), broken=[1_150])
    shapes = saw_figure(saw)["layout"]["shapes"]
    ticks = [s for s in shapes if s["type"] == "line" and s["xref"] == "x" and s["y0"] == 0]
    places = sorted(s["x0"] for s in ticks if s["line"]["color"] in {"@chart-over", "@chart-other"})
    assert len(places) == 301
    assert places[0] == 0
    assert places[-1] > 1_190
    assert max(ticks, key=lambda tick: tick["y1"])["x0"] == 1_150


@given(st.lists(st.none() | st.integers(0, 1_000_000), max_size=2_000))
def test_an_envelope_holds_every_value(values: list[int | None]) -> None:
    at, low, high = envelope(values, 50)
    assert len(at) <= 50
    bounds = [*at, len(values)]
    for k, (least, most) in enumerate(zip(low, high, strict=True)):
        inside = [v for v in values[bounds[k] : bounds[k + 1]] if v is not None]
        assert least == min(inside)
        assert most == max(inside)


@given(st.integers(0, 5_000), st.integers(1, 900), st.none() | st.tuples(st.integers(0, 6_000), st.integers(0, 6_000)))
def test_spans_hold_every_place_once(n: int, most: int, near: tuple[int, int] | None) -> None:
    found = spans(n, most, near)
    assert [at for span in found for at in span] == list(range(n))
    assert len(found) <= most + most // 3 + 3


def many(n: int, n_flagged: int = 0) -> Pressure:
    """Messages of all weights, ``n_flagged`` of them over-counted, a request for every other."""
    flagged = {n // n_flagged * k: 10.0 + k for k in range(n_flagged)} if n_flagged else {}
    bars = [
        Bar(i, {"text": i * 7919 % 1009 + 1}, i * 104_729 % 50_021, flagged.get(i), said=f"message {i}")
        for i in range(n)
    ]
    contexts = [(i, i * 31 % 977, i // 2) for i in range(1, n, 2)]
    return Pressure(bars, contexts, [Cut(i - 0.5, 9, 1) for i in range(10, n, 10)], 200_000, 3.0)


def points_of(figure: dict[str, Any]) -> int:
    return sum(len(trace["x"]) for trace in figure["data"])


@pytest.mark.parametrize("near", [None, (9_000, 9_400), (100, 19_000)])
def test_a_chart_of_a_long_session_loses_no_peak_and_no_compaction(near: tuple[int, int] | None) -> None:
    data = many(20_000, n_flagged=3_000)
    figure = pressure_figure(data, near)
    check(figure)
    bars = figure["layout"]["meta"]["points"]
    assert len(bars["message"]) <= 2_000
    assert max(bars["tokens"]) == max(bar.total for bar in data.bars)
    assert max(bars["bytes"]) == max(bar.n_bytes for bar in data.bars)
    line = next(trace for trace in figure["data"] if trace["name"] == "context")
    tokens = [tokens for _, tokens, _ in data.contexts]
    assert len(line["x"]) <= 1_800
    lowest = [trace["y"] for trace in figure["data"] if trace["name"] == "lowest"] or [line["y"]]
    assert (max(line["y"]), min(lowest[0])) == (max(tokens), min(tokens))
    red = next(trace for trace in figure["data"] if trace["name"] == "over-counted")
    assert 200 <= len(red["x"]) <= 500
    (marks,) = (s["path"].count("M") for s in figure["layout"]["shapes"] if s["type"] == "path")
    inside = [cut for cut in data.compactions if near and near[0] - 1 <= cut.at <= near[1]]
    assert len(inside) <= marks <= len(inside) + MOST_LINES
    assert "1,999 compactions, up to 34 a mark" in [note["text"] for note in figure["layout"]["annotations"]]
    assert figure["layout"]["meta"]["coarse"]
    assert max(map(bars["first"].count, bars["first"])) <= 2, "a bin, and one that stands alone in it"


def test_where_a_reader_zooms_every_message_has_its_bar_and_every_request_its_place() -> None:
    data = many(20_000)
    figure = pressure_figure(data, (9_000, 9_400))
    rows, plain = figure["layout"]["meta"]["points"], pressure_figure(many(1_400))["layout"]["meta"]["points"]
    near = [place for place, first in enumerate(rows["first"]) if 9_000 <= first <= 9_400]
    assert [rows["message"][place] for place in near] == list(range(9_000, 9_401))
    assert [rows["tokens"][place] for place in near] == [data.bars[i].total for i in range(9_000, 9_401)]
    assert [rows["said"][rows["words"][place]] for place in near] == [f"message {i}" for i in range(9_000, 9_401)]
    assert len(rows["message"]) < 2_000
    line = next(trace for trace in figure["data"] if trace["name"] == "context")
    shown = dict(zip(line["x"], line["y"], strict=True))
    assert shown == {at: tokens for at, tokens, _ in data.contexts if at in shown}
    assert len([at for at in shown if 9_000 <= at <= 9_400]) >= 190
    assert plain["request"][:4] == [0, 0, 1, 1]
    assert plain["request"][-1] == 699
    assert not pressure_figure(many(600))["layout"]["meta"]["coarse"]
    assert pressure_figure(many(1_400))["layout"]["meta"]["coarse"], "139 compactions are an envelope until one zooms"


def test_the_last_message_may_be_sent_with_no_request() -> None:
    rows = pressure_figure(replace(many(10), contexts=[(3, 500, 0)]))["layout"]["meta"]["points"]
    assert (rows["request"], rows["context"]) == ([0] * 4 + [-1] * 6, [500] * 4 + [-1] * 6)


@pytest.mark.parametrize("near", [None, (4_000, 4_020)])
def test_many_firings_of_triggers_are_thinned_and_counted(near: tuple[int, int] | None) -> None:
    verdicts = ("false", "right", "late")
    lanes = [
        GateTrack(f"agent {k}", [
            GateMark(verdicts[(at + k) % 3], at, at - 2 if (at + k) % 3 == 2 else None, at, f"at {at}")
            for at in range(k, 8_000, 5)
        ], "many")
        for k in range(16)
    ]  # fmt: skip
    figure = gates_figure(Gates([1_000] * 8_000, 200_000, lanes, "measured", range(0, 8_000, 20)), near)
    check(figure)
    marks = [trace for trace in figure["data"] if trace["mode"] == "markers"]
    assert {trace["name"] for trace in marks} == set(verdicts), "no verdict is lost"
    if near is None:
        assert sum(len(trace["x"]) for trace in marks) <= 2_000
    more = [MORE.search(text) for trace in marks for text in trace["text"]]
    assert sum(1 + int(one[1].replace(",", "")) if one else 1 for one in more) == sum(len(lane.marks) for lane in lanes)
    if near is not None:
        shown = {(y, x) for trace in marks for x, y in zip(trace["x"], trace["y"], strict=True) if 4_000 <= x <= 4_020}
        assert shown == {(k, at) for k in range(16) for at in range(k, 8_000, 5) if 4_000 <= at <= 4_020}
    assert figure["layout"]["meta"]["coarse"]
    assert not gates_figure(gates_of())["layout"]["meta"]["coarse"]
