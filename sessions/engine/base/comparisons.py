"""The one place that says how a figure compares with a threshold: from the figures, never from what came of it."""

from __future__ import annotations

OPERATORS = (">=", ">")


def reaches(measure: int, operator: str, threshold: int) -> bool:
    """Whether ``measure`` is ``operator`` (">=" or ">") ``threshold``."""
    if operator not in OPERATORS:
        raise ValueError(f"a comparison is one of {', '.join(OPERATORS)}, not {operator!r}")
    return measure >= threshold if operator == ">=" else measure > threshold


def compared(measure: int, operator: str, threshold: int, unit: str, whose: str) -> str:
    """Words that the figures bear out: "166,688 tokens were below the policy's 167,000"."""
    below, above = ("were below", "reached") if operator == ">=" else ("were not over", "were over")
    words = above if reaches(measure, operator, threshold) else below
    return f"{measure:,} {unit} {words} {whose} {threshold:,}"
