"""The gates of known harnesses at their defaults: estimator, threshold, operator and how each uses the last usage.

What a policy's replay does in full is reduced here to its trigger, so that all of them can be laid over one session at
once; the thresholds are the policies' own (policies 3, 4.1, 6.1, 7.1, 8.1, 8.4, 10.4, 11.1 to 11.4, 11.8, 11.9, 11.12;
seeds 2.3).  Thresholds are tokens; a gate that counts bytes compares them with tokens one to one, as its original does.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from sessions.engine.policies import (
    _claude_ladder,
    _cline,
    _inspect,
    buzz_handoff,
    cline_basic,
    deepagents_summarization,
    gemini_compression,
    inspect_summary,
    opencode_compaction,
    opencode_compaction_v2,
    roo_code,
)
from sessions.engine.policies import claude_code as claude_code_policy
from sessions.engine.policies import cline_classic as cline_classic_policy
from sessions.engine.policies import codex as codex_policy
from sessions.engine.policies import goose as goose_policy
from sessions.engine.policies import letta as letta_policy
from sessions.engine.policies import pi as pi_policy

if TYPE_CHECKING:
    from collections.abc import Callable

    from sessions.engine.model_info import ModelInfo

AT_LEAST, OVER = ">=", ">"
_CLAUDE = claude_code_policy.Params()
_GEMINI = gemini_compression.Params()
_OPENCODE, _OPENCODE_2 = opencode_compaction.Params(), opencode_compaction_v2.Params()
_PI, _CLINE, _CLASSIC = pi_policy.Params(), cline_basic.Params(), cline_classic_policy.Params()
_ROO, _DEEPAGENTS, _INSPECT = roo_code.Params(), deepagents_summarization.Params(), inspect_summary.Params()
_LETTA, _GOOSE, _BUZZ = letta_policy.Params(), goose_policy.Params(), buzz_handoff.Params()


class Uses(StrEnum):
    """What a gate measures at a request (replay-semantics 4: last usage is that of the request before).

    ``tail``: last usage with its output, plus an estimate of what came after it; ``growth``: last input plus the
    growth of the whole list in bytes; ``total``: last usage with its output alone; ``input``: last input alone;
    ``either``: the larger of the last total and an estimate of the list; ``estimate``: an estimate of the list.
    """

    TAIL = "tail"
    GROWTH = "growth"
    TOTAL = "total"
    INPUT = "input"
    EITHER = "either"
    ESTIMATE = "estimate"


@dataclass(frozen=True, slots=True)
class HarnessGate:
    """One harness's gate at its defaults.

    ``threshold`` gives tokens for a window and a model.  While no usage is known, the estimate of the list is compared
    with it by ``first_operator``, at most with ``first_cap``; where ``estimates_first`` is false, nothing is.
    ``formats`` are the transcript formats that this harness writes.
    """

    name: str
    label: str
    source: str
    estimator: str
    operator: str
    uses: Uses
    threshold: Callable[[int, ModelInfo], int]
    first_operator: str = ""
    first_cap: int | None = None
    formats: tuple[str, ...] = ()
    note: str = ""
    estimates_first: bool = True


def claude_code(window: int, model: ModelInfo) -> int:
    """Window − min(maximum output, 20,000) − 13,000 (policies 4.1)."""
    return _claude_ladder.ladder(_CLAUDE, window, model.max_output or _claude_ladder.DEFAULT_MAX_OUTPUT).compact


def claude_code_uncapped(window: int, _model: ModelInfo) -> int:
    """The same without the cap on the reserve, of 32,000 tokens of output: older clients (policies 4.1)."""
    params = replace(_CLAUDE, output_reserve_cap=None)
    return _claude_ladder.ladder(params, window, _claude_ladder.DEFAULT_MAX_OUTPUT).compact


def codex(window: int, _model: ModelInfo) -> int:
    """⌊0.9 · raw window⌋ (policies 6.1)."""
    return codex_policy.limit(window, None)


def gemini_cli(window: int, _model: ModelInfo) -> int:
    """Half of the limit (policies 7.1)."""
    return gemini_compression.least(_GEMINI, window)


def opencode(window: int, model: ModelInfo) -> int:
    """Usable: an input limit − min(20,000, output), or the context − min(output, 32,000) (policies 8.1)."""
    return opencode_compaction.usable(_OPENCODE, window, model)


def opencode_v2(window: int, model: ModelInfo) -> int:
    """Input limit − 20,000, or the context − max(min(output, 32,000), 20,000) (policies 8.4)."""
    return opencode_compaction_v2.limit(_OPENCODE_2, window, model)


def pi(window: int, _model: ModelInfo) -> int:
    """Window − 16,384 (policies 11.1)."""
    return pi_policy.most(_PI, window)


def cline(window: int, _model: ModelInfo) -> int:
    """0.9 of an input limit that is the window (policies 11.2)."""
    return _cline.trigger(_cline.max_input(window, window), _CLINE.trigger)


def cline_classic(window: int, _model: ModelInfo) -> int:
    """Cline's table of what is allowed, else max(window − 40,000, 0.8 · window) (policies 11.3)."""
    return cline_classic_policy.allowed(_CLASSIC, window)


