"""A setting as a function for an agent of one's own: what is put together from which pieces, in either language."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from sessions.engine.agents.agent import Agent
from sessions.engine.agents.setting import ASSUMED, CLEAR, SUMMARISE, TRIM, Configuration, Rendering, Setting, worded
from sessions.engine.policies import params as parameters
from sessions.engine.policies.parametric import POLICY, TRIGGERS

EXPRESSED = {*TRIGGERS, "operator", "edit", "keep_first", "keep_last", "keep_unit", "min_chars", *ASSUMED}
"""Parameters of one's own policy that the function has."""
UNITS = ("messages", "replies", "turns")
DEFAULT_KEPT, DEFAULT_CHARS = 10, 120
WHAT = {SUMMARISE: "summarises", TRIM: "drops", CLEAR: "clears the tool results of"}
DIFFERS = "the function keeps the last messages and knows nothing else of that policy."


class Code(NamedTuple):
    """The pieces of one language: ``edits`` by what becomes of old messages, ``kept`` by what counts from the end.

    ``by_messages`` counts them for the trigger; ``with_summary`` are words that only a list with summaries needs.
    """

    head: str
    edits: Mapping[str, str]
    kept: Mapping[str, str]
    none_kept: str
    by_messages: Mapping[str, str]
    tail: str
    with_summary: Mapping[str, str]


def own_agent(name: str, label: str, code: Code) -> Agent:
    """The agent of one's own that is written in a language."""
    return Agent(
        name=name, label=f"My own agent, {label}", policies=(POLICY.name,),
        configuration=Configuration(
            file=f"your agent's {label}", language=name, checked="2026-11-26",
            make=lambda setting: render(setting, code),
            source="the replay of the same setting, request by request", differs=DIFFERS,
            edits=WHAT, otherwise="The function summarises, drops messages or clears tool results; nothing else.",
            own={POLICY.name: {spec.name for spec in parameters.specs(POLICY.params)}},
        ),
    )  # fmt: skip


def render(setting: Setting, code: Code) -> Rendering:
    """The function of a setting; raises NotTokens where the trigger counts neither tokens nor messages."""
    own, params = setting.policy.name == POLICY.name, setting.params
    unit = params.keep_unit if own else "messages"
    if unit not in UNITS:
        return Rendering(cannot=("There is no function that keeps by tokens: keep messages, replies or turns.",))
    kept = params.keep_last if own else setting.keep_messages
    at = setting.tokens if setting.trigger_messages is None else setting.trigger_messages
    last = DEFAULT_KEPT if kept is None else kept
    measured = "tokens" if setting.trigger_messages is None else "messages"
    over = ">" if setting.above else ">="
    words = f"Compacts at {at:,} {measured}: {WHAT[setting.edit]} all but the last {last:,} {unit}."
    values = {
        "$WORDS": words, "$AT": f"{at:_}", "$FIRST": str(params.keep_first if own else 0), "$LAST": f"{last:_}",
        "$CHARS": str(params.min_chars if own else DEFAULT_CHARS), "$UNDER": "<=" if over == ">" else "<",
        "$MEASURE": "tokens" if measured == "tokens" else code.by_messages[setting.edit],
    }  # fmt: skip
    values |= code.with_summary if setting.edit == SUMMARISE else {"$CUT": "cut", "$TYPED": ""}
    tail = "" if setting.edit == CLEAR and (unit != "turns" or not last) else code.tail
    text = code.head + code.edits[setting.edit] + (code.kept[unit] if last else code.none_kept) + tail
    for name, value in values.items():
        text = text.replace(name, value)
    return Rendering(text, setting.trigger, _unsaid(setting, own=own, kept=kept))


def _unsaid(setting: Setting, *, own: bool, kept: int | None) -> tuple[str, ...]:
    """What the function leaves out of the setting."""
    if not own:
        return () if kept is not None else (f"It keeps the last {DEFAULT_KEPT} messages, an assumption.",)
    labels = {spec.name: spec.label for spec in parameters.specs(setting.policy.params)}
    # A policy of one's own stops after failures unless it is told not to, and the function never does.
    unlike = {**setting.changed, "breaker": setting.params.breaker}
    found = [f"{labels[name]}: {worded(value)} is not in the function." for name, value in unlike.items()
             if name not in EXPRESSED and (name, value) != ("breaker", None)]  # fmt: skip
    several = [labels[name] for name in TRIGGERS if getattr(setting.params, name) is not None]
    if len(several) > 1:
        found.append(f"Of the triggers ({', '.join(several)}) the function has one.")
    return tuple(found)
