"""What is known about a model, found by its name as transcripts write it, and what it takes in one client.

What a model takes in one client, or from one seller, stands in ``OFFERS`` where that is not its own window (policies
15): a row holds for a client, a provider as transcripts write it, models by the start of their bare names, and days;
the first that fits is taken.  Windows are the most input in tokens that one request may carry.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from sessions.engine.base.moments import moment
from sessions.engine.models import models_table as table
from sessions.engine.transcript.types import Transcript

UNKNOWN_WINDOW = 200_000
GUESSED_WINDOW = f"a window of {UNKNOWN_WINDOW:,} tokens, "
"""What the note on an unknown model says of its window, where nothing else names one."""
UNKNOWN_MAX_OUTPUT = 32_000
SAME_PRICE = frozenset({"", "-codex", "-codex-max", "-preview", "-sol", "-thinking"})
"""What may follow a table name without changing its price; another variant (``-pro``) keeps the rules alone."""
_DATE = re.compile(r"[-@]20\d\d-?\d\d-?\d\d\b.*$|-\d{4}$")
_VERSION = re.compile(r"-v\d+(?::\d+)?(?:\[.*)?$|-latest$|:[a-z]+$")
_LONG = re.compile(r"(?:\[1m\]|:1m)$")
_SETTING = re.compile(r"\s+\([a-z ]+\)$")
"""How hard a model is to think, as Antigravity writes it behind its name: ``Gemini 3.1 Pro (High)``."""
_OLD_ORDER = re.compile(r"^claude-(\d(?:-\d)?)-(opus|sonnet|haiku)$")
_CLAUDE = re.compile(r"^claude-(opus|sonnet|haiku|fable|mythos)-(\d+)(?:-(\d{1,2}))?")


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """Limits, rules and prices of one model; prices in USD per million tokens, None where unknown.

    ``window`` is the most input one request may carry, ``long_window`` what the API takes beyond it where the client
    asks (``[1m]``), ``image_tier`` the name of the image rule, ``text_prior`` the tokens per o200k token.
    ``large`` are the tokens of input above which a request has other prices, and those (policies 14.4).  ``known`` is
    False for a name that is not in the table; ``note`` then says what is assumed.  ``input_limited``: its seller limits
    the input alone, whatever the reply may have.
    """

    name: str
    family: str
    window: int
    max_output: int
    image_tier: str
    text_prior: float
    keeps_thinking: bool = False
    input_price: float | None = None
    output_price: float | None = None
    cache_read_price: float | None = None
    cache_write_price: float | None = None
    cache_write_1h_price: float | None = None
    known: bool = True
    long_window: int | None = None
    note: str = ""
    large: table.Large | None = None
    input_limited: bool = False


@dataclass(frozen=True, slots=True)
class OwnModel:
    """A model of the user's own table: tokens, the listed one that it counts ``like``, prices in the table's order."""

    window: int
    max_output: int | None = None
    like: str = ""
    prices: tuple[float | None, ...] = table.UNPRICED


_own: dict[str, OwnModel] = {}
"""Models of the user's own by lower-case name, with a provider or without."""
_changes: list[None] = []


def use_own_models(models: Mapping[str, OwnModel]) -> bool:
    """Have these models stand above the built-in table in this process; whether that changed anything."""
    if models == _own:
        return False
    _own.clear()
    _own.update(models)
    _changes.append(None)
    model_info.cache_clear()
    return True


def own_changes() -> int:
    """How often the user's own models changed in this process: what was made under another number may differ."""
    return len(_changes)


def own_digest() -> str:
    """A name for the user's own models as they stand: equal ones have the same in every process."""
    return hashlib.sha256(repr(sorted(_own.items())).encode()).hexdigest()[:16] if _own else ""


@lru_cache(maxsize=1024)
def model_info(name: str) -> ModelInfo:
    """The model called ``name``; never raises.  Provider prefixes, dated suffixes, ``[1m]``, ``:1m`` are understood.

    A model of the user's own table stands above the built-in one: by its full name, else by its bare one.
    """
    own = _of_user(name)
    return _listed(name) if own is None else _as_own(name, own)


def with_window(name: str, window: int, *, long: int | None = None, is_limit: bool = False) -> ModelInfo:
    """A model at another window in tokens, ``long`` beyond it where asked; ``is_limit``: a limit on the input alone."""
    return replace(model_info(name), window=window, long_window=long, input_limited=is_limit)


def is_own(name: str) -> bool:
    """Whether a model stands in the user's own table."""
    return _of_user(name) is not None


def asks_for_long(name: str) -> bool:
    """Whether a name asks for the long window: ``[1m]``, ``:1m``."""
    return bool(_LONG.search(name.strip().lower()))


