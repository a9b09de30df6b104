"""The settings page: prices by model, models of one's own, the key for Anthropic's API."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlsplit

from django import forms
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from sessions.adapters.anthropic_client import Client
from sessions.adapters.calls import CallFailed
from sessions.engine.base.errors import BadParameter
from sessions.engine.costs.prices import KEYS, Prices, prices_of
from sessions.engine.models.model_info import model_info
from sessions.engine.models.models_table import DATE
from sessions.pages.ui.view import admin_or_403, private
from sessions.services import model_access
from sessions.services.prices import given_prices, models_in_use, own_models, set_model, set_prices

LEAST: list[dict[str, Any]] = [{"role": "user", "content": "."}]
"""What a test of the key has counted: one character, free of charge."""


class KeyForm(forms.Form):
    """A key for a model's API; never shown again."""

    key = forms.CharField(max_length=600)


@require_safe
def settings_page(request: HttpRequest) -> HttpResponse:
    return _page(request)


@require_POST
def prices(request: HttpRequest) -> HttpResponse:
    """Keep the posted prices of one model; none posted: list prices again."""
    admin_or_403("prices")
    model = request.POST.get("model", "")[:100]
    try:
        set_prices(model=model, given=request.POST.dict())
    except BadParameter as error:
        return _page(request, status=422, wrong_model=model, wrong_price=str(error), posted=request.POST.dict())
    return redirect(f"{reverse('sessions:settings')}#h-prices")


@require_POST
def models(request: HttpRequest) -> HttpResponse:
    """Keep the posted model in the user's own table; without a window it is forgotten."""
    admin_or_403("models")
    posted = {name: request.POST.get(name, "")[:100] for name in ("name", "window", "max_output", "like")}
    try:
        set_model(name=posted["name"], given=posted)
    except (BadParameter, OSError) as error:
        return _page(request, status=422, wrong_table=str(error), posted_model=posted)
    return redirect(f"{reverse('sessions:settings')}#h-models")


@require_POST
def key(request: HttpRequest) -> HttpResponse:
    """Hold the posted key for this browser session, in the memory of this process alone."""
    form = KeyForm(request.POST)
    try:
        handle = model_access.keep_key(form.cleaned_data["key"] if form.is_valid() else "")
    except BadParameter as error:
        return _page(request, status=422, problem=str(error))
    model_access.forget_key(request.session.get(model_access.HANDLE, ""))
    request.session[model_access.HANDLE] = handle
    return redirect("sessions:settings")


@require_POST
def key_test(request: HttpRequest) -> HttpResponse:
    """Have the API count one character with the key in use: free, and it tells whether the key works."""
    access = model_access.request_access(request)
    if access is None:
        return _page(request, status=422, problem="There is no key to test.")
    try:
        with Client(access) as client:
            client.count({"model": settings.ANTHROPIC_MODEL, "messages": LEAST})
    except CallFailed as failed:
        return _page(request, tested=str(failed), works=False)
    return _page(request, tested=f"The key works: {settings.ANTHROPIC_MODEL} answered.", works=True)


@require_POST
def key_forget(request: HttpRequest) -> HttpResponse:
    model_access.forget_key(request.session.pop(model_access.HANDLE, ""))
    return redirect("sessions:settings")


def _models() -> dict[str, Any]:
    """The models in use and the user's own, whose file the page edits unless the installation names it."""
    problem = ""
    try:
        own = own_models()
    except BadParameter as error:
        own, problem = {}, str(error)
    place, named = str(settings.MODELS_FILE), settings.MODELS_FILE_IS_NAMED
    rows = [(name, model_info(name), own.get(name)) for name in sorted({*models_in_use(), *own})]
    return {"rows": rows, "place": place, "is_named": named, "problem": problem}


def _page(request: HttpRequest, status: int = 200, **more: Any) -> HttpResponse:
    access = model_access.request_access(request)
    info = model_info(settings.ANTHROPIC_MODEL)
    context = {
        "access": access,
        "ending": access.key[-4:] if access and access.source == "page" else "",
        "host": urlsplit(settings.ANTHROPIC_BASE_URL).netloc,
        "model": settings.ANTHROPIC_MODEL,
        "price": "as the model's"
        if info.input_price is None
        else f"${info.input_price:g} in, ${info.output_price:g} out per million tokens (list price)",
        "priced": priced_models(models_in_use(), given_prices(), more.get("wrong_model", ""), more.get("posted", {})),
        "price_date": DATE,
        "models": _models(),
        "per_minute": settings.ANTHROPIC_PER_MINUTE,
        **more,
    }
    return private(render(request, "sessions/settings/page.html", context, status=status))


LABELS = {
    "input": "Input",
    "output": "Output",
    "cache_read": "Cache read",
    "cache_write": "Cache write",
    "cache_write_1h": "Cache write for an hour",
}


class PricedModel:
    """One model's prices in dollars per million tokens: name, label, what is given, the list price; "" for none.

    ``known`` where it has list prices; ``large`` says what large requests cost where the list does and nothing is
    given, "" elsewhere.
    """

    def __init__(self, model: str, given: Mapping[str, str]) -> None:
        self.model, listed = model, prices_of(model_info(model))
        self.known = listed is not None
        known = {key: getattr(listed, key) if listed else None for key in KEYS}
        prices = {key: "none" if price is None else f"{price:g}" for key, price in known.items()}
        self.cells = [(key, LABELS[key], given.get(key, ""), prices[key]) for key in KEYS]
        self.large = "" if any(given.values()) else _large(listed)


def priced_models(
    names: Iterable[str], given: Mapping[str, Mapping[str, float]], wrong: str, posted: Mapping[str, str]
) -> tuple[PricedModel, ...]:
    """Every model of ``names`` with the prices ``given``; ``posted`` are the refused entries of the model ``wrong``."""
    return tuple(
        PricedModel(name, posted if name == wrong else {k: f"{v:g}" for k, v in given.get(name, {}).items()})
        for name in names
    )


def _large(listed: Prices | None) -> str:
    """The prices of large requests in words: "above 200,000 tokens of input: $2.5 input, $15 output"."""
    if listed is None or listed.large is None:
        return ""
    above, prices = listed.large
    return f"above {above:,} tokens of input: ${prices.input:g} input, ${prices.output:g} output"
