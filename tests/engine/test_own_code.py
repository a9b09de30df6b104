"""A setting as a function of one's own: run request by request, it compacts when the replay does and keeps the same."""

from __future__ import annotations

import json
import re
import shutil
import subprocess

import pytest

from sessions.engine.replays.replay import replay
from sessions.engine.reports.configuration import configure
from sessions.engine.transcript.types import Kind
from tests.engine.told import Told

WINDOW = 20_000
CLEARED = "[Old tool result content cleared]"
TYPES = r": (?:Promise<Message\[\]>|Message\[\]|Message|Summarise|string\[\]|string|number|boolean)(?=[\s,)=])"
"""What TypeScript adds to the functions' heads."""
SETTINGS = [
    {"tokens": 3_000, "share": None, "keep_last": 6},
    {"share": 20, "keep_last": 3, "keep_first": 2, "operator": ">"},
    {"tokens": 3_000, "share": None, "keep_unit": "replies", "keep_last": 2},
    {"tokens": 4_000, "share": None, "keep_unit": "turns", "keep_last": 1},
    {"messages": 17, "share": None, "keep_last": 5},
    {"tokens": 3_000, "share": None, "keep_last": 0},
    {"tokens": 3_000, "share": None, "keep_last": 5, "keep_first": 1, "edit": "truncate"},
    {"tokens": 3_000, "share": None, "keep_last": 4, "edit": "mask results", "min_chars": 60},
    {"messages": 12, "share": None, "keep_last": 3, "edit": "mask results"},
    {"messages": 12, "share": None, "keep_last": 2, "keep_unit": "turns", "edit": "mask results"},
    {"tokens": 4_000, "share": None, "keep_last": 1, "keep_unit": "turns", "edit": "truncate"},
]


def session():
    """Turns of one prompt, calls with one and two results, and a plain reply."""
    told = Told()
    for turn in range(9):
        told.prompt(f"Now do part {turn}. " + "please " * 20)
        told.reply(f"I look at {turn}.", **{f"a{turn}": ("Read", {"file_path": f"/w/a{turn}.py"})})
        told.result(f"a{turn}", "line of code " * 60)
        calls = {f"{x}{turn}": ("Bash", {"command": f"make {x}"}) for x in "bc"}
        told.reply("Both.", **calls)
        told.result(f"b{turn}", "built " * 8)
        told.result(f"c{turn}", "tested " * 90)
        told.reply(f"Part {turn} is done.")
    return told


def written(told, index):
    """One message as the agent holds it: a tool's result as chat has it or as Anthropic does, in turn."""
    message, contents = told.messages[index], told.contents[index]
    calls = [content for content in contents if content.kind is Kind.TOOL_USE]
    results = [content for content in contents if content.kind is Kind.TOOL_RESULT]
    text = " ".join(content.text for content in contents if content.kind is Kind.TEXT)
    if results and index % 2:
        return {"role": "tool", "tool_call_id": results[0].call_id, "content": results[0].text}
    if results:
        parts = [{"type": "text", "text": results[0].text}]
        block = {"type": "tool_result", "tool_use_id": results[0].call_id, "content": parts}
        return {"role": "user", "content": [block]}
    if calls and index % 2:
        made = [{"id": call.call_id, "type": "function"} for call in calls]
        return {"role": "assistant", "content": text, "tool_calls": made}
    if calls:
        made = [{"type": "tool_use", "id": call.call_id} for call in calls]
        return {"role": "assistant", "content": [{"type": "text", "text": text}, *made]}
    return {"role": message.role.value, "content": text}


def replayed(params):
    """The session under a setting, what came before each request, and the function of that setting by language."""
    told, params = session(), {**params, "breaker": None}
    weighed, _ = told.done()
    made = replay(weighed, "parametric", params=params, window=WINDOW, summarizer="stub:100")
    starts = [(step.start, step.stop) for step in weighed.steps]
    code = {
        name: configure("parametric", params, window=WINDOW, weighed=weighed, agents=(name,))[0]
        for name in ("python", "typescript")
    }
    return told, made, starts, code


