"""The JSON documents of the command line and of the pages: ``ctxweb.inspect/1``, ``replay/1`` and ``diff/1``."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from sessions.engine.base import registry
from sessions.engine.costs.breakeven import EventCost, event_costs
from sessions.engine.costs.cost import Totals, totals
from sessions.engine.costs.cost_fit import replay_range
from sessions.engine.costs.cost_report import cost_document
from sessions.engine.quality.thrash import thrash_document
from sessions.engine.reading.encodings import compaction_document, error_document
from sessions.engine.replays.diff import Row, diff_event, diff_lists
from sessions.engine.replays.lists import items_at
from sessions.engine.tokens.estimators._images import image_rule_words
from sessions.engine.transcript.types import Block, Kind, Message, Parsed, Request
from sessions.engine.weigh.calibration.calibrate import weigh
from sessions.engine.weigh.calibration.fit import OverheadPart, fit_summary, overhead_parts, standing_parts
from sessions.engine.weigh.calibration.weighed import Weighed
from sessions.engine.weigh.sizes import message_sizes
from sessions.engine.why.headline import headline
from sessions.engine.why.verdicts import verdict_document, verdicts_of

if TYPE_CHECKING:
    from sessions.engine.costs.prices import Prices
    from sessions.engine.reading.texts import Texts
    from sessions.engine.replays.replay import Replay

WHY = ("reason", "measure", "threshold", "operator", "unit")
"""Why a trigger fired: what it measured, and what against."""
OF_LAYER = ("freed_tokens", "edited", "dropped", "inserted", "first_changed")


def inspect_document(parsed: Parsed, *, train_fraction: float = 1.0, texts: Texts | None = None) -> dict[str, Any]:
    """``ctxweb.inspect/1`` of a parsed file; sizes in bytes, tokens as labelled; ``texts`` name more overhead."""
    sessions = [session_document(weigh(t, train_fraction=train_fraction), texts) for t in parsed.transcripts]
    return {
        "schema": "ctxweb.inspect/1",
        "format": parsed.format,
        "format_reason": parsed.reason,
        "sessions": sessions,
        "not_understood": [dataclasses.asdict(gap) for gap in parsed.gaps],
        "skipped": [dataclasses.asdict(s) for s in parsed.skipped],
        "fates": [dataclasses.asdict(fate) for fate in parsed.fates],
        "warnings": list(parsed.warnings),
    }


def session_document(weighed: Weighed, texts: Texts | None = None) -> dict[str, Any]:
    """One entry of ``sessions[]``."""
    transcript, verdicts = weighed.transcript, verdicts_of(weighed)
    wire = message_sizes(weighed, registry.get("estimators", "wire_bytes"))
    pressure = message_sizes(weighed, registry.get("estimators", "pressure_bytes"))
    branches = {"branches": [dataclasses.asdict(b) for b in transcript.branches]} if transcript.branches else {}
    return branches | {
        **_named(transcript, "id", "parent_id", "title", "model"),
        "n_messages": len(transcript.messages),
        "n_requests": len(transcript.requests),
        **_named(transcript, "n_images", "n_tool_calls"),
        "totals": {
            "wire_bytes": sum(wire),
            "pressure_bytes": sum(pressure),
            "tokens": weighed.total_tokens,
            "label": weighed.total_label.value,
        },
        "usage": usage_sums(transcript.requests),
        "cost": cost_document(weighed),
        "stated_usd": None if transcript.stated_usd is None else round(transcript.stated_usd, 6),
        "window": weighed.window,
        "window_source": weighed.window_source,
        "overhead_tokens": weighed.overhead,
        "overhead_label": weighed.overhead_label.value,
        "history_tokens": weighed.history,
        "overhead_parts": [part_document(part) for part in (*overhead_parts(weighed, texts), *standing_parts(weighed))],
        "ratio": round(weighed.ratio, 4),
        "image_rule": image_rule_words(weighed.model) if transcript.n_images else None,
        "result_wrapper_tokens": weighed.wrapper,
        "ratio_label": weighed.ratio_label.value,
        "fit": fit_summary(weighed),
        "headline": headline(weighed, verdicts),
        "verdicts": [verdict_document(verdict) for verdict in verdicts],
        "recorded_compactions": [compaction_document(transcript, c) for c in transcript.compactions],
        "recorded_clearings": [dataclasses.asdict(c) for c in transcript.clearings],
        "refusals": [error_document(e) for e in transcript.errors],
        "recorded_events": [error_document(e) for e in transcript.events],
        "requests": _requests(weighed),
        "messages": [_message(weighed, m, wire[m.index], pressure[m.index]) for m in transcript.messages],
        "warnings": list(weighed.warnings),
    }


def part_document(part: OverheadPart) -> dict[str, Any]:
    """A part of the overhead, or a standing message where ``message`` is its index."""
    return part._asdict() | {"label": part.label.value}


def usage_sums(requests: Iterable[Request]) -> dict[str, int] | None:
    """Reported tokens of some requests; None without any, ``reasoning`` and ``cache_write_1h`` only where reported."""
    usages = [r.usage for r in requests if r.usage]
    if not usages:
        return None
    always, reported = ("input", "cache_read", "cache_write", "output"), ("reasoning", "cache_write_1h")
    totals = {name: sum(getattr(usage, name) for usage in usages) for name in (*always, *reported)}
    return {name: tokens for name, tokens in totals.items() if tokens or name in always}


def _requests(weighed: Weighed) -> list[dict[str, Any]]:
    """``label`` is that of the best figure at hand: measured where the provider reported one."""
    weak = weighed.weak_label.value
    return [
        {
            "index": r.index,
            "message": r.message,
            "on_branch": r.on_branch,
            "measured_context_tokens": r.usage.context if r.usage else None,
            "estimated_context_tokens": weighed.estimated[r.index],
            "flagged": r.index in weighed.flagged,
            "label": "measured" if r.usage and r.index not in weighed.flagged else weak,
        }
        for r in weighed.transcript.requests
    ]


def _message(weighed: Weighed, message: Message, wire_bytes: int, pressure_bytes: int) -> dict[str, Any]:
    return {
        "index": message.index,
        "id": message.id,
        "role": message.role.value,
        "kinds": kinds(message),
        "wire_bytes": wire_bytes,
        "pressure_bytes": pressure_bytes,
        "tokens": weighed.tokens[message.index],
        "label": weighed.labels[message.index].value,
        "images": [_image(weighed, leaf) for leaf in message.leaves() if leaf.kind is Kind.IMAGE],
    }


def kinds(message: Message) -> list[str]:
    """Block kinds of a message in order of appearance, each once, those inside tool results included."""
    return list(dict.fromkeys(leaf.kind.value for block in message.blocks for leaf in _shown(block)))


def _shown(block: Block) -> list[Block]:
    """A block and the media inside it (the text inside a tool result is the result)."""
    return [block, *(leaf for part in block.parts for leaf in part.leaves() if leaf.kind is not Kind.TEXT)]


def _image(weighed: Weighed, block: Block) -> dict[str, Any]:
    wire, pressure = registry.get("estimators", "wire_bytes"), registry.get("estimators", "pressure_bytes")
    media = block.media
    overcount = weighed.overcount(block)
    return {
        "media_type": media.media_type if media else None,
        "width": media.width or None if media else None,
        "height": media.height or None if media else None,
        "wire_bytes": wire.size(block, weighed.model),
        "pressure_bytes": pressure.size(block, weighed.model),
        "tokens": weighed.image_tokens(block),
        "overcount": None if overcount is None else round(overcount, 2),
        "problem": (media.problem or None) if media else None,
    }


def replay_document(replay: Replay, *, prices: Prices | None = None) -> dict[str, Any]:
    """``ctxweb.replay/1`` of a replay at ``prices`` (None: list prices); all tokens are display tokens.

    ``events[].cost`` has what each compaction costs and after how many calls it has paid for itself; null where the
    model has no price.  ``baseline`` are the totals of the session as recorded, by the same model;
    ``cost_range_usd`` is the cost with the model's own error, ``recorded_cost`` what the recorded usage comes to, null
    where there is none.  ``cleared_in_place`` is what left this replay's list at each clearing that the recording has.
    """
    from sessions.engine.quality.baseline import baseline  # what replays, which no other document needs

    costs = event_costs(replay, prices=prices) or [None] * len(replay.events)
    sums = totals(replay, prices=prices)
    around = replay_range(replay, sums, prices=prices)
    return {
        "schema": "ctxweb.replay/1",
        "session": replay.weighed.transcript.id,
        "policy": replay.policy.name,
        "params": dataclasses.asdict(replay.params),
        "as_recorded": replay.as_recorded or None,
        **_named(replay, "base", "estimator", "summarizer", "window", "window_source"),
        "context_tokens": list(replay.context_tokens),
        "labels": [None if label is None else label.value for label in replay.labels],
        "events": [_event(e) | {"cost": event_cost_document(c)} for e, c in zip(replay.events, costs, strict=True)],
        "attempts": [dataclasses.asdict(attempt) for attempt in replay.attempts],
        "thrash": thrash_document(replay),
        "cleared_in_place": [cleared._asdict() for cleared in replay.cleared],
        "totals": totals_fields(sums),
        "baseline": totals_fields(baseline(replay.weighed, prices=prices)),
        "cost_range_usd": None if around is None else {"least": round(around[0], 6), "most": round(around[1], 6)},
        "recorded_cost": cost_document(replay.weighed, prices=prices),
        "warnings": list(replay.warnings),
    }


def _event(event: Any) -> dict[str, Any]:
    return {
        "request": event.request,
        "message": event.message,
        **_named(event.gate, *WHY),
        "before": {"messages": event.n_before, "tokens": event.before_tokens},
        "after": {"messages": event.n_after, "tokens": event.after_tokens},
        **_named(event, "kept", "edited", "dropped", "inserted", "first_changed_message", "summary_source"),
        "layers": [
            {"name": layer.name, **_named(layer.gate, *WHY), **_named(layer, *OF_LAYER)} for layer in event.layers
        ],
    }


def _named(value: Any, *names: str) -> dict[str, Any]:
    """Facts of a value under their own names."""
    return {name: getattr(value, name) for name in names}


def event_cost_document(cost: EventCost | None) -> dict[str, Any] | None:
    """What a compaction costs, in dollars, and when it has paid for itself; null without a price."""
    if cost is None:
        return None
    calls = cost.break_even_calls
    return {
        "call_usd": round(cost.call, 6),
        "rewrite_usd": round(cost.rewrite, 6),
        "saves_usd_per_call": round(cost.saves_per_call, 6),
        "break_even_calls": None if calls is None else round(calls, 2),
        "cold_cache": cost.cold,
        "free": cost.free,
    }


def totals_fields(sums: Totals) -> dict[str, Any]:
    """Totals as JSON; dollars to a millionth."""
    result = dataclasses.asdict(sums)
    cost = result.pop("cost")
    result["cost_usd"] = None if cost is None else {name: round(value, 6) for name, value in cost.items()}
    return result


def diff_document(replay: Replay, event: int = 0) -> dict[str, Any]:
    """``ctxweb.diff/1`` of one event; raises BadParameter when the replay has no such event."""
    return {**_diff(replay, diff_event(replay.event(event), replay.weighed)), "event": event}


def between_document(replay: Replay, first: int, last: int, other: Replay | None = None) -> dict[str, Any]:
    """``ctxweb.diff/1`` of lists sent at two requests, the second by ``other``; BadParameter for one off the branch."""
    made = other or replay
    rows = diff_lists(items_at(replay, first), items_at(made, last), replay.weighed)
    return {**_diff(replay, rows), "event": None, "from": first, "to": last, "other_policy": made.policy.name}


def _diff(replay: Replay, rows: Sequence[Row]) -> dict[str, Any]:
    fields = (
        "op", "id", "before", "after", "role", "tokens_before", "tokens_after", "wire_before", "wire_after", "pair_ok"
    )  # fmt: skip
    return {
        "schema": "ctxweb.diff/1",
        "session": replay.weighed.transcript.id,
        "policy": replay.policy.name,
        "event": None,
        "rows": [_named(row, *fields) for row in rows],
        "warnings": list(replay.warnings),
    }
