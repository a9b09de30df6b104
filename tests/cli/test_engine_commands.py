"""The engine's commands: contract fields, exit statuses, nothing but JSON on standard output, no Django."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from unittest.mock import patch

import pytest

from ctxweb.cli import main
from sessions.engine.demo.session import write_demo
from tests.engine.claude_lines import claude_session
from tests.engine.test_images import png


def run(*arguments, expect=0):
    """Run ``ctxweb`` in this process; returns (stdout, stderr)."""
    out, err = io.StringIO(), io.StringIO()
    called = patch("sys.argv", ["ctxweb", *map(str, arguments)])
    with redirect_stdout(out), redirect_stderr(err), called, pytest.raises(SystemExit) as ended:
        main()
    assert (ended.value.code or 0) == expect, err.getvalue()
    return out.getvalue(), err.getvalue()


def document(*arguments):
    """The JSON document a command prints."""
    out, _ = run(*arguments, "--json")
    assert out.count("\n") == 1
    return json.loads(out)


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """A Claude Code session of 40 tool turns with a recorded compaction."""
    path = tmp_path_factory.mktemp("cli") / "session.jsonl"
    path.write_text(claude_session(n_turns=40, compact_after=20), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("model", "tokens", "rule", "warned"),
    [
        ("kimi-k2.6", 972, "Kimi's published image processor: cells of 28 pixels", False),
        ("glm-5v-turbo", 972, "none known for this model: Claude's patches of 28 pixels stand in for it", True),
    ],
)
def test_inspect_says_whose_image_rule_it_is(tmp_path, model, tokens, rule, warned):
    """In JSON and in words; a model of which none is known is warned of (estimators 18)."""
    picture = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{png(1500, 500)}"}}
    asked = {"role": "user", "content": [{"type": "text", "text": "What is this?"}, picture]}
    path = tmp_path / "chat.json"
    path.write_text(json.dumps({"model": model, "messages": [asked, {"role": "assistant", "content": "A logo."}]}))
    (session,) = document("inspect", path)["sessions"]
    assert session["image_rule"] == rule
    assert [image["tokens"] for message in session["messages"] for image in message["images"]] == [tokens]
    out, _ = run("inspect", path)
    assert f"Image rule: {rule}" in " ".join(out.split())
    assert (f"no image rule of {model}'s provider is known" in " ".join(out.split())) == warned


def test_inspect_without_images_names_no_image_rule(file):
    (session,) = document("inspect", file)["sessions"]
    assert session["image_rule"] is None
    out, _ = run("inspect", file)
    assert "Image rule" not in out


def test_inspect(file):
    """Stable fields of ctxweb.inspect/1."""
    result = document("inspect", file)
    assert result["schema"] == "ctxweb.inspect/1"
    assert result["format"] == "claude_code"
    (session,) = result["sessions"]
    assert session["n_requests"] == len(session["requests"]) == 41
    assert session["n_messages"] == len(session["messages"])
    assert session["n_tool_calls"] == 40
    assert session["totals"]["tokens"] == sum(m["tokens"] for m in session["messages"])
    assert session["totals"]["wire_bytes"] == sum(m["wire_bytes"] for m in session["messages"])
    (compaction,) = session["recorded_compactions"]
    told = {"message", "request", "trigger", "tokens_before", "tokens_after", "kind", "not_recorded", "after_refusal"}
    assert set(compaction) == told
    request = session["requests"][compaction["request"]]
    assert compaction["tokens_after"] == request["measured_context_tokens"]
    assert {"index", "message", "measured_context_tokens", "estimated_context_tokens", "label"} <= set(request)
    assert result["skipped"] == []
    assert sum(fate["n_bytes"] for fate in result["fates"]) == file.stat().st_size


def test_inspect_says_what_never_reaches_the_model(file):
    """The table opens with the share of the file's bytes."""
    out, _ = run("inspect", file)
    fates = document("inspect", file)["fates"]
    never = sum(fate["n_bytes"] for fate in fates if not fate["is_context"])
    assert f"{100 * never / file.stat().st_size:.0f}% of this file is not sent to the model" in out


