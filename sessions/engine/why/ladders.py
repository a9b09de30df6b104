"""The thresholds at which the harness that wrote a transcript compacts, for a window: several where versions differ."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sessions.engine.why import gates

if TYPE_CHECKING:
    from sessions.engine.calibration.weighed import Weighed
    from sessions.engine.model_info import ModelInfo

USUAL_WINDOWS = (1_000_000, 400_000, 272_000, 256_000, 200_000, 128_000, 64_000, 32_000)
"""Windows that harnesses take a model for: those of the models they know, and their fall-backs."""
SET_WINDOWS = tuple(range(100_000, 1_000_000, 50_000))
"""Windows that people set, and that clients were seen to work with (150,000 and 500,000 of 1,000,000)."""


def usual_windows(weighed: Weighed) -> tuple[int, ...]:
    """The windows that this session's harness knows models by; Claude Code's are 200,000 and 1,000,000."""
    return (1_000_000, 200_000) if weighed.transcript.format == "claude_code" else USUAL_WINDOWS


class Rung(NamedTuple):
    """One threshold in tokens and whose it is."""

    tokens: int
    name: str


def ladder(weighed: Weighed, window: int, model: ModelInfo | None = None) -> tuple[Rung, ...]:
    """Thresholds at a window, the usual one first; () for a format whose harness's gate is not known.

    Claude Code's have, and had not, a cap on the output reserve (policies 2.3, 4.1); Gemini CLI's was 0.7 before it was
    0.5 (policies 7.1); Cline's classic table is followed by its SDK's 0.9 (policies 11.2, 11.3).
    """
    model = model or weighed.model
    match weighed.transcript.format:
        case "claude_code":
            rungs = [Rung(gates.claude_code(window, model), "Claude Code's auto-compact threshold")]
            old = gates.claude_code_uncapped(window, model)
            rungs.append(Rung(old, "Claude Code's threshold without the reserve cap"))
        case "codex":
            rungs = [Rung(gates.codex(window, model), "Codex's limit, 0.9 of the raw window")]
        case "pi":
            rungs = [Rung(gates.pi(window, model) + 1, "pi's limit, the window less 16,384")]
        case "gemini_cli":
            half = gates.gemini_cli(window, model)
            rungs = [Rung(half, "Gemini CLI's half of the limit"), Rung(window * 7 // 10, "its older 0.7")]
        case "opencode":
            rungs = [Rung(gates.opencode(window, model), "opencode's usable window")]
        case "goose":
            rungs = [Rung(gates.goose(window, model) + 1, "goose's 0.8 of the window")]
        case "cline":
            rungs = [Rung(gates.cline_classic(window, model), "Cline's maximum")]
            rungs.append(Rung(gates.cline(window, model), "Cline's 0.9 of the window"))
        case _:
            rungs = []
    return tuple(rung for rung in rungs if rung.tokens > 0)
