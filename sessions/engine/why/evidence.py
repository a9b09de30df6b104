"""One row of what speaks for a verdict."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Evidence:
    """One row: its sentence, where it stands, its figure, unit and label; ``step`` of the account, "" outside it."""

    text: str
    request: int | None = None
    message: int | None = None
    figure: int | float | None = None
    unit: str = ""
    label: str = ""
    step: str = ""
