"""Each leaf that a rewind left can be selected; the latest is the default; every request counts once on all of them."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from ctxweb.commands import inspect, replay
from sessions.engine.base.errors import BadParameter
from sessions.engine.packing.pack import pack, unpack
from sessions.engine.reading.jsonio import loads
from sessions.engine.reading.reading import read_contents, read_transcripts
from sessions.engine.replays.replay import replay as run_replay
from sessions.engine.reports.report import usage_sums
from sessions.engine.weigh.calibration.calibrate import weigh
from tests.engine.test_formats_claude_code import FIXTURES, from_lines, ids, reply, user

if TYPE_CHECKING:
    from sessions.engine.transcript.types import Transcript

REWIND = FIXTURES / "rewind.jsonl"


def selected(leaf: str | None = None) -> Transcript:
    with REWIND.open("rb") as file:
        return read_transcripts(file, REWIND.name, branch=leaf).transcripts[0]


def test_every_branch_is_listed_the_latest_first() -> None:
    latest, left = selected().branches
    assert (latest.leaf, latest.preview, latest.n_messages, latest.n_requests) == ("a4", "Now write it in Python", 4, 2)
    assert (left.leaf, left.preview, left.n_messages, left.n_requests) == ("a3", "Now write it in Perl", 6, 3)
    assert (latest.selected, left.selected) == (True, False)
    assert latest.timestamp
    assert left.timestamp
    assert latest.timestamp > left.timestamp


def test_a_leaf_selects_its_branch_and_usage_stays_the_files() -> None:
    default, left = selected(), selected("a3")
    assert ids(left) == ["u1", "msg_1", "u2", "msg_2", "u3", "msg_3"]
    assert [(r.response_id, r.on_branch) for r in left.requests] == [
        ("msg_1", True), ("msg_2", True), ("msg_3", True), ("msg_4", False),
    ]  # fmt: skip
    assert left.branch == "a3"
    assert (left.id, usage_sums(left.requests), len(left.requests)) == (default.id, usage_sums(default.requests), 4)
    assert selected("a4") == default
    with REWIND.open("rb") as file:
        assert [c.text for m in left.messages for c in read_contents(file, "claude_code", m)][
            2
        ] == "Now write it in Perl"


def test_a_replay_walks_the_selected_branch() -> None:
    assert run_replay(weigh(selected("a3")), "none").context_tokens[:3] == (5000, 5030, 5060)
    assert run_replay(weigh(selected("a3")), "none").context_tokens[3] is None


def test_an_unknown_leaf_is_refused_with_those_there_are() -> None:
    with pytest.raises(BadParameter, match="'nobody'; the file has a4, a3"):
        selected("nobody")


def test_it_is_packed() -> None:
    assert unpack(pack(selected("a3"))) == selected("a3")


def nested() -> dict[str, list[str]]:
    """Rewound twice on one level and once inside a branch that was left: leaf to messages."""
    data = from_lines(
        user("u1", None, "Start"), reply("a1", "u1", "m1", 500, 10),
        user("u2", "a1", "Left first"), reply("a2", "u2", "m2", 520, 10),
        user("u3", "a2", "Inner, left"), reply("a3", "u3", "m3", 540, 10),
        user("u4", "a2", "Inner, last"), reply("a4", "u4", "m4", 541, 10),
        user("u5", "a1", "Left second"), reply("a5", "u5", "m5", 521, 10),
        user("u6", "a1", "Last"), reply("a6", "u6", "m6", 522, 10),
    )  # fmt: skip
    return {t.branch: ids(t) for t in (*data.transcripts, *data.alternatives)}


def test_rewinds_inside_rewinds() -> None:
    assert nested() == {
        "a6": ["u1", "m1", "u6", "m6"],
        "a5": ["u1", "m1", "u5", "m5"],
        "a4": ["u1", "m1", "u2", "m2", "u4", "m4"],
        "a3": ["u1", "m1", "u2", "m2", "u3", "m3"],
    }


def test_without_a_rewind_there_are_no_branches() -> None:
    parsed = from_lines(user("u1", None, "Start"), reply("a1", "u1", "m1", 500, 10))
    assert (parsed.transcripts[0].branches, parsed.alternatives) == ((), ())
    data = io.BytesIO((FIXTURES / "ui_fork.jsonl").read_bytes())
    with pytest.raises(BadParameter, match="nothing was rewound"):
        read_transcripts(data, branch="a1")


def call(command: Any, *arguments: object) -> Any:
    return CliRunner().invoke(command, [str(argument) for argument in arguments])


@pytest.mark.parametrize(("command", "options"), [(inspect.command, ()), (replay.command, ("--policy", "none"))])
def test_the_commands_take_a_leaf(command: Any, options: tuple[str, ...]) -> None:
    done = loads(call(command, REWIND, *options, "--branch", "a3", "--json").stdout.encode())
    tokens = done["context_tokens"] if options else [r["on_branch"] for r in done["sessions"][0]["requests"]]
    assert [bool(value) for value in tokens] == [True, True, True, False]
    wrong = call(command, REWIND, *options, "--branch", "a9")
    assert wrong.exit_code == 2
    assert "a4, a3" in wrong.stderr


def test_inspect_names_the_branches() -> None:
    document = loads(call(inspect.command, REWIND, "--json").stdout.encode())
    assert [branch["leaf"] for branch in document["sessions"][0]["branches"]] == ["a4", "a3"]
    assert "--branch a3" in call(inspect.command, REWIND).stdout
