"""What recorded sessions cost, against a price sheet and a reading of usage of the test's own."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from sessions.engine.costs.caching import NO_READS, cache_use
from sessions.engine.costs.cost import Cost, totals
from sessions.engine.costs.cost_fit import comparison, recorded_cost, replay_range
from sessions.engine.costs.cost_report import beside_usage, cost_document, cost_sentences
from sessions.engine.replays.replay import replay
from sessions.engine.transcript.types import Usage
from sessions.engine.weigh.calibration.calibrate import weigh
from tests.engine.sessions import Build, long_session
from tests.every import EVERY
from tests.recordings import content, recordings, transcripts
from tests.samples import samples_dir

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from sessions.engine.transcript.types import Transcript

SHEET = {
    # Dollars a million tokens: input, cache read, write of 5 minutes, of an hour, output (the providers' price pages).
    "claude-opus-4-6": (5, 0.5, 6.25, 10, 25),
    "claude-opus-4-5": (5, 0.5, 6.25, 10, 25),
    "claude-opus-4-1": (15, 1.5, 18.75, 30, 75),
    "claude-sonnet-4-6": (3, 0.3, 3.75, 6, 15),
    "claude-sonnet-4-5": (3, 0.3, 3.75, 6, 15),
    "claude-sonnet-4": (3, 0.3, 3.75, 6, 15),
    "claude-haiku-4-5": (1, 0.1, 1.25, 2, 5),
    "gpt-4o-mini": (0.15, 0.075, 0.15, 0.15, 0.6),
    "gpt-4o": (2.5, 1.25, 2.5, 2.5, 10),
    "gpt-4.1-mini": (0.4, 0.1, 0.4, 0.4, 1.6),
    "gpt-4.1": (2, 0.5, 2, 2, 8),
    "gpt-5-mini": (0.25, 0.025, 0.25, 0.25, 2),
    "gpt-5.2-codex": (1.75, 0.175, 1.75, 1.75, 14),
    "gemini-2.5-flash": (0.3, 0.03, 0.3, 0.3, 2.5),
}


def priced_by_hand(model: str, usage: Usage) -> float | None:
    """Price × tokens, one line; the longest name of the sheet that the model's begins with."""
    plain = model.rsplit("/", 1)[-1]
    name = max((n for n in SHEET if plain.startswith(n)), key=len, default=None)
    if name is None or plain[len(name) :].startswith("."):
        return None
    into, read, short, hour, output = SHEET[name]
    five_minutes = usage.cache_write - usage.cache_write_1h
    parts = (
        usage.input * into, usage.cache_read * read, five_minutes * short, usage.cache_write_1h * hour,
        usage.output * output,
    )  # fmt: skip
    return sum(parts) / 1_000_000


def by_hand(transcript: Transcript) -> float | None:
    costs = [priced_by_hand(r.model or transcript.model, r.usage) for r in transcript.requests if r.usage]
    return None if None in costs or not costs else sum(c for c in costs if c is not None)


@pytest.mark.samples
def test_recorded_cost_is_list_price_times_usage_in_every_session() -> None:
    """Within half a per cent; and what the model says of the same requests holds it in nine of ten."""
    samples_dir()
    n_checked, wrong, inside = 0, [], []
    paths = recordings("samples", "samples-2026") + recordings("corpus/claude-code")[:: 1 if EVERY else 4]
    for name, parsed in transcripts(paths):
        for transcript in parsed.transcripts:
            expected, weighed = by_hand(transcript), weigh(transcript)
            if not expected:
                continue
            n_checked += 1
            spent = recorded_cost(weighed)
            if spent is None or spent.dollars != pytest.approx(expected, rel=0.005):
                wrong.append((name, transcript.id, expected, spent))
            if made := comparison(weighed):
                inside.append(made.is_within)
    assert n_checked > (200 if EVERY else 120)
    assert not wrong
    assert sum(inside) >= 0.9 * len(inside) > (180 if EVERY else 100)


def with_usages(transcript: Transcript, changed: Callable[[Usage], Usage]) -> Transcript:
    """The transcript with every usage changed."""
    requests = tuple(replace(r, usage=changed(r.usage)) if r.usage else r for r in transcript.requests)
    return replace(transcript, requests=requests)


def lines_of(path: Path) -> dict[str, tuple[str, dict[str, Any]]]:
    """The last usage of every reply of a Claude Code file, by message id: read line by line."""
    found = {}
    for line in content(path).decode().split("\n"):
        at = 0
        while at < len(line):  # now and then two objects stand on a line
            value, at = json.JSONDecoder().raw_decode(line, at)
            message = value.get("message") or {}
            usage = message.get("usage")
            if value.get("type") == "assistant" and usage and message.get("model") != "<synthetic>":
                found[message["id"]] = (message["model"], usage)
    return found


