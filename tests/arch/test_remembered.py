"""What is worked out of a session is remembered in its ``SessionCache``, and nowhere else."""

from __future__ import annotations

import ast
from functools import cache
from typing import TYPE_CHECKING

import pytest

from tests.arch.repository import ROOT, files, nobody, relative

if TYPE_CHECKING:
    from collections.abc import Iterator

HOME = "sessions/engine/base/session_cache.py"
WEAK = {HOME, "sessions/engine/reading/database.py"}
"""Who may hold something weakly; a database closes its connection when nobody has it any more."""
KEPT = {
    "sessions/engine/models/model_info.py": "the user's model table",
    "sessions/engine/search/terms.py": "words by their letters",
    "sessions/engine/tokens/vocabulary.py": "encodings that were built",
    "sessions/runs/warned.py": "one answer about the whole library",
    "sessions/selectors/__init__.py": "the sessions that are held, each with its cache",
    "sessions/services/ahead.py": "the file that was just read, by its bytes",
}
"""Modules that may have a container which is filled later, and what is in it."""
CONTAINERS = {
    "Cache", "Counter", "OrderedDict", "WeakKeyDictionary", "WeakSet", "WeakValueDictionary", "defaultdict", "deque",
    "dict", "set",
}  # fmt: skip
SESSIONS = {"Weighed", "Transcript", "Session", "Replay", "ReplayRun", "Overview", "Context"}
"""Values of one session: a function that takes one is not remembered by its arguments."""
HELD = {"weighed", "transcript"}
"""Names of such values into which nobody writes."""


@cache
def product() -> list[tuple[str, ast.Module]]:
    """The product's modules by name, migrations left out."""
    found = [(relative(path), path) for path in files(".py")]
    wanted = [(name, path) for name, path in found if name.startswith(("sessions/", "ctxweb/"))]
    return [(name, ast.parse(path.read_text(encoding="utf-8"))) for name, path in wanted if "migrations" not in name]


def weak_imports(name: str, tree: ast.Module) -> Iterator[str]:
    """Imports of ``weakref`` where nobody may have one."""
    for node in ast.walk(tree):
        modules = [node.module] if isinstance(node, ast.ImportFrom) else []
        modules += [one.name for one in node.names] if isinstance(node, ast.Import) else []
        if "weakref" in modules and name not in WEAK:
            yield f"{name}:{node.lineno}: weakref"  # type: ignore[attr-defined]


def containers(name: str, tree: ast.Module) -> Iterator[str]:
    """Empty containers of a module that something fills later, where nobody may have one."""
    return iter(()) if name in KEPT else _filled_later(name, tree)


def _filled_later(name: str, tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        value = node.value if isinstance(node, (ast.Assign, ast.AnnAssign)) else None
        called = ast.unparse(value.func).split(".")[-1] if isinstance(value, ast.Call) else ""
        is_empty = isinstance(value, ast.Dict) and not value.keys
        is_empty |= called == "Cache" or (called in CONTAINERS and isinstance(value, ast.Call) and not value.args)
        if is_empty:
            yield f"{name}:{node.lineno}: {ast.unparse(node)[:80]}"


def remembered_functions(name: str, tree: ast.Module) -> Iterator[str]:
    """Functions that are remembered by arguments of which one is a session."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef):
            continue
        marks = {ast.unparse(one).partition("(")[0].split(".")[-1] for one in node.decorator_list}
        arguments = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
        kinds = {ast.unparse(one.annotation).strip("'\"") for one in arguments if one.annotation}
        if marks & {"cache", "lru_cache"} and kinds & SESSIONS:
            yield f"{name}:{node.lineno}: {node.name}"


def writes(name: str, tree: ast.Module) -> Iterator[str]:
    """Writes into a session from outside: ``vars(weighed)``, ``weighed.__dict__``, ``setattr``."""
    for node in ast.walk(tree):
        into: ast.expr | None = None
        if isinstance(node, ast.Attribute) and node.attr == "__dict__":
            into = node.value
        elif isinstance(node, ast.Call) and node.args:
            called = ast.unparse(node.func)
            into = node.args[0] if called in {"vars", "setattr", "object.__setattr__"} else None
        if into is not None and ast.unparse(into).split(".")[-1] in HELD:
            yield f"{name}:{node.lineno}: {ast.unparse(node)[:80]}"


CHECKS = (weak_imports, containers, remembered_functions, writes)


@pytest.mark.parametrize("check", CHECKS)
def test_a_session_is_remembered_in_one_place(check) -> None:  # type: ignore[no-untyped-def]
    found = [line for name, tree in product() for line in check(name, tree)]
    nobody(found, f"Remember what is worked out of a session in its cache ({HOME}).")


def test_another_place_would_be_found() -> None:
    tree = ast.parse(
        "from weakref import WeakKeyDictionary\n"
        "_KEPT: WeakKeyDictionary[Weighed, int] = WeakKeyDictionary()\n"
        "_cache = Cache(len)\n"
        "@functools.lru_cache(maxsize=2)\ndef sums(weighed: Weighed) -> int: ...\n"
        "def write(self, weighed):\n    vars(weighed)['x'] = 1\n    self.weighed.__dict__.update(y=2)\n"
    )
    found = [len(list(check("sessions/runs/new.py", tree))) for check in CHECKS]
    assert found == [1, 2, 1, 2]


def test_every_exception_is_still_needed() -> None:
    here = dict(product())
    assert [name for name in KEPT if not list(_filled_later(name, here[name]))] == []
    assert {name for name in WEAK if "weakref" in (ROOT / name).read_text(encoding="utf-8")} == WEAK
