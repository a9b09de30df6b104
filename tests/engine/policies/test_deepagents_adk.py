"""deepagents' three layers and Google ADK's two triggers: at, below and above each limit."""

from __future__ import annotations

import pytest

from sessions.engine.base import registry
from sessions.engine.policies import deepagents_summarization
from sessions.engine.policies._lists import role_of
from sessions.engine.replays.replay import replay
from sessions.engine.weigh.calibration.calibrate import weigh
from sessions.engine.weigh.sizes import message_sizes
from tests.engine.policies.sent import last, reply, result, turns, user, views
from tests.parity.lists import transcript


def approximate(spec):
    return sum(message_sizes(weigh(transcript(spec)), registry.get("estimators", "langchain")))


def conversation(n: int, chars: int = 4_000) -> list[dict]:
    return [m for _ in range(n) for m in (user(chars), reply(chars=chars))] + [user(chars)]


QUIET = {"usage": "none"}


@pytest.mark.golden("deepagents_summarization")
@pytest.mark.parametrize(("over", "fires"), [(0, True), (1, False)])
def test_deepagents_summarises_at_the_share(over, fires):
    """Twenty-one messages of about 1,000 tokens; the share of the window is just their count, or one more."""
    spec = conversation(10)
    window = 100_000
    share = (approximate(spec) + over) / window
    sent = last(spec, "deepagents_summarization", window=window, trigger=share, keep=0.05, **QUIET)
    assert (sent[0] == "new") is fires
    if fires:
        assert sent == ["new", 17, 18, 19, 20], "four of 1,007 fit into 5,000"


def test_deepagents_acts_over_its_input_budget_too():
    spec = conversation(10)
    count = approximate(spec)
    window = int(count / 0.95) + 2
    given = {"trigger": 1.0, "keep": 0.2, **QUIET}
    assert last(spec, "deepagents_summarization", window=window, **given)[0] == 0
    assert last(spec, "deepagents_summarization", window=window, max_output=10, **given)[0] == "new"


def test_deepagents_unknown_profile_keeps_six_messages():
    """Of 10,000 tokens each: 17 are over 170,000, at the request that sends message 16."""
    spec = conversation(10, 40_000)
    assert last(spec, "deepagents_summarization", profile="unknown", **QUIET) == ["new", *range(11, 21)]


def test_deepagents_looks_again_at_long_calls_alone(monkeypatch):
    """Two calls are cut and stay so; of the others twice as many are twice the looks, though every request asks."""

    def looks(n: int) -> int:
        seen = []
        monkeypatch.setattr(deepagents_summarization, "role_of", lambda item: seen.append(item) or role_of(item))
        first = [m for k in range(2) for m in (reply(f"w{k}", name="write_file", args=9_000), result(f"w{k}"))]
        others = [m for k in range(n) for m in (reply(f"a{k}"), result(f"a{k}", 400))]
        spec = transcript([user(), *first, *others, user()])
        made = replay(weigh(spec), "deepagents_summarization", window=100_000, params={"trigger": 0.04, "keep": 0.02})
        assert [[layer.name for layer in event.layers] for event in made.events] == [["arguments"]]
        return len(seen)

    assert looks(60) <= 2.3 * looks(30)


@pytest.mark.parametrize(("argument", "left"), [(2_000, 2_014), (2_001, 14 + 20 + 23)])
def test_deepagents_cuts_old_arguments(argument, left):
    """Twenty messages reach the trigger of an unknown model; the newest 20 are spared, so one more is needed."""
    spec = [user(), reply("a", name="write_file", args=argument), result("a")]
    spec += [m for n in range(9) for m in (reply(f"b{n}"), result(f"b{n}"))] + [user(), user()]
    sent = views(spec, "deepagents_summarization", profile="unknown", **QUIET)[-1]
    assert sent[1][3][0][1] == left
    other = [{**m, "calls": [{**c, "name": "Bash"} for c in m["calls"]]} if m.get("calls") else m for m in spec]
    assert views(other, "deepagents_summarization", profile="unknown", **QUIET)[-1][1][3][0][1] == argument + 14


@pytest.mark.parametrize(("chars", "evicted"), [(80_000, False), (80_001, True)])
def test_deepagents_sends_large_results_to_files(chars, evicted):
    spec = [user(), reply("a"), result("a", chars), reply("b", name="read_file"), result("b", 90_000)]
    sent = views(spec, "deepagents_summarization", **QUIET)[-1]
    assert (sent[2][4][0][1] < 2_000) is evicted
    assert sent[4][4][0][1] == 90_000, "tools of the file system are spared"


@pytest.mark.golden("adk_compaction")
@pytest.mark.parametrize(("over", "fires"), [(0, True), (1, False)])
def test_adk_at_the_threshold(over, fires):
    """The prompt last reported is the threshold, or one less; the newest three events stay with their calls."""
    spec = turns(4)
    reported = replay(weigh(transcript(spec)), "none").sent.tokens[-2]
    sent = last(spec, "adk_compaction", token_threshold=reported + over, retention=3)
    assert sent == (["new", 5, 6, 7, 8] if fires else list(range(9)))


def test_adk_keeps_as_many_events_as_it_is_told():
    spec = turns(4)
    assert last(spec, "adk_compaction", token_threshold=1, retention=9) == list(range(9))
    assert last(spec, "adk_compaction", token_threshold=1, retention=0)[0] == "new"


def test_adk_by_invocations():
    """Each prompt starts one: after three the summary covers 0 to 2; after three more the overlap is covered too."""
    spec = [m for _ in range(7) for m in (user(400), reply(chars=400))] + [user()]
    given = {"trigger": "invocations", "interval": 3}
    assert last([*spec[:6], user()], "adk_compaction", **given) == ["new", 6]
    assert last(spec[:5], "adk_compaction", **given) == [0, 1, 2, 3, 4]
    assert last(spec, "adk_compaction", **given) == ["new", "new", 12, 13, 14], "partly covered: both summaries stay"
    assert last(spec, "adk_compaction", **given, overlap=3) == ["new", 12, 13, 14], "covered whole: replaced"
