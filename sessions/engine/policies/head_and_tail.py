"""Keeps the beginning and the end: the task statement and the recent work, nothing in between and no summary."""

from __future__ import annotations

from sessions.engine.policies._parametric import preset
from sessions.engine.policy import MAY_LOSE_THE_REQUEST

POLICY = preset(
    "head_and_tail",
    "Head and tail",
    "ctxweb: the classic middle cut, by messages",
    "At four fifths of the window only the first three and the last twenty messages stay.",
    "tiktoken_o200k",
    share=80.0,
    edit="truncate",
    keep_first=3,
    keep_last=20,
    caveats=(MAY_LOSE_THE_REQUEST,),
)
