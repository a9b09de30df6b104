"""Which prior a session starts from: that of its model's family where one was fitted (estimators 6, 7.3)."""

from __future__ import annotations

from sessions.engine.models.model_info import ModelInfo
from sessions.engine.models.models_table import OLD_CLAUDE
from sessions.engine.transcript.types import Transcript
from sessions.engine.weigh.calibration.prior import Prior
from sessions.engine.weigh.calibration.prior_table import CLAUDE

CLAUDE_WRAPPER = 12
"""Tokens of a tool result beside its content on Claude where they cannot be fitted (measured: mostly 10 to 16)."""
CLAUDE_IMAGE_FRAME = 12
"""Tokens of an image in a tool result on Claude beside the image's rule and the result's wrapper.

22 to 26 were measured for both together (estimators 12)."""
GPT_PROMPT = 6
"""Tokens of a prompt beside its text on OpenAI's models: three for it and three for the reply before it (7.2)."""


def prior_of(model: ModelInfo, transcript: Transcript) -> Prior:
    """The prior of the model's family; one ratio where no corpus was measured, or blocks do not say their classes."""
    if is_measured(model) and any(leaf.classes for message in transcript.messages for leaf in message.leaves()):
        return CLAUDE
    claude = model.family == "claude"
    return Prior(
        model.text_prior,
        wrapper=CLAUDE_WRAPPER if claude else 0,
        prompt=GPT_PROMPT if model.family == "gpt" else 0,
        frame=CLAUDE_IMAGE_FRAME if claude else 0,
    )


def is_measured(model: ModelInfo) -> bool:
    """Whether the corpus has sessions with the model's tokenizer: Claude before Opus 4.7."""
    return model.family == "claude" and model.text_prior == OLD_CLAUDE
