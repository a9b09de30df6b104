"""Message lists that our policy and the original are both given: random ones from a seed, and those of the samples.

A list is plain JSON, so that the original's own environment needs nothing of ours.  Texts are given by their length:
both sides write them as that many ``x``.
"""

from __future__ import annotations

import os
import random
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from sessions.engine.reading.reading import read_transcripts
from sessions.engine.transcript.types import Block, Kind, Media, Message, Request, Role, Transcript

Spec = list[dict]
PICTURE = Media("image/png", n_base64=4_000, width=64, height=64)
ROLES = {"assistant": Role.ASSISTANT, "system": Role.SYSTEM}
NAMES = ("Read", "Bash", "write_file", "Grep", "WebFetch")


@dataclass(frozen=True)
class Shape:
    """What an original can be given: ``joined`` results of one reply in one message, thinking, how long texts are.

    The last five make lists rich: shares of prompts with a picture, without text, in letters outside ASCII, and right
    after another prompt; ``system`` puts a system message before all.
    """

    joined: bool = False
    thinking: bool = False
    turns: int = 14
    longest: int = 900
    args: bool = False
    in_order: bool = False
    parallel: int = 3
    prompts: float = 0.15
    images: float = 0.0
    empty: float = 0.0
    letters: float = 0.0
    repeated: float = 0.0
    system: bool = False


def random_list(rng: random.Random, shape: Shape) -> Spec:
    """A conversation: prompts, replies with up to three parallel calls, results in any order; ends before a reply."""
    found: Spec = [{"role": "system", "chars": chars(rng, shape) or 1}] if shape.system and rng.random() < 0.5 else []
    found.append(prompt(rng, shape))
    n_calls = 0
    for _ in range(rng.randint(1, shape.turns)):
        n = min(shape.parallel, rng.choice((0, 1, 1, 1, 2, 3)))
        calls = [
            {"id": f"c{n_calls + i}", "name": rng.choice(NAMES), "args": chars(rng, shape) if shape.args else 0}
            for i in range(n)
        ]
        n_calls += n
        found.append(
            {
                "role": "assistant",
                "chars": chars(rng, shape) or 1 if not n or rng.random() < 0.5 else 0,
                "thinking": chars(rng, shape) if shape.thinking and rng.random() < 0.4 else 0,
                "calls": calls,
                **lettered(rng, shape),
            }
        )
        results = [
            {"id": call["id"], "chars": chars(rng, shape), **lettered(rng, shape)}
            for call in (calls if shape.in_order else rng.sample(calls, n))
        ]
        if shape.joined and results:
            found.append({"role": "tool", "results": results})
        else:
            found += [{"role": "tool", "results": [result]} for result in results]
        if not n or rng.random() < shape.prompts:
            found.append(prompt(rng, shape))
        while shape.repeated and found[-1]["role"] == "user" and rng.random() < shape.repeated:
            found.append(prompt(rng, shape))
    return found


def prompt(rng: random.Random, shape: Shape) -> dict:
    """A prompt; a rich one may have a picture, no text, or letters outside ASCII."""
    made = {"role": "user", "chars": chars(rng, shape) or 1}
    if shape.images and rng.random() < shape.images:
        made["images"] = rng.randint(1, 2)
    if shape.empty and rng.random() < shape.empty:
        made["chars"] = 0
    return made | lettered(rng, shape)


def lettered(rng: random.Random, shape: Shape) -> dict:
    """Which letter a text is written in, where it is not an x."""
    return {"letter": rng.choice("é漢😀")} if shape.letters and rng.random() < shape.letters else {}


def chars(rng: random.Random, shape: Shape) -> int:
    """Mostly short, some long, now and then nothing."""
    kind = rng.random()
    if kind < 0.05:
        return 0
    return rng.randint(1, 60) if kind < 0.6 else rng.randint(1, shape.longest)


def sample_lists(rng: random.Random, shape: Shape, most: int) -> list[Spec]:
    """Beginnings of the shared transcript samples, in the same form; none where the samples are missing."""
    found: list[Spec] = []
    for transcript in samples():
        whole = as_spec(transcript, shape)
        found += [cut_before_reply(whole[: rng.randint(5, 120)]) for _ in range(3)]
    found = [spec for spec in found if len(spec) > 2]
    rng.shuffle(found)
    return found[:most]


