"""Standing orders under a heading over how a thing is worked."""

from __future__ import annotations

import pytest

from sessions.engine.quality.orders import CHARS_PER_YOU, binding, stands


@pytest.mark.parametrize(
    ("sentence", "heading", "binds"),
    [
        ("Use uv, not pip.", "Setup", True),
        ("Run the tests before every commit.", "To commit", True),
        ("Sign every commit.", "Prerequisites for a pull request", True),
        ("Run the installer.", "Setup", False),
        ("Run the installer.", "Conventions", True),
    ],
)
def test_what_binds_lastingly_binds_under_a_how_to(sentence: str, heading: str, binds: bool) -> None:
    assert stands(sentence, "given", heading) == binds


@pytest.mark.parametrize(
    ("sentence", "binds"),
    [
        ("Never commit to main and don't forget to push.", True),
        ("You MUST run make check, don't forget to push.", True),
        ("Don't forget to push.", False),
    ],
)
def test_a_reminder_takes_no_other_order_with_it(sentence: str, binds: bool) -> None:
    assert stands(sentence, "prompt") == binds


@pytest.mark.parametrize(
    ("sentence", "binds"),
    [
        ("Report no tides when the harbour is asleep.", True),
        ("Ring the bell if so.", False),
        ("Where a lamp is broken, replace it as part of the round.", True),
        ("Replace the lamp.", False),
        ("When to ring: record tides, storm warnings, fog.", False),
    ],
)
def test_an_order_of_a_prompt_binds_under_a_condition(sentence: str, binds: bool) -> None:
    assert stands(sentence, "prompt") == binds


@pytest.mark.parametrize(("n_you", "bound"), [(3, "pasted"), (4, "prompt")])
def test_a_prompt_is_written_to_you_throughout(n_you: int, bound: str) -> None:
    text = "You are a pilot. " + "You steer. " * (n_you - 1)
    assert binding(text.ljust(4 * CHARS_PER_YOU, "."), user=True) == bound
