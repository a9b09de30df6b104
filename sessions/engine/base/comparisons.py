"""The one place that says how a figure compares with a threshold: from the figures, never from what came of it."""

from __future__ import annotations

OPERATORS = (">=", ">")


def reaches(measure: int, operator: str, threshold: int) -> bool:
    """Whether ``measure`` is ``operator`` (">=" or ">") ``threshold``."""
    if operator not in OPERATORS:
        raise ValueError(f"a comparison is one of {', '.join(OPERATORS)}, not {operator!r}")
    return measure >= threshold if operator == ">=" else measure > threshold


def compared(measure: int, operator: str, threshold: int, unit: str, whose: str, *, claim: bool | None = None) -> str:
    """Words that the figures bear out: "166,688 tokens were below the policy's 167,000".

    ``claim`` is what the caller takes for true, that the threshold is reached or is not; raises ValueError where the
    figures say otherwise, so that no sentence can contradict itself.
    """
    met = reaches(measure, operator, threshold)
    if claim is not None and claim is not met:
        raise ValueError(f"{measure:,} {operator} {threshold:,} is {met}, and {claim} was claimed")
    words = {
        (">=", True): "reached",
        (">=", False): "were below",
        (">", True): "were over",
        (">", False): "were not over",
    }
    return f"{measure:,} {unit} {words[operator, met]} {whose} {threshold:,}"