def _of_user(name: str) -> OwnModel | None:
    return _own.get(name.strip().lower()) or _own.get(normalised(name))


def _as_own(name: str, own: OwnModel) -> ModelInfo:
    """A model as the user's table has it; what it does not say is the listed model's, of its like or its own name."""
    base = _listed(own.like or name)
    price_in, price_out, read, write, write_1h = own.prices
    large = base.large if price_in is None else None
    if price_in is None:
        price_in, price_out, read = base.input_price, base.output_price, base.cache_read_price
        write, write_1h = base.cache_write_price, base.cache_write_1h_price
    return ModelInfo(
        name, base.family, own.window, own.max_output or base.max_output, base.image_tier, base.text_prior,
        base.keeps_thinking, price_in, price_out, read, write, write_1h, large=large,
    )  # fmt: skip


def _listed(name: str) -> ModelInfo:
    plain = normalised(name)
    best = _row(plain)
    if best is None:
        plain = name.strip().lower().rsplit("/", 1)[-1]  # four digits are a version of some, not a date
        best = _row(plain)
    if best is None:
        return _unknown(name, normalised(name))
    family, row = best
    variant = plain[len(row.prefix) :]
    same = variant in SAME_PRICE
    note = "" if same else f"{name} is taken for a {row.prefix}, without prices"
    long = asks_for_long(name) and row.long_window is not None
    window = row.long_window if long and row.long_window else row.window
    return ModelInfo(
        name, family, window, row.max_output, row.image_tier, row.text_prior, row.keeps_thinking,
        *(row.prices if same else table.UNPRICED), long_window=row.long_window, note=note,
        large=row.large if same else None,
    )  # fmt: skip


def _row(plain: str) -> tuple[str, table.ModelRow] | None:
    """The longest row that a bare name begins with, and its family."""
    families = (*table.FAMILIES.items(), (table.OTHERS, table.BY_WINDOW))
    found = ((family, row) for family, rows in families for row in rows if begins_with(plain, row.prefix))
    return max(found, key=lambda one: len(one[1].prefix), default=None)


@lru_cache(maxsize=1024)
def normalised(name: str) -> str:
    """The bare model name: ``us.anthropic.claude-opus-4-8-20260801-v1:0[1m]`` is ``claude-opus-4-8``."""
    plain = re.sub(r"\s+", "-", _SETTING.sub("", _LONG.sub("", name.strip().lower()))).rsplit("/", 1)[-1]
    plain = re.sub(r"^(?:[a-z]{2,6}\.)?(?:anthropic|openai|google)\.", "", plain)
    plain = _VERSION.sub("", _DATE.sub("", _VERSION.sub("", plain)))
    if plain.startswith("claude"):
        plain = plain.replace(".", "-")
    return _OLD_ORDER.sub(r"claude-\2-\1", plain) if _OLD_ORDER.match(plain) and plain[7] >= "4" else plain


def begins_with(name: str, prefix: str) -> bool:
    """Whether a bare name is ``prefix`` or a variant, no digit next: not ``claude-opus-4-9`` of ``claude-opus-4``."""
    if name == prefix:
        return True
    rest = name[len(prefix) :]
    return name.startswith(prefix) and rest[0] in "-:@" and not rest[1:2].isdigit()


def _unknown(name: str, plain: str) -> ModelInfo:
    """A Claude model newer than the table gets the newest tokenizer and tier, anything else the older Claude's."""
    version = _CLAUDE.match(plain)
    if version and (int(version[2]), int(version[3] or 0)) >= (4, 7):
        note = f"{name} is not in the model table; treated as a recent Claude model, without prices"
        return ModelInfo(
            name, "claude", UNKNOWN_WINDOW, 128_000, "high-res", table.NEW_CLAUDE, True, known=False,
            long_window=1_000_000, note=note,
        )  # fmt: skip
    family = "claude" if plain.startswith("claude") else table.OTHERS
    what = f"{name} is not in the model table" if name else "The file names no model"
    note = (
        f"{what}: {GUESSED_WINDOW}"
        f"the standard image tier and {table.OLD_CLAUDE} tokens per o200k token are assumed, without prices"
    )
    return ModelInfo(
        name, family, UNKNOWN_WINDOW, UNKNOWN_MAX_OUTPUT, "standard", table.OLD_CLAUDE, known=False, note=note
    )


CLAUDE_CODE, CLAUDE_WINDOW = "claude_code", 200_000


@dataclass(frozen=True, slots=True)
class Offer:
    """One row: ``days`` are the first and the first that it no longer holds for, "" where it has no such end."""

    provider: str
    models: tuple[str, ...]
    window: int
    source: str
    agent: str = ""
    days: tuple[str, str] = ("", "")


