"""mini-swe-agent trajectories: a plain list of messages (v0), or ``messages`` with ``info`` (v1) (formats 13).

Version 1.1 may keep the model's whole response beside a reply (``extra.response``); its usage is that of the call.
The ``exit`` entry at the end is the agent's own and was never sent.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sessions.engine.base.errors import UnreadableInput
from sessions.engine.reading.formats import PARTLY, YES, Coverage, Format, Head, Measured, Sniff, Source, each_value
from sessions.engine.reading.formats._assembly import Assembly, read_as
from sessions.engine.reading.formats._chat_blocks import ROLES, chat_contents, is_entry
from sessions.engine.reading.formats._counts import openai_usage
from sessions.engine.reading.formats._provider_errors import end_of
from sessions.engine.reading.formats._records import stem_of
from sessions.engine.reading.formats._values import as_dict, as_list, seconds, text_of
from sessions.engine.transcript.types import Origin, Parsed, Role

PLAIN_KEYS = frozenset({"role", "content", "extra", "timestamp"})


class _Format(Format):
    label = "mini-swe-agent"
    source = "mini-swe-agent 0.1 and 1.x trajectories (.traj.json)"
    coverage = Coverage(
        "0.1 to 2.0", usage=PARTLY, refusals=YES, live=PARTLY,
        error="info.exit_status", model="config.model",
    )  # fmt: skip

    def sniff(self, head: Head) -> Sniff | None:
        document = head.document
        if isinstance(document, dict):
            declared = text_of(document.get("trajectory_format"))
            if declared.startswith("mini-swe-agent"):
                return Sniff(95, f"trajectory_format is {declared!r}")
            own = "mini_version" in as_dict(document.get("info")) and isinstance(document.get("messages"), list)
            return Sniff(85, "info names a mini_version") if own else None
        entries = as_list(document)
        if not entries or not all(is_entry(entry) and entry.keys() <= PLAIN_KEYS for entry in entries):
            return None
        if found := shell_replies(entries):
            return Sniff(70, f"a list of messages; {found} replies hold a shell command")
        return Sniff(0, "a list of messages with a role and content, but replies hold no fenced shell command")

    def parse(self, source: Source, measure: Measured) -> Parsed:
        document = source.document()
        if not isinstance(document, (dict, list)):
            raise UnreadableInput("neither a list of messages nor an object with one", next_step="Check the format")
        stem: tuple[str | int, ...] = () if isinstance(document, list) else ("messages",)
        entries = document if isinstance(document, list) else as_list(document.get("messages"))
        history, notes, said = Assembly(measure), list[str](), ""
        for position, entry in enumerate(entries):
            if is_entry(entry):
                _add(history, entry, Origin(1, 0, source.size, (*stem, position)))
            elif isinstance(entry, dict) and entry.get("role") == "exit":
                notes.append("The exit entry is the agent's own, not context")
                said = text_of(as_dict(entry.get("extra")).get("exception_str"))
            else:
                source.skip(f"entry {position} has no role and content")
        info = as_dict(as_dict(document).get("info"))
        history.refuse(end_of(said) if said else end_of(info.get("exit_status")))
        model = text_of(as_dict(as_dict(info.get("config")).get("model")).get("model_name"))
        version = text_of(info.get("mini_version"))
        transcript = history.transcript(stem_of(source.name), otherwise=model, client=version)
        return read_as([transcript], warnings=tuple(notes))

    contents = each_value(chat_contents)


def shell_replies(entries: Sequence[dict[str, Any]]) -> str:
    """How many of the replies are fenced shell commands, where a system prompt and at least half are; else ""."""
    replies = [text_of(entry["content"]) for entry in entries if entry["role"] == "assistant"]
    n_fenced = sum(any(fence in reply for fence in ("```bash", "```mswea_bash_command")) for reply in replies)
    is_run = n_fenced and 2 * n_fenced >= len(replies) and entries[0]["role"] == "system"
    return f"{n_fenced} of {len(replies)}" if is_run else ""


def _add(history: Assembly, entry: dict[str, Any], origin: Origin) -> None:
    extra = as_dict(entry.get("extra"))
    timestamp = seconds(entry.get("timestamp", extra.get("timestamp")))
    contents = chat_contents(entry)
    role = ROLES[entry["role"]]
    if role is Role.ASSISTANT:
        response = as_dict(extra.get("response"))
        native, model = text_of(response.get("id")), text_of(response.get("model"))
        usage = openai_usage(response.get("usage"))
        history.reply(contents, [origin], response_id=native, usage=usage, model=model, timestamp=timestamp)
    else:
        # Observations are user entries too: only what comes before the first reply was typed.
        typed = entry["role"] == "user" and not history.requests
        history.add(role, contents, [origin], typed=typed, timestamp=timestamp)