def roo(window: int, _model: ModelInfo) -> int:
    """⌊0.9 · window⌋ − 8,192: the reserve of a profile that names no maximum output (policies 11.4)."""
    return roo_code.allowed(_ROO, window)


def deepagents(window: int, _model: ModelInfo) -> int:
    """0.85 · the input limit; its default trigger is a fraction (policies 10.4)."""
    return deepagents_summarization.trigger(_DEEPAGENTS, window)


def inspect(window: int, _model: ModelInfo) -> int:
    """⌊0.9 · window⌋ (policies 11.12)."""
    return _inspect.limit(_INSPECT, window)


def letta(window: int, _model: ModelInfo) -> int:
    """⌊0.9 · window⌋ (policies 11.9)."""
    return letta_policy.most(_LETTA, window)


def goose(window: int, _model: ModelInfo) -> int:
    """0.8 · the limit (policies 11.8)."""
    return goose_policy.most(_GOOSE, window)


def buzz(window: int, _model: ModelInfo) -> int:
    """min(window // 10 · 9, window − 32,768) (seeds 2.3)."""
    return buzz_handoff.threshold(_BUZZ, window)


def nine_tenths(window: int, _model: ModelInfo) -> int:
    """⌊0.9 · window⌋."""
    return window * 9 // 10


_BUZZ_CAP = buzz_handoff.history_cap(_BUZZ)
_OWN_COUNT = "Counts the messages; the system prompt and the tools are not in its estimate here."

GATES: tuple[HarnessGate, ...] = (
    HarnessGate(
        "claude_code", "Claude Code", "policies 4.1", "claude_code", AT_LEAST, Uses.TAIL, claude_code,
        formats=("claude_code",),
    ),
    HarnessGate("codex", "Codex CLI", "policies 6.1", "codex", AT_LEAST, Uses.TAIL, codex, formats=("codex",)),
    HarnessGate(
        "gemini_cli", "Gemini CLI", "policies 7.1", "gemini_cli", AT_LEAST, Uses.INPUT, gemini_cli,
        formats=("gemini_cli",), note="Looks at the last prompt's tokens; the list's estimate only before the first.",
    ),
    HarnessGate(
        "opencode", "opencode V1", "policies 8.1", "opencode", AT_LEAST, Uses.TOTAL, opencode, formats=("opencode",),
        note="Looks at the last reply's usage alone: without usage it never fires.", estimates_first=False,
    ),
    HarnessGate(
        "opencode_v2", "opencode V2", "policies 8.4", "opencode_v2", AT_LEAST, Uses.ESTIMATE, opencode_v2,
        note=_OWN_COUNT,
    ),
    HarnessGate("pi", "pi", "policies 11.1", "pi", OVER, Uses.TAIL, pi, formats=("pi",)),
    HarnessGate(
        "cline", "Cline SDK", "policies 11.2", "cline", AT_LEAST, Uses.ESTIMATE, cline,
        note=f"{_OWN_COUNT} Where no input limit is known, the SDK takes nine tenths of this.",
    ),
    HarnessGate("roo", "Roo Code", "policies 11.4", "roo", OVER, Uses.TAIL, roo),
    HarnessGate(
        "deepagents", "LangChain summarization (deepagents' default)", "policies 10.2, 10.4", "langchain", AT_LEAST,
        Uses.EITHER, deepagents, formats=("langchain",),
        note="SummarizationMiddleware itself has no default trigger; deepagents sets 0.85 of the input limit.",
    ),
    HarnessGate("inspect", "Inspect AI", "policies 11.12", "inspect", OVER, Uses.TAIL, inspect),
    HarnessGate("letta", "Letta", "policies 11.9", "letta", OVER, Uses.ESTIMATE, letta, note=_OWN_COUNT),
    HarnessGate("goose", "goose", "policies 11.8", "tiktoken_o200k", OVER, Uses.TOTAL, goose, formats=("goose",)),
    HarnessGate(
        "buzz_pressure", "buzz-agent, pressure bytes", "seeds 2.3", "pressure_bytes", AT_LEAST, Uses.GROWTH, buzz,
        first_operator=OVER, first_cap=_BUZZ_CAP, note="One byte counts as one token.",
    ),
    HarnessGate(
        "buzz_wire", "buzz-agent, wire bytes", "seeds 2.1, 2.3", "wire_bytes", AT_LEAST, Uses.GROWTH, buzz,
        first_operator=OVER, first_cap=_BUZZ_CAP,
        note="One byte counts as one token, base64 included: the gate before images had a flat charge.",
    ),
    HarnessGate(
        "chars_per_4", "Characters ÷ 4, base64 counted", "estimators 13", "chars_per_4", AT_LEAST, Uses.ESTIMATE,
        nine_tenths, note="No one harness's gate: the naive rule, against 0.9 of the window.",
    ),
)  # fmt: skip


def own_gate(format_name: str) -> HarnessGate | None:
    """The gate of the harness that writes transcripts of this format, None where it is not known."""
    return next((gate for gate in GATES if format_name in gate.formats), None)
