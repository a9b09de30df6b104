"""Every route of the site, from its URL resolver."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.urls import URLPattern, URLResolver, get_resolver

if TYPE_CHECKING:
    from collections.abc import Iterator


def routes() -> dict[str, tuple[str, ...]]:
    """The name of every route, with the names of its arguments."""
    return dict(_routes(get_resolver(), ""))


def _routes(resolver: URLResolver, space: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    for one in resolver.url_patterns:
        if isinstance(one, URLResolver):
            yield from _routes(one, f"{one.namespace}:" if one.namespace else space)
        elif isinstance(one, URLPattern):
            assert one.name, f"{one.pattern} has no name"
            yield f"{space}{one.name}", tuple(one.pattern.converters)