@pytest.mark.samples
def test_recorded_cost_of_the_corpus_is_that_of_its_lines() -> None:
    """Input side: every reply once, whatever its lines repeat."""
    samples_dir()
    paths = recordings("corpus/claude-code")[2 :: 4 if EVERY else 12]
    for path in paths:
        expected = 0.0
        for model, usage in lines_of(path).values():
            kept_long = (usage.get("cache_creation") or {}).get("ephemeral_1h_input_tokens", 0)
            written, read = usage.get("cache_creation_input_tokens", 0), usage.get("cache_read_input_tokens", 0)
            expected += (
                priced_by_hand(model, Usage(usage["input_tokens"], read, written, 0, cache_write_1h=kept_long)) or 0
            )
        ((_, parsed),) = transcripts([path])
        bare = [
            replace(
                t, requests=tuple(replace(r, usage=replace(r.usage, output=0)) if r.usage else r for r in t.requests)
            )
            for t in parsed.transcripts
        ]
        costs = [spent.dollars for t in bare if (spent := recorded_cost(weigh(t)))]
        assert sum(costs) == pytest.approx(expected, rel=0.005), path.name


def with_usage(session: Build, **usages: Usage) -> Transcript:
    made = session.done()
    return replace(made, requests=tuple(replace(r, usage=usages.get(f"r{r.index}", r.usage)) for r in made.requests))


def test_each_request_has_the_price_of_its_own_model() -> None:
    """1,000,000 plain input tokens each: 3 dollars and 1; a third model has no price."""
    session = Build()
    session.prompt()
    session.turns(3)
    one = Usage(input=1_000_000)
    made = with_usage(session, r0=one, r1=one, r2=one)
    models = ("claude-sonnet-4-5", "claude-haiku-4-5", "nobody-knows")
    requests = tuple(replace(r, model=model) for r, model in zip(made.requests, models, strict=True))
    spent = recorded_cost(weigh(replace(made, requests=requests)))
    assert spent is not None
    assert (spent.dollars, spent.n_requests, spent.n_unpriced) == (pytest.approx(4), 2, 1)
    assert spent.is_lower_bound


def test_what_was_sent_is_held_against_the_usage_where_they_differ() -> None:
    """4 dollars of usage: at the edges of the range, half a per cent allowed, nothing is said; beyond them both are."""
    session = Build()
    session.prompt()
    session.turns(2)
    one = Usage(input=1_000_000)
    made = with_usage(session, r0=one, r1=one)
    models = ("claude-sonnet-4-5", "claude-haiku-4-5")
    weighed = weigh(replace(made, requests=tuple(map(lambda r, m: replace(r, model=m), made.requests, models))))

    def told(low: float, high: float, n_calls: int = 0) -> str:
        sums = totals(replay(weighed, "none"))
        return beside_usage(weighed, replace(sums, cost=Cost(low, high), summary_calls=n_calls))

    assert told(4 / 0.995, 5) == told(3, 4 / 1.005) == ""
    assert told(4.03, 5) == (
        "As recorded, what was sent is priced by the rule of every setting, $4.03–5.00; the usage in the file comes to "
        "$4.00."
    )
    assert told(3, 3.97, 2).startswith("As recorded, what was sent and 2 calls for summaries are priced by")


def test_usage_off_the_branch_is_not_held_against_what_the_branch_sent() -> None:
    """2 of 3 million tokens at 3 dollars are on the branch; a request without usage makes it "at least"."""
    session = Build()
    session.prompt()
    session.turns(3)
    one = Usage(input=1_000_000)
    made = with_usage(session, r0=one, r1=one, r2=one)
    whole = weigh(replace(made, requests=tuple(replace(r, model="claude-sonnet-4-5") for r in made.requests)))
    sums = replace(totals(replay(whole, "none")), cost=Cost(100, 100), summary_calls=0)
    branch = replace(whole, steps=whole.steps[:2])
    assert beside_usage(whole, sums).endswith("the usage in the file comes to $9.00.")
    assert beside_usage(branch, sums).endswith("the usage of this branch comes to $6.00.")
    requests = whole.transcript.requests
    silent = replace(whole.transcript, requests=(replace(requests[0], usage=None), *requests[1:]))
    told = beside_usage(replace(whole, transcript=silent), sums)
    assert told.endswith("the usage in the file comes to at least $6.00.")


def test_a_placeholder_makes_it_a_lower_bound_and_counts_on_neither_side() -> None:
    session = Build()
    session.prompt()
    session.turns(4)
    plain = weigh(session.done())
    made = with_usage(session, r1=replace(plain.transcript.requests[1].usage or Usage(), output=1, placeholder=True))
    spent, compared = recorded_cost(weigh(made)), comparison(weigh(made))
    assert spent is not None
    assert compared is not None
    assert (spent.n_placeholders, spent.is_lower_bound) == (1, True)
    assert compared.recorded == pytest.approx(spent.dollars - 15 / 1_000_000)
    assert compared.is_within