def after(told, made, event):
    """What the replay leaves, as ``shape`` has it."""
    originals = {message.id: message.index for message in told.messages}
    found = []
    for item in event.after:
        if item.id not in originals:
            found.append("summary")
        else:
            is_cleared = made.params.edit == "mask results" and item.message.blocks != told.messages[
                originals[item.id]
            ].blocks  # fmt: skip
            found.append((originals[item.id], is_cleared))
    return found


def shape(messages):
    """The same of a list that the function left; every message bears its number."""
    return ["summary" if "n" not in m else (m["n"], CLEARED in json.dumps(m)) for m in messages]


@pytest.mark.parametrize("params", SETTINGS, ids=str)
def test_the_python_function_does_what_the_replay_does(params):
    told, made, starts, code = replayed(params)
    assert code["python"].exact
    assert made.events
    names = {}
    exec(compile(code["python"].text, "own.py", "exec"), names)
    run = names["compact"]
    events = {event.request: event for event in made.events}
    held, n_cuts = [], 0
    for request, (start, stop) in enumerate(starts):
        held += [written(told, n) | {"n": n} for n in range(start, stop)]
        gate = made.gates[request]
        more = (lambda gone: f"{len(gone)} messages",) if made.params.edit == "summarise" else ()
        found = run(held, gate.measure, *more)
        changed = found is not held and found != held
        assert changed == (request in events), f"request {request}: {gate}"
        held = found
        if changed:
            n_cuts += 1
            assert shape(held) == after(told, made, events[request])
    assert n_cuts == len(events)


@pytest.mark.skipif(shutil.which("node") is None, reason="Node.js is not installed")
@pytest.mark.parametrize("params", SETTINGS, ids=str)
def test_the_typescript_function_does_what_the_replay_does(params, tmp_path):
    told, made, starts, code = replayed(params)
    assert code["typescript"].exact
    plain = re.sub(r"^type .*\n", "", code["typescript"].text, flags=re.MULTILINE)
    plain = re.sub(TYPES, "", plain)
    steps = [
        {"messages": [written(told, n) | {"n": n} for n in range(start, stop)], "tokens": made.gates[k].measure}
        for k, (start, stop) in enumerate(starts)
    ]
    script = tmp_path / "own.mjs"
    script.write_text(
        plain
        + f"""
let held = [];
const found = [];
for (const step of {json.dumps(steps)}) {{
  held = [...held, ...step.messages];
  const next = await compact(held, step.tokens, async (gone) => `${{gone.length}} messages`);
  found.push(JSON.stringify(next) === JSON.stringify(held) ? null : next);
  held = next;
}}
console.log(JSON.stringify(found));
"""
    )
    done = subprocess.run(["node", str(script)], capture_output=True, text=True, check=False)
    assert not done.stderr
    cuts = {k: shape(messages) for k, messages in enumerate(json.loads(done.stdout)) if messages is not None}
    assert cuts == {event.request: after(told, made, event) for event in made.events}


def test_what_the_function_leaves_out_is_said():
    for params, words in (
        ({"moment": "turn-end"}, "When it may fire: turn-end is not in the function."),
        ({"tokens": 9_000}, "Of the triggers (Share of the window, Tokens in use) the function has one."),
    ):
        snippet = configure("parametric", params, window=WINDOW, agents=("python",))[0]
        assert not snippet.exact
        assert words in snippet.cannot
    assert not configure("parametric", {"keep_unit": "tokens"}, window=WINDOW, agents=("python",))[0].text


def test_what_the_function_does_otherwise_is_said():
    """It stops after no failures, keeps by no tokens, takes plain dicts, and runs where ES2020 does."""
    code = {name: configure("parametric", {}, agents=(name,))[0] for name in ("python", "typescript")}
    for one in code.values():
        assert not one.exact
        assert "Stop after failures: 3 is not in the function." in one.cannot
    assert "as plain dicts" in code["python"].text
    assert "es2020" in code["typescript"].text
    assert not re.search(r"findLast|toSorted|toReversed|\.at\(|replaceAll", code["typescript"].text)
    (by_tokens,) = configure("parametric", {"keep_unit": "tokens"}, agents=("python",))
    assert by_tokens.cannot == ("There is no function that keeps by tokens: keep messages, replies or turns.",)