@lru_cache(maxsize=1)
def samples() -> tuple[Transcript, ...]:
    """The sessions of the shared samples."""
    root = Path(os.environ.get("CTXWEB_SAMPLES", ""))
    found: list[Transcript] = []
    for path in sorted(p for p in root.rglob("*") if p.is_file()) if root.name else []:
        try:
            with path.open("rb") as file:
                found += read_transcripts(file, path.name).transcripts
        except Exception:
            continue
    return tuple(found)


def as_spec(transcript: Transcript, shape: Shape) -> Spec:
    """A transcript as a list: only calls that are answered, results right after the reply that calls."""
    found: Spec = []
    answers = {b.call_id: b for m in transcript.messages for b in m.blocks if b.kind is Kind.TOOL_RESULT}
    asked: set[str] = set()
    for message in transcript.messages:
        texts = sum(b.n_chars for b in message.blocks if b.kind is Kind.TEXT)
        if message.role is Role.ASSISTANT:
            blocks = [b for b in message.blocks if b.kind is Kind.TOOL_USE and b.call_id in answers and b.call_id]
            blocks = [b for b in blocks if b.call_id not in asked]
            blocks = blocks[: shape.parallel]
            asked |= {b.call_id for b in blocks}
            thinking = sum(b.n_chars for b in message.blocks if b.kind is Kind.THINKING) if shape.thinking else 0
            calls = [{"id": b.call_id, "name": b.name, "args": b.n_chars if shape.args else 0} for b in blocks]
            if texts or calls:
                found.append({"role": "assistant", "chars": texts, "thinking": thinking, "calls": calls})
            results = [{"id": b.call_id, "chars": sum(x.n_chars for x in answers[b.call_id].leaves())} for b in blocks]
            if shape.joined and results:
                found.append({"role": "tool", "results": results})
            else:
                found += [{"role": "tool", "results": [result]} for result in results]
        elif texts and message.role is Role.USER:
            found.append({"role": "user", "chars": texts})
    first = next((n for n, m in enumerate(found) if m["role"] == "user"), len(found))
    return found[first:]


def cut_before_reply(spec: Spec) -> Spec:
    """The list ends where a model is asked: not in the middle of results, not with a reply."""
    found = list(spec)
    while found and found[-1]["role"] != "user":
        found.pop()
    return found


def arguments(n_chars: int) -> int:
    """Length of the arguments that both sides write: ``{}``, or one text of ``n_chars``."""
    return len('{"content":""}') + n_chars if n_chars else 2


def transcript(spec: Spec) -> Transcript:
    """The list as a session: a request before every reply and one at the end."""
    messages: list[Message] = []
    requests: list[Request] = []
    for index, given in enumerate(spec):
        blocks: list[Block] = []
        letter = given.get("letter", "x")
        if given.get("thinking"):
            blocks.append(text(Kind.THINKING, given["thinking"]))
        if given.get("chars"):
            blocks.append(text(Kind.TEXT, given["chars"], letter))
        blocks += [Block(Kind.IMAGE, media=PICTURE) for _ in range(given.get("images", 0))]
        for call in given.get("calls", ()):
            named = {"name": call["name"], "call_id": call["id"], "n_json": bool(call["args"]) * 1}
            blocks.append(text(Kind.TOOL_USE, arguments(call["args"]), **named))
        blocks += [
            text(Kind.TOOL_RESULT, r["chars"], r.get("letter", "x"), call_id=r["id"]) for r in given.get("results", ())
        ]
        role = ROLES.get(given["role"], Role.USER)
        if role is Role.ASSISTANT:
            requests.append(Request(len(requests), index))
        messages.append(Message(index, f"m{index}", role, tuple(blocks), typed=given["role"] == "user"))
    requests.append(Request(len(requests), None))
    return Transcript("parity", "parity", tuple(messages), tuple(requests))


def text(kind: Kind, n_chars: int, letter: str = "x", **facts: object) -> Block:
    """A block of so many letters; a token is a character, so that a tokenizer's count is known without one."""
    n_bytes, others = n_chars * len(letter.encode()), 0 if letter.isascii() else n_chars
    return Block(kind, n_chars=n_chars, n_bytes=n_bytes, n_tokens=n_chars, n_non_ascii=others, **facts)  # type: ignore[arg-type]