def test_a_provider_that_reports_no_reads_is_plain_input_everywhere() -> None:
    """Not what a cache that always hits would cost: the model follows, and the cause is named with its dollars."""
    transcript = with_usages(long_session(60), lambda u: Usage(u.context, output=u.output))
    weighed = weigh(transcript)
    compared = comparison(weighed)
    expected = sum(3 * r.usage.input + 15 * r.usage.output for r in transcript.requests if r.usage) / 1_000_000
    assert compared is not None
    assert compared.recorded == pytest.approx(expected)
    assert compared.modelled == pytest.approx(expected)
    assert compared.rule < expected / 2
    assert [c.name for c in compared.causes] == ["no cache reads reported at all"]
    assert compared.causes[0].dollars == pytest.approx(expected - compared.rule)
    sums = totals(replay(weighed, "none"))
    assert (sums.cache_read_tokens, sums.cache_write_tokens) == (0, 0)
    assert sums.cost is not None
    assert sums.cost.low == pytest.approx(expected)
    assert cache_use(weighed).kind == NO_READS


def test_a_missed_request_is_missed_in_a_replay_too() -> None:
    """Request 30 read a quarter of what it could: so it does in the replay, and nothing else changes."""
    transcript = long_session(60)
    usage = transcript.requests[30].usage
    assert usage is not None
    read = transcript.requests[29].usage.context  # type: ignore[union-attr]
    missed = replace(usage, cache_read=read // 4, cache_write=usage.context - 5 - read // 4)
    requests = tuple(replace(r, usage=missed) if r.index == 30 else r for r in transcript.requests)
    weighed = weigh(replace(transcript, requests=requests))
    sums = totals(replay(weighed, "none"))
    assert sums.cache_read_tokens == pytest.approx(sum(r.usage.cache_read for r in requests if r.usage), abs=2)
    compared = comparison(weighed)
    assert compared is not None
    assert compared.causes[0].name == "only part read: the prefix changed on the way"
    assert compared.causes[0].n_requests == 1
    assert compared.causes[0].dollars == pytest.approx((read - read // 4) * (3.75 - 0.3) / 1_000_000, rel=0.001)


@pytest.mark.parametrize(("idle", "later", "lifetime"), [(400, True, 3_600), (400, False, 300), (4_000, True, 86_400)])
def test_the_lifetime_is_what_pauses_show(idle: float, later: bool, lifetime: float) -> None:
    """A pause of 400 s after which all is read: an hour, although the writes are of five minutes."""
    session = Build()
    session.prompt()
    session.turns(10)
    session.clock += idle
    if later:
        session.last = session.clock
    session.turns(10, start=10)
    assert cache_use(weigh(session.done())).lifetime == lifetime


def test_the_first_request_may_read_what_others_left() -> None:
    session = Build()
    session.cached, session.last = 8_000, 0.0
    session.prompt()
    session.turns(5)
    weighed = weigh(session.done())
    assert cache_use(weighed).start == 8_000
    assert totals(replay(weighed, "none")).cache_read_tokens == sum(
        r.usage.cache_read for r in weighed.transcript.requests if r.usage
    )


def test_the_range_holds_what_is_not_known() -> None:
    """Narrow where all is measured; with half the usage it holds what was paid; wider with none."""
    transcript = long_session(100)
    whole = weigh(transcript)
    widths = []
    for n_kept in (101, 50, 0):
        requests = tuple(r if r.index < n_kept else replace(r, usage=None) for r in transcript.requests)
        result = replay(weigh(replace(transcript, requests=requests)), "none")
        around = replay_range(result, totals(result))
        assert around is not None
        widths.append((around[1] - around[0]) / (around[1] + around[0]))
        if n_kept:
            spent = recorded_cost(whole)
            assert spent is not None
            assert around[0] <= spent.dollars <= around[1]
    assert widths == sorted(widths)
    assert widths[0] < 0.01 < widths[1]


def test_the_document_says_measured_first() -> None:
    document = cost_document(weigh(long_session(20)))
    assert document is not None
    assert (document["label"], document["model"]["label"]) == ("measured", "calibrated")
    assert document["recorded_usd"] == pytest.approx(document["model"]["modelled_usd"], rel=0.005)
    assert document["model"]["is_within"]
    (recorded, *_) = cost_sentences(document)
    assert recorded.startswith(f"Recorded cost: ${document['recorded_usd']:.2f} (measured: usage at list prices")
    assert cost_document(weigh(long_session(20, usage=False))) is None
    assert cost_document(weigh(long_session(20, model="a-model-nobody-knows"))) is None


def test_the_sentences_name_the_cause_and_what_is_missing() -> None:
    """No reads at all; one output that is a placeholder."""
    plain = with_usages(long_session(60), lambda u: Usage(u.context, output=u.output))
    requests = list(plain.requests)
    requests[0] = replace(requests[0], usage=replace(requests[0].usage or Usage(), output=1, placeholder=True))
    said = " ".join(cost_sentences(cost_document(weigh(replace(plain, requests=tuple(requests))))))
    assert said.startswith("Recorded cost: at least $")
    assert "1 outputs were recorded before they were complete." not in said
    assert "1 output was recorded before it was complete." in said
    assert "Difference: no cache reads reported at all (+$" in said
    assert cost_sentences(None) == ()
