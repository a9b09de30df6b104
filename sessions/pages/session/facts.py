"""The facts strip and the opening sentence of the session page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sessions.engine.costs.cost_report import usd
from sessions.engine.transcript.recorded_events import ErrorKind
from sessions.engine.transcript.types import Kind, Label
from sessions.engine.weigh.calibration.context_windows import ANSWER, DEFAULT, LONG, REFUSAL
from sessions.pages.ui import figures
from sessions.pages.ui.causes import false_ones, held
from sessions.runs.overview import Overview, called


@dataclass(frozen=True, slots=True)
class Fact:
    """One figure of the strip: name, figure, unit, how it is known, one note; ``alarm`` reads red.

    Without ``unit`` the value is a count of things, or words; ``short`` writes large ones shortened.
    """

    name: str
    value: float | str
    unit: str = ""
    label: str = ""
    note: str = ""
    alarm: bool = False
    message: int | None = None
    short: bool = False


@dataclass(frozen=True, slots=True)
class Opening:
    """The sentence that names the worst over-counting message: what it weighs in bytes and in tokens."""

    message: int
    what: str
    factor: float
    n_bytes: int
    tokens: int
    label: str
    over_window: bool
    bytes_label: str


def opening(view: Overview) -> Opening | None:
    """The opening sentence, None where nothing is over-counted ten times or more."""
    worst = view.worst
    if worst is None:
        return None
    message, weighed = view.messages[worst], view.weighed
    block = max(
        (leaf for leaf in message.leaves() if weighed.overcount(leaf) is not None),
        key=lambda leaf: weighed.overcount(leaf) or 0,
    )
    media = block.media
    n_bytes = (media.n_base64 + len(media.media_type)) if media else 0
    return Opening(
        worst, called(message, view.tools), view.factors[worst] or 0, n_bytes, weighed.image_tokens(block),
        "estimated", n_bytes > weighed.window, view.bytes_label,
    )  # fmt: skip


def leading(view: Overview, spent: Mapping[str, Any] | None) -> tuple[Fact, ...]:
    """The facts under the verdict: how full the context got, and what the session cost; ``spent`` as for ``facts``."""
    return view.once("peak", lambda: _peak(view)), _cost(view, spent)


def facts(view: Overview, spent: Mapping[str, Any] | None) -> tuple[Fact, ...]:
    """Eight facts, the alarming one first; all but the cost are worked out once per view.

    ``spent`` is the session's cost (``cost_document``), None where nothing is recorded or no price is known.
    """
    others = view.once("facts", lambda: _facts(view))
    return (*others[:4], _cost(view, spent), *others[4:])


def _facts(view: Overview) -> tuple[Fact, ...]:
    weighed, transcript = view.weighed, view.weighed.transcript
    n_bytes, name = sum(view.n_bytes), f"{view.bytes_label.title()} bytes"
    images = sum(
        leaf.media.n_base64
        for message in view.messages
        for leaf in message.leaves()
        if leaf.kind is Kind.IMAGE and leaf.media
    )
    share = figures.percent(images, n_bytes)
    fit = f"×{weighed.ratio:.2f} of o200k" + ("" if weighed.ratio_label is Label.CALIBRATED else ", prior")
    messages = f"{figures.plural(len(transcript.requests), 'request')}, {figures.plural(view.n_images, 'image')}"
    return (
        _worst(view),
        Fact("Tokens, all messages", weighed.total_tokens, "tokens", str(weighed.total_label), fit),
        Fact(name, n_bytes, "bytes", view.bytes_label, f"images {share}" if images else "no images"),
        view.once("peak", lambda: _peak(view)),
        _compactions(view),
        Fact("Messages", len(view.messages), "", "", messages),
        _usage(view),
    )


def _worst(view: Overview) -> Fact:
    opened = opening(view)
    if opened is None:
        return Fact("Worst overcount", "none", "", "", "no image overcounted")
    article = "an" if opened.what[0] in "aeiou" else "a"
    note = f"message {opened.message:,}, {article} {opened.what}"
    return Fact("Worst overcount", opened.factor, "factor", opened.label, note, True, opened.message)


def _peak(view: Overview) -> Fact:
    window, peak = view.weighed.own_window, view.peak
    if peak is None:
        return Fact("Peak context", "none", "", "", "no requests")
    _, tokens, label = peak
    said = {DEFAULT: "assumed", LONG: "the long one", ANSWER: "the least that fits", REFUSAL: "named by a refusal"}
    source = f", {said[view.weighed.window_source]}" if view.weighed.window_source in said else ""
    # The agent counts what came since the last request too: its figure is larger than what any request was sent.
    most = max((before or 0 for before in held(view)), default=0)
    more = f", as sent; up to {most:,} before a compaction" if most > tokens else ""
    note = f"{figures.percent(tokens, window)} of {window:,}{source}{more}"
    return Fact("Peak context", tokens, "tokens", str(label), note)


def _compactions(view: Overview) -> Fact:
    found = view.weighed.transcript.compactions
    events = _events(view)
    if not found:
        return Fact("Compactions recorded", "0", "", "", ", ".join(events) or "none in this session")
    n_false = len(false_ones(view.verdicts))
    right = f"{figures.count(len(found) - n_false)} not" if n_false else "no false alarm"
    said = f"{figures.count(n_false)} false, {right}" if n_false else right
    note = ", ".join((said, *events))
    return Fact("Compactions recorded", len(found), "", "", note, alarm=bool(n_false))


def _usage(view: Overview) -> Fact:
    """Provider-reported tokens of all requests, each once."""
    usages = [request.usage for request in view.weighed.transcript.requests if request.usage]
    if not usages:
        return Fact("Usage", "none", "", "", "the transcript reports none")
    sent = sum(usage.context for usage in usages)
    read = figures.percent(sum(usage.cache_read for usage in usages), sent)
    output = " ".join(figures.short(sum(usage.output for usage in usages))).strip()
    return Fact("Usage, input tokens", sent, "tokens", "measured", f"{read} cached, {output} out", short=True)


def _events(view: Overview) -> list[str]:
    """How often a request was refused for its size, a compaction failed, and results were cleared in place."""
    transcript = view.weighed.transcript
    words: dict[str, str] = {ErrorKind.COMPACTION: "failed", ErrorKind.GAVE_UP: "stopped by the agent"}
    found = Counter({"refused": 0})
    for error in transcript.errors:
        found[words.get(error.kind, "refused")] += error.count
    counts = ((n, what) for what, n in (*found.items(), ("cleared in place", len(transcript.clearings))))
    return [f"{n:,} {what}" for n, what in counts if n]


def _cost(view: Overview, spent: Mapping[str, Any] | None) -> Fact:
    """What the recorded usage costs, what the file itself says, and how far the cost model is off."""
    stated = view.weighed.transcript.stated_usd
    if spent is None and stated is not None:
        return Fact("Cost, as the file says", stated, "dollars", "recorded", "no usage, or no price known")
    if spent is None:
        return Fact("Cost, recorded", "none", "", "", "no usage, or no price known")
    model = spent["model"]
    error = model["error"] if model else None
    off = "" if error is None else f"our estimate differs by {abs(100 * error):.1f}%"
    told = "" if stated is None else f"the file itself says {usd(stated)}"
    n, unknown = len(view.weighed.transcript.requests), spent["n_without_usage"]
    covers = f"of {figures.count(n - unknown)} of {figures.plural(n, 'request')}, the others report no usage"
    least = f"at least{f': {covers}' if unknown else ''}" if spent["is_lower_bound"] else ""
    notes = (least, told, off)
    return Fact("Cost, recorded", spent["recorded_usd"], "dollars", "measured", ", ".join(filter(None, notes)))
