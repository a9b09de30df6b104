"""Priors by family, made by ``python -m tests.bench prior``: not to be edited (estimators 7.3).

``CLAUDE``: 115 sessions of Claude Code 2.0.64 to 2.1.41, the latest of 2026-02-15, from the public
repository entireio/cli (branch entire/checkpoints/v1);
claude-opus-4-5-20251101, claude-opus-4-6, claude-sonnet-4-5-20250929.
"""

from __future__ import annotations

from sessions.engine.calibration.prior import Prior

CLAUDE = Prior(
    factor=1.0,
    text=(0.8065, 0.0511, -0.2292, 0.0189, 0.1531, 0.4106, 0.299, -0.0443, 48.1279, 189.6816, 0.0),
    arguments=(0.8115, 0.0814, -0.0057, 6.3692, 0.2075, 0.2775, 0.0066, -0.1735, 2.4776, 0.0, -5.7999),
    call=39.4,
    wrapper=17,
    prompt=5,
    frame=12,
    signature=0.1973,
    signature_head=182.0,
    reminder=107.0,
    reminder_task=4.2,
    plan=1112.3,
    untold=0.0082,
    clients=((2, 0, 64), (2, 1, 41)),
    weight=5000,
    results=2,
)
