"""``ctxweb sweep``: contract fields, CSV, table, wrong usage."""

from __future__ import annotations

import csv
import io

import pytest

from sessions.engine.quality.recall import Recall, recall_words
from tests.cli.test_engine_commands import document, run
from tests.engine.claude_lines import claude_session


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """A Claude Code session of 60 tool turns."""
    path = tmp_path_factory.mktemp("cli") / "session.jsonl"
    path.write_text(claude_session(n_turns=60), encoding="utf-8")
    return path


def test_rows_are_the_replays(file):
    """Each row has every field of the replay's totals, and says the same."""
    options = ("--policy", "sliding_window", "--window", "30000", "--set", "target=20")
    swept = document("sweep", file, *options, "--over", "trigger=40:80:3")
    assert swept["schema"] == "ctxweb.sweep/1"
    assert [row["trigger"] for row in swept["rows"]] == [40, 60, 80]
    for row in swept["rows"]:
        replayed = document("replay", file, *options, "--set", f"trigger={row['trigger']}")["totals"]
        assert {name: row[name] for name in replayed} == replayed
    assert any(row["pareto"] for row in swept["rows"])


def test_a_grid_and_several_policies(file):
    """--over twice; --policy twice; the last axis fastest."""
    swept = document("sweep", file, "--policy", "sliding_window", "--over", "window=30000:60000:2",
                     "--over", "trigger=50:70:2")  # fmt: skip
    assert [(r["window"], r["trigger"]) for r in swept["rows"]] == [
        (30_000, 50), (30_000, 70), (60_000, 50), (60_000, 70),
    ]  # fmt: skip
    swept = document("sweep", file, "--policy", "none", "--policy", "sliding_window", "--window", "30000")
    assert [row["policy"] for row in swept["rows"]] == ["none", "sliding_window"]


def test_csv(file):
    """A heading and a line for each setting."""
    out, _ = run("sweep", file, "--policy", "sliding_window", "--window", "30000", "--over", "trigger=50:70:2", "--csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [row["trigger"] for row in rows] == ["50", "70"]
    assert float(rows[0]["cost_usd_low"]) <= float(rows[0]["cost_usd_high"])


def test_prices_and_floors(file):
    """--price replaces the list price, --recommend sets floors."""
    options = ("sweep", file, "--policy", "sliding_window", "--window", "30000", "--over", "trigger=40:90:6")
    plain, dear = document(*options), document(*options, "--price", "input=30", "--price", "output=150")
    factor = dear["prices"]["input"] / plain["prices"]["input"]
    assert factor == 30 / plain["prices"]["input"]
    assert plain["advice"]["answer"] == "nothing"
    assert plain["recommended"] is None


DEMO = ("--policy", "claude_code", "--over", "pct_override=40:100:13")


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """The session of the README."""
    file = tmp_path_factory.mktemp("demo") / "demo.jsonl"
    run("demo", "--out", file)
    return file


def test_limits_and_what_is_lost_by_name(demo):
    """A limit moves what is advised; every setting says what it loses; without losses there is no advice."""
    free = document("sweep", demo, *DEMO)
    most = free["recommended"]["row"]["compactions"]
    bound = document("sweep", demo, *DEMO, "--recommend", f"max_compactions={most - 1}")
    assert bound["floors"] == {"max_compactions": most - 1}
    assert all(one["row"]["compactions"] < most for one in bound["advice"]["settings"] if not one["as_recorded"])
    for one in free["advice"]["settings"]:
        lost = one["lost"]
        assert (len(lost["rules"]), len(lost["things"])) == (one["row"]["rules_gone"], one["row"]["needs_gone"])
    bare = document("sweep", demo, *DEMO, "--no-losses")
    assert bare["advice"]["answer"] == "unknown"
    assert "rules_gone" not in bare["rows"][0]


def test_the_terminal_says_what_json_says(demo):
    """The answer, the recording beside it, every setting with its reason."""
    found, (out, _) = document("sweep", demo, *DEMO), run("sweep", demo, *DEMO)
    words = " ".join(out.split())
    assert found["advice"]["sentence"] in words
    assert "As recorded: $" in words
    for one in found["advice"]["settings"]:
        assert " ".join(one["reason"].split()) in words
    assert words.count("(recommended)") == 1
    for row in found["rows"]:
        told = Recall(row["recall"], row["asked"], row["retained_tokens"], row["recall_at_least"])
        assert recall_words(told) in words


def test_regret(file):
    """Every row's cost over the cheapest schedule's; its events say what they cost."""
    options = ("sweep", file, "--policy", "claude_code", "--over", "window=40000:60000:3", "--regret")
    swept = document(*options)
    best = swept["optimum"]
    for row in swept["rows"]:
        assert row["regret"] == pytest.approx(row["cost_usd"]["low"] / best["totals"]["cost_usd"]["low"], abs=1e-4)
        assert row["regret"] >= 1
    assert best["totals"]["compactions"] == len(best["events"])
    out, _ = run(*options)
    assert "Cheapest possible, with hindsight" in out
    assert all(f"{row['regret']:.2f}" in out for row in swept["rows"])


def test_a_table_for_people(file):
    """The answer, and what a window does not hold; no traceback."""
    out, _ = run("sweep", file, "--policy", "sliding_window", "--window", "30000", "--over", "trigger=40:90:6")
    words = " ".join(out.split())
    assert "Advice: Nothing to tune: the context peaked at" in words
    assert "Assumes the agent sends the same messages" in words
    assert "Over the window: such a request" in " ".join(
        run("sweep", file, "--policy", "none", "--over", "window=9000:9000:1")[0].split()
    )


@pytest.mark.parametrize(("arguments", "said"), [
    (["--policy", "sliding_window"], "--over once or twice"),
    (["--policy", "sliding_window", "--over", "trigger=1"], "key=start:stop:count"),
    (["--policy", "sliding_window", "--over", "trigge=1:2:2"], "trigger"),
    (["--policy", "sliding", "--over", "window=1:2:2"], "sliding_window"),
    (["--policy", "none", "--over", "window=1:2:2", "--recommend", "max_love=1"], "Unknown limit"),
    (["--policy", "none", "--over", "window=1:2:2", "--price", "input=x"], "key=dollars"),
    (["--policy", "none", "--over", "window=1:2:2", "--json", "--csv"], "not both"),
])  # fmt: skip
def test_wrong_usage(file, arguments, said):
    """Exit status 2, and what exists."""
    _, error = run("sweep", file, *arguments, expect=2)
    assert said in " ".join(error.split())