def test_train_fraction_uses_early_usage_only(file, tmp_path):
    """Stripping the usage of late requests changes no estimate."""
    early = document("inspect", file, "--train-fraction", "0.3")["sessions"][0]
    n_training = int(0.3 * 41)
    lines, seen = [], set()
    for line in file.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        if record["type"] == "assistant":
            seen.add(record["message"]["id"])
            if len(seen) > n_training:
                usage = record["message"]["usage"]
                usage.update(input_tokens=0, cache_read_input_tokens=0, cache_creation_input_tokens=0)
        lines.append(json.dumps(record))
    stripped = tmp_path / "stripped.jsonl"
    stripped.write_text("\n".join(lines), encoding="utf-8")
    again = document("inspect", stripped, "--train-fraction", "0.3")["sessions"][0]
    assert [r["estimated_context_tokens"] for r in early["requests"]] == [
        r["estimated_context_tokens"] for r in again["requests"]
    ]


def test_replay_and_diff(file):
    """Stable fields of ctxweb.replay/1 and ctxweb.diff/1; the diff is of the replay's event."""
    options = (file, "--policy", "sliding_window", "--window", "30000", "--set", "trigger=60")
    result = document("replay", *options)
    assert result["schema"] == "ctxweb.replay/1"
    assert result["params"]["trigger"] == 60
    event = result["events"][0]
    assert result["context_tokens"][event["request"]] == event["after"]["tokens"]
    assert result["totals"]["compactions"] == len(result["events"])
    rows = document("diff", *options)["rows"]
    assert sum(row["before"] is not None for row in rows) == event["before"]["messages"]
    assert sum(row["op"] == "dropped" for row in rows) == event["dropped"]


def test_wrong_usage_exits_2_and_says_what_exists(file):
    """Unknown policy, parameter, event."""
    _, error = run("replay", file, "--policy", "sliding", expect=2)
    assert "sliding_window" in error
    _, error = run("replay", file, "--policy", "sliding_window", "--set", "keep=1", expect=2)
    assert "keep_last" in error
    _, error = run("replay", file, "--policy", "sliding_window", "--set", "keep_last", expect=2)
    assert "key=value" in error
    _, error = run("diff", file, "--policy", "none", expect=1)
    assert "There is no compaction 1: the replay has none" in error


def test_unreadable_input_exits_1_with_line_and_next_step(tmp_path):
    """Empty, not JSON, unknown."""
    for name, text in (("empty", ""), ("prose", "hello\n"), ("unknown", '{"a": 1}\n')):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        out, error = run("inspect", path, "--json", expect=1)
        assert out == ""
        assert "line 1" in error


def test_lists():
    """formats, policies, estimators."""
    assert {"claude_code", "anthropic_messages", "role_content"} <= {f["name"] for f in document("formats")["formats"]}
    policies = {p["name"]: p for p in document("policies")["policies"]}
    assert {"claude_code", "buzz_handoff", "sliding_window"} <= set(policies)
    assert {"name", "label", "default", "low", "high", "help"} <= set(policies["sliding_window"]["params"][0])
    units = {e["name"]: e["unit"] for e in document("estimators")["estimators"]}
    assert units["wire_bytes"] == units["pressure_bytes"] == "bytes"
    assert units["tiktoken_o200k"] == "tokens"
    run("policies")
    run("formats")


def test_why_lays_the_gates_over_the_session(file):
    """``ctxweb.why/1``: the same verdicts as inspect, and one row per gate with its sentence."""
    session = document("why", file)["sessions"][0]
    inspected = document("inspect", file)["sessions"][0]
    assert session["headline"] == inspected["headline"]
    assert session["verdicts"] == inspected["verdicts"]
    gates = {gate["name"]: gate for gate in session["gates"]}
    assert gates["claude_code"]["threshold"] == session["window"] - 33_000
    assert gates["chars_per_4"]["summary"].startswith("Characters")
    narrow = document("why", file, "--window", "50000")["sessions"][0]
    assert {gate["name"]: gate["threshold"] for gate in narrow["gates"]}["claude_code"] == 17_000


def test_tables_for_people(file):
    """Without --json a table; no traceback at any width."""
    out, _ = run("inspect", file)
    assert "tool_result" in out
    out, _ = run("replay", file, "--policy", "claude_code", "--window", "40000")
    assert "Assumes the agent sends the same messages" in " ".join(out.split())
    out, _ = run("diff", file, "--policy", "sliding_window", "--window", "30000")
    assert "Dropped: " in out
    assert "− #" in out
    out, _ = run("diff", file, "--policy", "sliding_window", "--window", "30000", "--table")
    assert "− dropped" in out


