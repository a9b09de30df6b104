"""``ctxweb diff``: the message list before and after one compaction, with the words that went and came."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.text import Text

from ctxweb.commands._each import EachFile
from ctxweb.commands._engine import emit, warn
from ctxweb.commands._options import AS_JSON
from ctxweb.commands._replaying import compaction_option, replay_options, run_replay
from ctxweb.terminal import Head, figure, show_table, terminal, titled
from sessions.engine.base.errors import BadParameter
from sessions.engine.base.words import counted
from sessions.engine.reading.texts import Texts
from sessions.engine.redact.escaping import printable
from sessions.engine.replays.diff import Row, diff_event
from sessions.engine.reports.export import inserted_texts
from sessions.engine.reports.report import diff_document
from sessions.engine.transcript.speaker import speaker

if TYPE_CHECKING:
    from sessions.engine.replays.replay import Replay

SYMBOLS = {"kept": "=", "edited": "~", "dropped": "\N{MINUS SIGN}", "inserted": "+", "moved": "\N{UP DOWN ARROW}"}
STYLES = {"dropped": "red", "inserted": "green", "edited": "yellow"}
GROUPS = ("inserted", "edited", "moved", "dropped", "kept")
NAMED, CHARS = 12, 240
"""Messages of a group that are shown, heaviest first, and characters of each, unless all are asked for."""
HEADS = (
    Head(""), Head("id"), Head("role"), Head("before"), Head("after"), figure("tokens before"), figure("tokens after"),
    Head("pair"),
)  # fmt: skip


@click.command("diff", cls=EachFile)
@replay_options
@compaction_option("Which compaction", default=0)
@click.option("--all", "everything", is_flag=True, help="Every message, whole texts, in a pager.")
@click.option("--table", is_flag=True, help="A row per message, without texts.")
@AS_JSON
def command(file: Path, event: int, *, everything: bool, table: bool, as_json: bool, **options: Any) -> None:
    """What one compaction of a replay drops, edits and inserts, with the words."""
    result = run_replay(file, **options)
    try:
        document = diff_document(result, event)
    except BadParameter as error:
        raise click.ClickException(str(error)) from error
    if as_json:
        emit(document)
    elif table:
        show_table(terminal(), HEADS, [_cells(row) for row in document["rows"]])
    else:
        with Texts(lambda: file.open("rb"), result.weighed.transcript.format) as texts:
            parts = list(_words(result, event, texts, everything=everything))
        console = terminal()
        if everything and console.is_terminal:
            with console.pager(styles=True):
                console.print(*parts, sep="\n")
        else:
            console.print(*parts, sep="\n", soft_wrap=not console.is_terminal)
    if not as_json:
        warn(result.warnings)


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    places = ("" if row[side] is None else str(row[side]) for side in ("before", "after"))
    pair = {True: "whole", False: "split", None: ""}[row["pair_ok"]]
    tokens = (f"{row[side]:,}" for side in ("tokens_before", "tokens_after"))
    return f"{SYMBOLS[row['op']]} {row['op']}", row["id"][:12], row["role"], *places, *tokens, pair


def _words(result: Replay, number: int, texts: Texts, *, everything: bool) -> Iterator[Text]:
    """What happened, then each group: how much of it, and its messages with their words."""
    event = result.events[number]
    rows = diff_event(event, result.weighed)
    inserted = inserted_texts(result, texts.of)
    before, after = event.before_tokens, event.after_tokens
    yield titled(
        f"{result.policy.name}, compaction {number + 1} of {len(result.events)}, before request {event.request:,}.",
        f" {before:,} \N{RIGHTWARDS ARROW} {after:,} tokens (estimated).",
    )
    for op in GROUPS:
        group = [row for row in rows if row.op == op]
        if not group:
            continue
        tokens = sum(max(row.tokens_before, row.tokens_after) for row in group)
        yield titled(f"\n{op.capitalize()}:", f" {counted(len(group), 'message')}, {tokens:,} tokens.",
                     style=f"bold {STYLES.get(op, '')}".strip())  # fmt: skip
        if op == "kept" and not everything:
            continue
        shown = group if everything else _heaviest(group)
        for row in shown:
            yield _message(row, " ".join(_text(row, inserted, texts).split()), CHARS if not everything else None)
        if len(shown) < len(group):
            yield Text(f"  \N{HORIZONTAL ELLIPSIS} {len(group) - len(shown):,} lighter ones (--all shows them)", "dim")
    split = sum(row.pair_ok is False for row in rows)
    if split:
        yield Text(
            f"\n{counted(split, 'message')} lost a tool call or its result: providers refuse such a list.", "red"
        )


def _heaviest(group: list[Row]) -> list[Row]:
    heavy = sorted(group, key=lambda row: -max(row.tokens_before, row.tokens_after))[:NAMED]
    return sorted(heavy, key=group.index)


def _message(row: Row, said: str, n_chars: int | None) -> Text:
    """One message: its sign, name, role and tokens, and at most ``n_chars`` of its words."""
    tokens = f"{row.tokens_before:,}" if row.op != "inserted" else f"{row.tokens_after:,}"
    if row.op == "edited":
        tokens += f" \N{RIGHTWARDS ARROW} {row.tokens_after:,}"
    item = row.item_before or row.item_after
    name = f"#{item.message.index}" if item and item.message.index >= 0 else row.id
    if n_chars is not None and len(said) > n_chars:
        said = said[:n_chars].rstrip() + "\N{HORIZONTAL ELLIPSIS}"
    role = speaker(item.message) if item else row.role
    head = Text(f"{SYMBOLS[row.op]} {name} {role}, {tokens} tokens", STYLES.get(row.op, ""))
    return head.append(f"\n    {printable(said)}" if said else "\n    (no text)", "default")


def _text(row: Row, inserted: Mapping[str, str], texts: Texts) -> str:
    """The words of a message: those that the replay wrote, else those of the transcript; of an edited one as it was."""
    item = row.item_before or row.item_after
    if item is None:
        return ""
    return inserted.get(item.id, "") or (item.message.preview if item.message.index < 0 else texts.plain(item.message))
