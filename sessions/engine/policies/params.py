"""Typed parameters of policies: one frozen dataclass per policy, from which the form, the command line and the check
of given values are made.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sessions.engine.base.amounts import read_amount
from sessions.engine.base.errors import BadParameter
from sessions.engine.base.suggestions import MOST_LISTED, unknown
from sessions.engine.base.words import united

NONE_WORDS = frozenset({"", "none", "off", "no"})
MAX_NAMES, MAX_NAME = 100, 120

# What parameters often range over: unit, from, to, in steps of.
TOKENS, FINE_TOKENS = ("tokens", 0, 1_000_000, 1_000), ("tokens", 0, 1_000_000, 500)
PROMPT, MANY_TOKENS = ("tokens", 0, 2_000_000, 1_000), ("tokens", 0, 10_000_000, 1_000)
LIMIT = ("tokens", 1, 10_000_000, 1_000)
MESSAGES, FEW_MESSAGES = ("messages", 1, 100_000), ("messages", 0, 1_000)
PERCENT, SHARE, POINTS = ("%", 1, 100), ("of the window", 0.01, 1, 0.01), ("points", -10, 10)


@dataclass(frozen=True, slots=True)
class Spec:
    """What a form or the command line needs to know of one parameter.

    ``group`` is "when" (the trigger), "how" (the edit) or "summary"; ``low``, ``high`` and ``step`` bound a number;
    ``choices`` lists the words allowed; ``optional`` allows None ("none" on the command line); ``words`` takes names,
    separated by commas or spaces.
    """

    name: str
    default: Any
    label: str
    help: str
    unit: str
    group: str
    low: float | None
    high: float | None
    step: float | None
    choices: tuple[str, ...]
    optional: bool
    words: bool = False

    @property
    def is_number(self) -> bool:
        """True for whole and decimal numbers (a slider), False for words (a choice, or a list of names)."""
        return not self.choices and not self.words

    @property
    def is_whole(self) -> bool:
        """True when only whole numbers make sense."""
        return self.is_number and not isinstance(self.step, float)

    @property
    def whole(self) -> float | None:
        """What 100% stands for: 100 for a number of per cent, 1 for a fraction, None where no share is meant."""
        if self.unit.startswith("%"):
            return 100
        return 1 if self.high == 1 and not self.is_whole else None

    @property
    def bounds(self) -> str:
        """What it may be, in words: its choices, its range and unit, or names."""
        if self.words:
            return "names"
        return " | ".join(self.choices) or united(f"{self.low:,} to {self.high:,}", self.unit)


def param(  # noqa: PLR0917 - in the order of a form: label, help, unit, from, to, in steps of
    default: Any,
    label: str,
    help: str = "",  # noqa: A002 - the word the form shows
    unit: str = "",
    low: float | None = None,
    high: float | None = None,
    step: float | None = 1,
    *,
    group: str = "how",
    choices: tuple[str, ...] = (),
    optional: bool = False,
    words: bool = False,
) -> Any:
    """Declare a parameter of a policy; a float as ``step`` makes it decimal, None by default makes it ``optional``."""
    meta = {"label": label, "help": help, "unit": unit, "group": group, "low": low, "high": high, "step": step}
    kind = {"choices": choices, "optional": optional or default is None, "words": words}
    return dataclasses.field(default=default, metadata={**meta, **kind})


def when(default: Any, label: str, *facts: Any, **more: Any) -> Any:
    """A parameter of the trigger; what else is given is as in ``param``."""
    return param(default, label, *facts, group="when", **more)


def choice(choices: tuple[str, ...], label: str, text: str = "", *, default: str = "", group: str = "how") -> Any:
    """A parameter that is one of ``choices``, the first unless ``default`` names another."""
    return param(default or choices[0], label, text, choices=choices, group=group)


def stop_after(what: str) -> Any:
    """After how many failures in a row a policy stops."""
    return param(3, "Stop after failures", f"Failed {what}; none: never", "failures", 1, 100, optional=True)


@dataclass(frozen=True, slots=True)
class Told:
    """Parameters of a policy whose trigger may be told the last usage: whether it is (replay-semantics 4)."""

    usage: str = choice(
        ("recorded", "none"),
        "Last usage",
        "What the trigger is told of the provider's usage: as recorded, or none at all",
        group="when",
    )


@dataclass(frozen=True, slots=True)
class NoParams:
    """Of a policy whose rule has no numbers."""


def is_told(params: object) -> bool:
    """Whether triggers are told the provider's last usage where there is one."""
    return getattr(params, "usage", "recorded") != "none"


ELSEWHERE = "List: `ctxweb policies NAME`"
"""Where the parameters stand that are too many for a line."""


def specs(params: type) -> tuple[Spec, ...]:
    """The parameters of a ``Params`` dataclass in the order declared, ``usage`` last."""
    return _specs(params)


@functools.cache
def _specs(params: type) -> tuple[Spec, ...]:
    fields = sorted(dataclasses.fields(params), key=lambda field: field.name == "usage")
    return tuple(Spec(name=f.name, default=f.default, **f.metadata) for f in fields)


def build(params: type, given: Mapping[str, object]) -> Any:
    """``params`` with ``given`` values (strings are read) over the defaults; raises BadParameter."""
    known = {spec.name: spec for spec in specs(params)}
    values: dict[str, object] = {}
    for name, value in given.items():
        if name not in known:
            raise BadParameter(unknown("parameter", name, known, "" if len(known) <= MOST_LISTED else ELSEWHERE))
        values[name] = _read(known[name], value)
    return params(**values)


def _read(spec: Spec, value: object) -> object:
    """One value, checked against its spec."""
    if spec.words:
        return " ".join(_names(value))
    text = value.strip().lower() if isinstance(value, str) else value
    if spec.optional and (text is None or (isinstance(text, str) and text in NONE_WORDS)):
        return None
    if spec.choices:
        if text not in spec.choices:
            raise BadParameter(f"{spec.name} is one of {', '.join(spec.choices)}, not {value!r}")
        return text
    return _number(spec, value)


def _names(value: object) -> list[str]:
    """Names in the order given, once each; "none" for none."""
    names = str(value or "").replace(",", " ").split()
    if any(len(name) > MAX_NAME for name in names) or len(names) > MAX_NAMES:
        raise BadParameter(f"at most {MAX_NAMES} names of at most {MAX_NAME} characters")
    return [] if [name.lower() for name in names] == ["none"] else list(dict.fromkeys(names))


def _number(spec: Spec, value: object) -> float | int:
    try:
        number: float = read_amount(str(value), share_of=spec.whole)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise BadParameter(f"{spec.name} is a number, not {value!r}")
    if spec.is_whole:
        if number != int(number):
            raise BadParameter(f"{spec.name} is a whole number, not {value!r}")
        number = int(number)
    if (spec.low is not None and number < spec.low) or (spec.high is not None and number > spec.high):
        low = "" if spec.low is None else f"{spec.low:,}"
        high = "" if spec.high is None else f"{spec.high:,}"
        raise BadParameter(f"{spec.name} is from {low} to {united(high, spec.unit)}, not {value}")
    return number
