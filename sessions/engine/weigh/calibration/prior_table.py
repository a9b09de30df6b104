"""Priors by family, made by ``python -m tests.bench prior``: not to be edited (estimators 7.3).

``CLAUDE``: 115 sessions of Claude Code 2.0.64 to 2.1.41, the latest of 2026-02-15, from the public repository
entireio/cli (branch entire/checkpoints/v1); claude-opus-4-5-20251101, claude-opus-4-6, claude-sonnet-4-5-20250929.
"""

from __future__ import annotations

from sessions.engine.weigh.calibration.prior import Prior

CLAUDE = Prior(
    factor=1.0,
    text=(0.807, 0.0509, -0.2384, 0.022, 0.1535, 0.4097, 0.2979, -0.0444, 48.0828, 189.605, 0.0),
    arguments=(0.8145, 0.0808, -0.0058, 6.3583, 0.2019, 0.2771, 0.0048, -0.1741, 2.4611, 0.0, -5.7851),
    call=39.5,
    wrapper=17,
    prompt=5,
    frame=12,
    signature=0.1972,
    signature_head=182.0,
    reminder=107.0,
    reminder_task=4.2,
    plan=1102.2,
    relisted=1024.0,
    untold=0.0125,
    clients=((2, 0, 64), (2, 1, 41)),
    weight=5000,
    results=2,
)
