"""A policy that is somebody's own program: two examples, and every way in which a program can fail."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from ctxweb.cli import cli
from sessions.engine.tokens.tokenizer import count

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
PYTHON = f"{sys.executable} {EXAMPLES / 'compact.py'}"


@pytest.fixture
def session(tmp_path: Path) -> Path:
    """Forty tool turns of about 600 tokens, as a chat transcript."""
    lines: list[dict[str, Any]] = [{"role": "user", "content": "Tidy up the parser. Never touch the lockfile."}]
    for n in range(40):
        call = {"id": f"c{n}", "type": "function", "function": {"name": "read", "arguments": f'{{"path": "/f{n}.py"}}'}}
        lines.append({"role": "assistant", "content": f"Looking at part {n}.", "tool_calls": [call]})
        lines.append({"role": "tool", "tool_call_id": f"c{n}", "content": f"part {n} " + "word and word " * 200})
    lines.append({"role": "assistant", "content": "Done."})
    path = tmp_path / "chat.json"
    path.write_text(json.dumps({"model": "gpt-4o", "messages": lines}))
    return path


def run(session: Path, command: str, *options: str, name: str = "replay") -> Any:
    return CliRunner().invoke(
        cli, [name, str(session), "--policy-cmd", command, "--window", "20000", *options], catch_exceptions=False
    )


def replayed(session: Path, command: str, *options: str) -> dict[str, Any]:
    result = run(session, command, *options, "--json")
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def script(tmp_path: Path, body: str) -> str:
    path = tmp_path / "own.py"
    path.write_text(f"import json, sys\nasked = json.load(sys.stdin)\n{body}\n")
    return f"{sys.executable} {path}"


def test_the_python_example(session: Path) -> None:
    """At half of the window: first message, note, the newest within 5,000 tokens."""
    keep = ["--policy-set", "keep_tokens=5000", "--set", "share=50"]
    made = replayed(session, PYTHON, *keep)
    assert made["policy"] == "command"
    event = made["events"][0]
    assert event["measure"] >= event["threshold"] == 10_000
    assert event["inserted"] == 1
    assert event["after"]["tokens"] < 7_000
    assert made["totals"]["compactions"] == len(made["events"]) > 1
    rows = json.loads(run(session, PYTHON, "--json", *keep, name="diff").stdout)["rows"]
    assert all(row["pair_ok"] is not False for row in rows)


def test_the_node_example(session: Path) -> None:
    if shutil.which("node") is None:
        if os.environ.get("CI"):
            pytest.fail("node is missing")
        pytest.skip("node is missing: the example for it is not run")
    made = replayed(session, f"node {EXAMPLES / 'compact.mjs'}")
    event = made["events"][0]
    assert event["edited"] > 10
    assert event["dropped"] == event["inserted"] == 0


def test_what_the_program_writes_weighs_what_its_words_do(session: Path, tmp_path: Path) -> None:
    """By the ratio of the session: 1.53 tokens a tiktoken token for a Claude without a measured corpus."""
    chat = json.loads(session.read_text())
    session.write_text(json.dumps(chat | {"model": "claude-opus-4-8"}))
    made = replayed(session, script(tmp_path, "print(json.dumps({'messages': [{'text': 'word ' * 1000}]}))"))
    assert made["events"][0]["after"]["tokens"] == round(count("word " * 1000).n_tokens * 1.53)


def test_asked_at_every_request_where_no_trigger_is_set(session: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    body = f"open({str(log)!r}, 'a').write(str(asked['request']) + chr(10)); print('{{\"messages\": null}}')"
    made = replayed(session, script(tmp_path, body), "--set", "share=none")
    assert not made["events"]
    assert not made["attempts"], "a program may keep the list"
    assert log.read_text().split() == [str(n) for n in range(41)]


def test_what_the_program_reads(session: Path, tmp_path: Path) -> None:
    out = tmp_path / "asked.json"
    body = f"json.dump(asked, open({str(out)!r}, 'w')); print('{{\"messages\": null}}')"
    replayed(session, script(tmp_path, body), "--policy-set", "mood=calm")
    asked = json.loads(out.read_text())
    assert asked["schema"] == "ctxweb.policy/1"
    assert asked["params"]["mood"] == "calm"
    assert asked["window"] == 20_000
    first = asked["messages"][0]
    assert (first["role"], first["text"]) == ("user", "Tidy up the parser. Never touch the lockfile.")
    assert asked["messages"][2]["results"] == asked["messages"][1]["calls"] == ["c0"]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("raise SystemExit('no luck today')", "ended with status 1; it said: no luck today"),
        ("print('not json')", "did not answer with JSON"),
        ("print('[]')", 'the program\'s answer has no "messages"'),
        ("print(json.dumps({'messages': ['nobody']}))", "entry 0: there is no message 'nobody' in the list"),
        ("m = asked['messages']; print(json.dumps({'messages': [m[0]['id'], m[2]['id']]}))",
         "the result of call 'c0' is kept, its call is not"),
        ("m = asked['messages']; print(json.dumps({'messages': [m[0]['id'], m[1]['id']]}))",
         "call 'c0' is kept, its result is not"),
        ("m = asked['messages']; print(json.dumps({'messages': [m[0]['id']] * 2}))", "is kept twice"),
        ("print(json.dumps({'messages': [{'text': 'x', 'role': 'judge'}]}))", "a role is user, assistant or system"),
        ("print(json.dumps({'messages': [7]}))", "entry 0: an id"),
    ],
)  # fmt: skip
def test_a_program_that_fails_says_why(session: Path, tmp_path: Path, body: str, words: str) -> None:
    command = script(tmp_path, body)
    made = replayed(session, command)
    assert not made["events"]
    assert words in made["attempts"][0]["reason"]
    assert words in run(session, command).stderr
    assert len(made["attempts"]) == 3, "the breaker stops it"


def test_a_program_that_hangs_is_ended(session: Path, tmp_path: Path) -> None:
    command = script(tmp_path, "import time; time.sleep(60)")
    made = json.loads(run(session, command, "--policy-timeout", "0.3", "--set", "breaker=1", "--json").stdout)
    assert "took longer than 0.3 s" in made["attempts"][0]["reason"]


def test_a_program_that_takes_too_much_memory_is_ended(session: Path, tmp_path: Path) -> None:
    command = script(tmp_path, "held = bytearray(400_000_000); import time; time.sleep(20)")
    made = json.loads(run(session, command, "--policy-memory", "150", "--set", "breaker=1", "--json").stdout)
    assert "took more than 150 MB of memory" in made["attempts"][0]["reason"]


def test_a_program_that_does_not_exist(session: Path) -> None:
    made = json.loads(run(session, "/nowhere/compact", "--json").stdout)
    assert "compact cannot be started: No such file or directory" in made["attempts"][0]["reason"]


@pytest.mark.parametrize("options", [[], ["--policy", "none", "--policy-cmd", "x"]])
def test_one_policy_is_given(session: Path, options: list[str]) -> None:
    result = CliRunner().invoke(cli, ["replay", str(session), *options])
    assert result.exit_code == 2
    assert "give --policy or --policy-cmd, one of them" in result.stderr