def test_inspect_loads_neither_django_nor_what_replays(file):
    """It starts fast and needs no settings."""
    code = (
        "import sys; from ctxweb.commands.inspect import command; "
        f"command([{str(file)!r}, '--json'], standalone_mode=False); "
        "heavy = {'django', 'anthropic', 'plotly', 'sessions.engine.replays.replay', 'ctxweb.commands._replaying'}; "
        "print(*heavy & {*sys.modules}, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert not done.stderr.strip()


def test_probe(file):
    """Stable fields of ctxweb.probe/1; the three states add up; --compaction takes one, from 1."""
    options = ("probe", file, "--policy", "sliding_window", "--window", "30000", "--set", "trigger=60")
    result = document(*options)
    assert result["schema"] == "ctxweb.probe/1"
    assert result["events"]
    for event in (*result["events"], *result["recorded"]):
        assert {"request", "constraints", "needed", "verbatim", "mentioned", "gone", "probes"} <= set(event)
        assert event["needed"] == event["verbatim"] + event["mentioned"] + len(event["gone"])
        assert all({"text", "state"} <= set(constraint) for constraint in event["constraints"])
        assert all({"kind", "text", "source_message", "needed_at"} <= set(gone) for gone in event["gone"])
    last = len(result["events"]) - 1
    assert document(*options, "--compaction", last + 1)["events"] == [result["events"][last]]
    assert len(result["recorded"]) == 1
    run(*options, "--compaction", 100, expect=1)
    out, _ = run(*options, "--horizon", 5)
    assert "really fetched again" in out
    more = document(*options, "--oracle", "--find", "step 3")
    assert {"lines", "tokens", "wanted", "covered", "instructions"} <= set(more["events"][0]["oracle"])
    assert set(more["survival"]) == {"events", "recorded"}


@pytest.mark.exhaustive
def test_probe_is_the_same_under_every_hash_seed(file):
    """Sets of strings have another order in every process; results must not."""
    command = [sys.executable, "-m", "ctxweb", "probe", str(file), "--policy", "sliding_window", "--window", "30000"]
    outs = [
        subprocess.run(
            [*command, "--oracle", "--json"],
            capture_output=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    ]
    assert outs[0] == outs[1]


def test_study(file, tmp_path):
    """A corpus of one session and one file that is no transcript."""
    (tmp_path / "notes.txt").write_text("no transcript", encoding="utf-8")
    result = document("study", file, tmp_path)
    assert result["schema"] == "ctxweb.study/1"
    assert [d["definition"] for d in result["definitions"]] == ["range", "path", "exact"]
    assert result["definitions"][0]["n_compactions"] == 1
    out, error = run("study", file, tmp_path)
    assert "| lost, used later |" in out
    assert "no transcripts that can be read: 1" in error


def test_sweep_with_losses(file):
    """Three columns more; they are part of the front."""
    options = ("sweep", file, "--policy", "sliding_window", "--window", "30000", "--over", "trigger=50:80:2")
    assert {"rules_gone", "needs_gone", "read_again_tokens"} <= set(document(*options)["rows"][0])
    assert "needs_gone" not in document(*options, "--no-losses")["rows"][0]


def test_aftermath_is_one_document(file):
    """``ctxweb.aftermath/1``: an entry per session, and the sentence where nothing was compacted."""
    found = document("aftermath", file)
    assert found["schema"] == "ctxweb.aftermath/1"
    assert all(set(session["totals"]) >= {"compactions", "tokens_again"} for session in found["sessions"])
    out, _ = run("aftermath", file)
    assert "compaction" in out.lower()


def test_aftermath_says_when_the_context_held_what_it_lists(tmp_path):
    """The demo's second compaction is followed by the session's end: nothing was full again then."""
    path = tmp_path / "demo.jsonl"
    with path.open("wb") as file:
        write_demo(file)
    out, _ = run("aftermath", str(path))
    assert "At 80%: " in out
    assert "At the end: " in out
    assert "In it" not in out
