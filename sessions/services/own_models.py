"""The user's own model table, edited on the settings page: the file in the data folder, never one that is named."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings

from sessions.adapters.models_file import keep_models, models_in
from sessions.adapters.own_models import look_again, refresh
from sessions.engine.base.errors import BadParameter
from sessions.engine.models.own_models import one_model
from sessions.models import SessionFigures

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sessions.engine.models.model_info import OwnModel


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
