"""What is said of models by hand: prices, kept per model, and the user's own table, a file of the data folder."""

from __future__ import annotations

import time
from collections.abc import Mapping

from django.conf import settings

from sessions.adapters.own_models import keep_models, look_again, models_in, refresh
from sessions.engine.base.errors import BadParameter
from sessions.engine.costs.prices import KEYS, Prices, prices_of
from sessions.engine.models.model_info import ModelInfo, OwnModel, model_info, normalised
from sessions.engine.models.own_models import one_model
from sessions.models import ModelPrice, Session, SessionFigures, viewer

MOST_USD = 100_000.0


PRICES_SECONDS = 2.0
"""Given prices are read again after this long: another process may have changed them."""
_given: list[tuple[float, dict[str, dict[str, float]]]] = []


def forget_prices(**_: object) -> None:
    """Read given prices again when next asked for: at every request, for another process may have changed them."""
    _given.clear()


def given_prices() -> dict[str, dict[str, float]]:
    """Prices that this installation gives, by bare model name: dollars per million tokens by the keys of KEYS."""
    now = time.monotonic()
    for then, known in tuple(_given):  # another thread may forget them meanwhile
        if now - then <= PRICES_SECONDS:
            return known
    found = {
        row.model: {key: value for key in KEYS if (value := getattr(row, key)) is not None}
        for row in ModelPrice.objects.order_by("model")
    }
    _given[:] = [(now, found)]
    return found


def prices_for(model: ModelInfo, *, kept: bool = False) -> Prices | None:
    """What a token of ``model`` costs here, given or listed, None if unknown; ``kept``: read anew, to be stored."""
    if kept:
        forget_prices()
    return prices_of(model, given_prices().get(normalised(model.name)))


def models_in_use() -> list[str]:
    """Bare names of the models that stored sessions name, sorted."""
    names = Session.objects.seen_by(viewer()).order_by("model").values_list("model", flat=True).distinct()
    return sorted({normalised(name) for name in names if name})


def set_prices(*, model: str, given: Mapping[str, str]) -> None:
    """Keep given prices (texts by KEYS, "" for the list's; none forgets them); raises BadParameter for what is none."""
    values = {key: _price(key, given.get(key, "")) for key in KEYS}
    chosen = {key: value for key, value in values.items() if value is not None}
    name = normalised(model)
    if not chosen:
        ModelPrice.objects.filter(model=name).delete()
    else:
        prices_of(model_info(model), chosen)
        ModelPrice.objects.update_or_create(model=name, defaults=values)
    forget_prices()
    SessionFigures.objects.update(rules=0)


def _price(key: str, text: str) -> float | None:
    plain = text.strip().lstrip("$").replace(",", ".")
    if not plain:
        return None
    try:
        value = float(plain)
    except ValueError:
        value = -1.0
    if not 0 <= value <= MOST_USD:
        words = key.replace("_", " ")
        raise BadParameter(f"{words}: a price is a number of dollars per million tokens, not {text.strip()[:40]!r}")
    return value


def own_models() -> dict[str, OwnModel]:
    """The models of the file, which are in use from then on; raises BadParameter."""
    refresh()
    return models_in(settings.MODELS_FILE)


def set_model(*, name: str, given: Mapping[str, str]) -> None:
    """Keep one model of texts by key ("" where not said); without a window it is forgotten.  Raises BadParameter."""
    if settings.MODELS_FILE_IS_NAMED:
        raise BadParameter(f"the model table is {settings.MODELS_FILE}, which CTXWEB_MODELS names: edit it there")
    models, key = own_models(), name.strip().lower()
    if not given.get("window", "").strip():
        models.pop(key, None)
    else:
        facts: dict[str, object] = {
            field: _whole(field, text) for field in ("window", "max_output") if (text := given.get(field, "").strip())
        }
        facts |= {"like": like} if (like := given.get("like", "").strip()) else {}
        models[key] = one_model(name, facts)
    keep_models(settings.MODELS_FILE, models)
    look_again()
    SessionFigures.objects.update(rules=0)


def _whole(field: str, text: str) -> int:
    plain = text.replace(",", "").replace("_", "").replace(" ", "")
    if not plain.isascii() or not plain.isdigit() or len(plain) > 12:
        raise BadParameter(f"{field}: a whole number of tokens, not {text[:40]!r}")
    return int(plain)