CODEX, COPILOT, COPILOT_CLI = "openai-codex", "github-copilot", "copilot_cli"
CODEX_MODELS = ("gpt-5", "gpt-5.1", "gpt-5.2", "gpt-5.3", "gpt-5.4", "gpt-5.4-mini", "gpt-5.5", "gpt-5.6")
CLAUDE_ON_COPILOT = (
    "claude-opus-4", "claude-opus-4-1", "claude-opus-4-5", "claude-opus-4-6", "claude-opus-4-7", "claude-opus-4-8",
    "claude-opus-5", "claude-opus-5-5", "claude-sonnet-4", "claude-sonnet-4-5", "claude-sonnet-4-6", "claude-sonnet-5",
    "claude-sonnet-5-5", "claude-fable-5", "claude-fable-5-1",
)  # fmt: skip
OFFERS = (
    Offer(CODEX, ("gpt-5.3-codex-spark",), 128_000, "recorded by Codex 0.144"),
    Offer(CODEX, ("gpt-5.6",), 372_000, "openai/codex issue 31860, earendil-works/pi PR 6471", days=("", "2026-07-13")),
    Offer(CODEX, CODEX_MODELS, 258_400, "cline/cline PR 12129", "cline", days=("2026-07-07", "")),
    Offer(CODEX, CODEX_MODELS, 272_000, "openai/codex issues 19319 and 31860, earendil-works/pi PR 6837"),
    Offer(COPILOT, CLAUDE_ON_COPILOT, 200_000, "recorded by Copilot CLI 1.0", COPILOT_CLI),
    Offer(COPILOT, ("claude-haiku-4-5",), 128_000, "litellm 1.109.1"),
    Offer(COPILOT, CLAUDE_ON_COPILOT, 128_000, "models.dev of 2026-03-31", days=("", "2026-05-28")),
    Offer(COPILOT, CLAUDE_ON_COPILOT, 168_000, "models.dev of 2026-05-28", days=("2026-05-28", "2026-09-23")),
    Offer(COPILOT, CLAUDE_ON_COPILOT, 200_000, "models.dev of 2026-09-23", days=("2026-09-23", "")),
    Offer(COPILOT, ("gpt-5.6-luna",), 200_000, "litellm 1.109.1"),
    Offer(COPILOT, ("gpt-5.2-codex", "gpt-5.4", "gpt-5.4-mini", "gpt-5.5", "gpt-5.6"), 272_000, "models.dev"),
    Offer(COPILOT, ("gpt-5", "gpt-5-mini", "gpt-5.1", "gpt-5.3-codex", "gpt-4.1"), 128_000, "litellm 1.109.1"),
    Offer(COPILOT, ("gpt-4o",), 64_000, "litellm 1.109.1"),
)
"""Subscriptions and Copilot limit the input alone (policies 15.2, 15.3); days are those of the lists that were read."""


def offered(transcript: Transcript, name: str) -> tuple[ModelInfo, str]:
    """The model called ``name`` as the session's client has it, and where that is from; "" is the model's own window.

    A model of the user's own table is taken as it stands there; the day is the one the session started on, and who sold
    the model is what its newest request says.
    """
    own, day = model_info(name), moment(transcript.started_at)
    # Other formats may name Claude Code as their client.
    agent = CLAUDE_CODE if transcript.client.lower().startswith("claude code") else transcript.format
    if not name or is_own(name):
        return own, ""
    if agent == CLAUDE_CODE:
        return _in_claude_code(own)
    sold = (r.provider for r in reversed(transcript.requests) if r.provider and r.model == name)
    provider = COPILOT if agent == COPILOT_CLI else next(sold, "")
    date = "" if day is None else day.date().isoformat()
    row = next((row for row in OFFERS if _fits(row, agent, provider, normalised(name), date)), None)
    return (own, "") if row is None else (with_window(name, row.window, is_limit=True), f"{provider}: {row.source}")


def _in_claude_code(own: ModelInfo) -> tuple[ModelInfo, str]:
    """Claude's models have their own window; any other name is taken for 200,000, or asks for more (policies 15.1)."""
    if own.family == "claude" and own.known:
        return own, ""
    window = table.LONG if asks_for_long(own.name) else CLAUDE_WINDOW
    return with_window(own.name, window), "Claude Code takes a model that it does not know for 200,000"


def _fits(row: Offer, agent: str, provider: str, plain: str, day: str) -> bool:
    first, end = row.days
    held = (not first or not day or day >= first) and (not end or (day != "" and day < end))
    models = any(begins_with(plain, prefix) for prefix in row.models)
    return row.provider == provider and row.agent in {"", agent} and models and held
