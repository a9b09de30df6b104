"""``ctxweb sweep --subagents``: the subagents of a session, swept by type; those in its file, or in files beside it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ctxweb.commands._engine import choose, read, wrong_usage
from ctxweb.terminal import Head, figure, say, show_table, terminal, titled, words
from sessions.engine.base.words import counted
from sessions.engine.reading.texts import Texts
from sessions.engine.sweeps.subagents import NO_TYPE, advise_types, types_document, types_of
from sessions.engine.sweeps.sweep import Sweep
from sessions.engine.transcript.types import Parsed, Transcript
from sessions.engine.weigh.calibration.calibrate import weigh
from sessions.engine.weigh.calibration.weighed import Weighed

Swept = Callable[[Weighed, Texts], Sweep]


def types_swept(file: Path, options: dict[str, Any], sweep_one: Swept, limits: dict[str, float]) -> dict[str, Any]:
    """``ctxweb.sweep_subagents/1`` of a session."""
    parsed = read(file, options["format_name"], options["branch"])
    with wrong_usage():
        root = choose(parsed, options["session"])
    by_type: dict[str, list[Sweep]] = defaultdict(list)
    for transcript, name, texts in _started(file, parsed, root):
        with texts:
            by_type[name or NO_TYPE].append(sweep_one(weigh(transcript), texts))
    return types_document(root.id, advise_types(by_type, limits))


def _started(file: Path, parsed: Parsed, root: Transcript) -> Iterator[tuple[Transcript, str, Texts]]:
    """Every subagent with requests that a session or one of its subagents started, its type, "" where not recorded."""
    texts = Texts(lambda: file.open("rb"), parsed.format)
    children: dict[str | None, list[Transcript]] = defaultdict(list)
    for one in parsed.transcripts:
        children[one.parent_id].append(one)
    waiting = [root]
    with texts:
        while waiting:
            parent = waiting.pop(0)
            below = children.pop(parent.id, [])
            waiting += below
            own = [one for one in below if one.requests]
            types = types_of(parent, {one.parent_call_id for one in own}, texts.of) if own else {}
            for one in own:
                yield one, types.get(one.parent_call_id, ""), Texts(lambda: file.open("rb"), parsed.format)
        yield from _beside(file, parsed, root, texts)


def _beside(file: Path, parsed: Parsed, root: Transcript, texts: Texts) -> Iterator[tuple[Transcript, str, Texts]]:
    """Those that Claude Code keeps in ``<session>/subagents``, found by agent, else by prompt."""
    spawns = [spawn for links in parsed.kin if links.session == root.id for spawn in links.spawns]
    types = types_of(root, {spawn.call_id for spawn in spawns}, texts.of)
    for path in sorted((file.with_suffix("") / "subagents").glob("*.jsonl")):
        inner = read(path, parsed.format)
        prompts = {links.session: links.prompt for links in inner.kin}
        for one in inner.transcripts:
            prompt = prompts.get(one.id, "")
            calls = [spawn.call_id for spawn in spawns if spawn.agent == one.id]
            calls += [spawn.call_id for spawn in spawns if not spawn.agent and prompt and spawn.prompt == prompt]
            if one.requests:
                name = types.get(calls[0], "") if calls else ""
                yield one, name, Texts(lambda path=path: path.open("rb"), inner.format)  # type: ignore[misc]


def print_types(document: dict[str, Any]) -> None:
    """A row for each type, then what is to be set for it and why."""
    if not document["types"]:
        say("No subagents in this file, or beside it. Sweep them by their own files: ctxweb sweep agent-*.jsonl.")
        return
    console = terminal()
    types = document["types"]
    n = sum(one["n_subagents"] for one in types)
    kinds = f"{counted(n, 'subagent')} of {counted(len(types), 'type')}"
    facts = f" of {document['session']}: {kinds}. Assumes they send the same messages."
    console.print(titled("Subagents", facts))
    heads = (Head("type"), figure("subagents"), figure("compacted"), figure("peak"), words("setting"))
    rows = [
        (
            one["type"],
            f"{one['n_subagents']:,}",
            f"{one['n_compacted']:,}",
            f"{one['peak_context_tokens']:,}",
            _setting(one),
        )
        for one in types
    ]
    show_table(console, heads, rows)
    for one in types:
        console.print(titled(f"  {one['type']}:", f" {one['sentence']}"))


def _setting(one: dict[str, Any]) -> str:
    """What is to be set: "claude_code pct_override=50"; "–" where nothing is advised."""
    found = one["recommended"]
    if found is None:
        return "–"
    window = [f"window={found['window']}"] if found["window"] else []
    return " ".join([found["policy"], *(f"{key}={value}" for key, value in found["params"].items()), *window])
