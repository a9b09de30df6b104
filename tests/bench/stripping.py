"""Takes the input side of usage out of a transcript's bytes, from one reply on; what was put out stays.

Numbers under the names that formats give to tokens sent become 0, totals become the output beside them.  In JSON
lines everything from the reply's line on is cut; in a document (and in a line that holds a whole session) every list
on the way to the reply is cut there, and all that stands beside it: sums over the session would tell too.
"""

from __future__ import annotations

import io
import json
import zipfile
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sessions.engine.transcript.types import Request, Transcript

SENT = frozenset({
    "input", "input_tokens", "inputTokens", "prompt_tokens", "promptTokens", "tokensIn",
    "cache_creation_input_tokens", "cache_read_input_tokens", "ephemeral_5m_input_tokens", "ephemeral_1h_input_tokens",
    "cached_input_tokens", "cached_tokens", "cacheRead", "cacheWrite", "cacheReadTokens", "cacheWriteTokens",
    "cacheReads", "cacheWrites", "cache_read_tokens", "cache_write_tokens", "input_tokens_cache_read",
    "input_tokens_cache_write", "tokensBefore", "preTokens", "postTokens",
})  # fmt: skip
TOTALS = frozenset({"total_tokens", "totalTokens"})
OUTPUTS = ("output_tokens", "outputTokens", "completion_tokens", "output")
Path = tuple[str | int, ...]


def stripped(data: bytes, transcript: Transcript, first: Request, n_kept: int) -> bytes:
    """``data`` without the input-side usage of ``transcript`` from the reply of ``first`` on.

    ``n_kept`` requests of the session with usage come before it.
    """
    if first.message is None:
        raise ValueError("the first request to be stripped has no reply to be found by")
    origin = transcript.messages[first.message].origins[0]
    if data.startswith(b"PK\x03\x04"):
        return _archive(data, origin.path, n_kept)
    if len({o.line for message in transcript.messages for o in message.origins}) == 1:
        start, stop = origin.offset, origin.offset + origin.length
        return data[:start] + _dumps(cut(json.loads(data[start:stop]), origin.path, n_kept)) + data[stop:]
    lines = data.split(b"\n")
    return b"\n".join([*lines[: origin.line - 1], *map(_bare_line, lines[origin.line - 1 :])])


def _bare_line(line: bytes) -> bytes:
    try:
        return _dumps(without_input(json.loads(line)))
    except ValueError:
        return line


def without_input(value: Any) -> Any:
    """The JSON value with every number of tokens sent at 0."""
    if isinstance(value, list):
        return [without_input(item) for item in value]
    if not isinstance(value, dict):
        return value
    output = next((value[key] for key in OUTPUTS if isinstance(value.get(key), int)), 0)
    return {key: _bare(key, item, output) for key, item in value.items()}


def _bare(key: str, item: Any, output: int) -> Any:
    if isinstance(item, (int, float)) and not isinstance(item, bool):
        return 0 if key in SENT else output if key in TOTALS else item
    return without_input(item)


def cut(value: Any, path: Path, n_kept: int) -> Any:
    """The JSON value without numbers sent from ``path`` on, and beside it; ``events`` keep their first ``n_kept``."""
    if not path:
        return without_input(value)
    step, rest = path[0], path[1:]
    if isinstance(value, list) and isinstance(step, int):
        head = [*value[:step], cut(value[step], rest, n_kept)]
        return head + [without_input(item) for item in value[step + 1 :]]
    return {key: cut(item, rest, n_kept) if key == step else _beside(key, item, n_kept) for key, item in value.items()}


def _beside(key: str, item: Any, n_kept: int) -> Any:
    """What stands beside the messages: a log of calls is cut after as many as the messages keep, the rest is bared."""
    if key != "events" or not isinstance(item, list):
        return _bare(key, item, 0)
    events, n_seen = [], 0
    for event in item:
        n_seen += bool(isinstance(event, dict) and event.get("event") == "model")
        events.append(event if n_seen <= n_kept else without_input(event))
    return events


def _archive(data: bytes, path: Path, n_kept: int) -> bytes:
    """The zip archive with its member ``path[0]`` cut."""
    written = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as source, zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as target:
        for name in source.namelist():
            member = source.read(name)
            target.writestr(name, _dumps(cut(json.loads(member), path[1:], n_kept)) if name == path[0] else member)
    return written.getvalue()


def _dumps(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
