"""Finds formats, estimators, policies, summarizers, agents and export targets: a module each, or one for a family.

A module under ``sessions.engine.<package>`` declares one constant (``ESTIMATOR``, ``POLICY``, ``SUMMARIZER``,
``TARGET`` or ``AGENT``) with a ``name``, or, for a family, a tuple of such (``POLICIES``, ``ESTIMATORS``, ``AGENTS``),
or a class of which one object is made (``_Format``); third parties register the same object under the entry-point group
``ctxweb.<package>``.  Modules whose name starts with an underscore are skipped.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from functools import cache
from importlib.metadata import entry_points
from importlib.util import find_spec
from typing import Any

from sessions.engine.base.errors import UnknownName
from sessions.engine.base.suggestions import unknown

CONSTANTS = {
    "formats": "_Format", "estimators": "ESTIMATOR", "policies": "POLICY", "summarizers": "SUMMARIZER",
    "exports": "TARGET", "agents": "AGENT",
}  # fmt: skip
FAMILIES = {"estimators": "ESTIMATORS", "policies": "POLICIES", "agents": "AGENTS"}
TABLES = {"agents": "transcripts"}
"""The module of those that need none of their own."""
FOLDERS = {
    "formats": "reading.formats",
    "estimators": "tokens.estimators",
    "summarizers": "replays.summarizers",
    "exports": "reports.exports",
}
"""Where a package stands that is part of another; the others stand in the engine's own folder."""
LISTED = frozenset({"formats", "estimators", "policies"})
"""Packages that a command of the same name lists."""


def _path(package: str) -> str:
    return f"sessions.engine.{FOLDERS.get(package, package)}"


@cache
def plugins(package: str) -> dict[str, Any]:
    """All registered objects of ``package`` by name, built-in ones first; a name taken twice raises ValueError."""
    found: list[Any] = []
    for name in _modules(package):
        found += _declared(package, name)
    found.sort(key=lambda plugin: str(plugin.name))
    found += _foreign(package)
    registered: dict[str, Any] = {}
    for plugin in found:
        if plugin.name in registered:
            raise ValueError(f"two {package} are called {plugin.name!r}")
        registered[plugin.name] = plugin
    return registered


def some(package: str, is_asked: Callable[[str], bool]) -> list[Any]:
    """The built-in plugins whose modules' names are asked for, no other loaded, and all of third parties, by name."""
    asked = filter(is_asked, _modules(package))
    found = [plugin for name in asked if (plugin := alone(package, name)) is not None]
    return sorted([*found, *_foreign(package)], key=lambda plugin: str(plugin.name))


def _modules(package: str) -> list[str]:
    """Names of the modules that declare something."""
    root = importlib.import_module(_path(package))
    return [info.name for info in pkgutil.iter_modules(root.__path__) if not info.name.startswith("_")]


@cache
def _declared(package: str, name: str) -> tuple[Any, ...]:
    """What a module declares, each an object."""
    module = importlib.import_module(f"{_path(package)}.{name}")
    own = getattr(module, CONSTANTS[package], None)
    single = () if own is None else (own() if isinstance(own, type) else own,)
    return (*single, *getattr(module, FAMILIES.get(package, ""), ()))


@cache
def _foreign(package: str) -> tuple[Any, ...]:
    """Plugins of third parties."""
    loaded = (point.load() for point in entry_points(group=f"ctxweb.{package}"))
    return tuple(own() if isinstance(own, type) else own for own in loaded)


@cache
def alone(package: str, name: str) -> Any:
    """The built-in plugin of a module of its own name, of a family that it begins with, or of a table; else None."""
    words = name.split("_")
    stems = ["_".join(words[:n]) for n in range(len(words), 0, -1)] if package in FAMILIES else [name]
    stems += [TABLES[package]] if package in TABLES else []
    for stem in stems if name.isidentifier() and not name.startswith("_") else ():
        for found in _declared(package, stem) if find_spec(f"{_path(package)}.{stem}") else ():
            if found.name == name:
                return found
    return None


def get(package: str, name: str) -> Any:
    """The plugin called ``name``, or the variant ``NAME:ARGUMENT``; raises UnknownName with the names that exist."""
    own = alone(package, name)
    if own is not None:
        return own
    registered = plugins(package)
    plain, colon, argument = name.partition(":")
    variant = getattr(registered.get(plain), "variant", None)
    if colon and variant is not None:
        return variant(argument)
    if name not in registered:
        noun = package.removesuffix("s").replace("policie", "policy")
        listed = f"List: `ctxweb {package}`." if package in LISTED else ""
        raise UnknownName(unknown(noun, name, sorted(registered), listed))
    return registered[name]
