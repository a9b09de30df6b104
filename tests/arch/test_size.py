"""Modules and functions stay small enough to be read in one sitting."""

from __future__ import annotations

import ast
from collections import Counter
from statistics import median
from typing import TYPE_CHECKING

from tests.arch.repository import files, nobody, relative, text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MAX_MODULE_LINES = 450
MAX_FUNCTION_LINES = 60
CATCH_ALLS = {"utils.py", "helpers.py", "common.py", "misc.py"}
MODULES = [path for path in files(".py") if "migrations" not in path.parts]


def test_modules_are_small() -> None:
    lines = {path: len(text(path).splitlines()) for path in MODULES}
    nobody([f"{relative(path)}: {n} lines" for path, n in lines.items() if n > MAX_MODULE_LINES], "Split the module.")
    catch_alls = [relative(path) for path in MODULES if path.name in CATCH_ALLS]
    nobody(catch_alls, "Name the module after what it does.")
    assert median(n for path, n in lines.items() if path.name != "__init__.py") <= 150


def functions_in(body: Iterable[ast.AST]) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Every function among these statements and inside them."""
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node
        for part in ("body", "orelse", "finalbody", "handlers", "cases"):
            yield from functions_in(getattr(node, part, ())) if not isinstance(node, ast.Expr) else ()


def test_functions_are_small() -> None:
    functions = (
        (path, node, (node.end_lineno or node.lineno) - node.lineno + 1)
        for path in MODULES
        if text(path).count("\n") > MAX_FUNCTION_LINES
        for node in functions_in(ast.parse(text(path)).body)
    )
    long = [f"{relative(p)}:{f.lineno} {f.name}: {n} lines" for p, f, n in functions if n > MAX_FUNCTION_LINES]
    nobody(long, f"A function has at most {MAX_FUNCTION_LINES} lines.")


def names_bound(body: Iterable[ast.stmt]) -> Iterator[str]:
    """Names that these statements assign, a name at a time."""
    for node in body:
        if isinstance(node, ast.Assign):
            yield from (name.id for target in node.targets for name in ast.walk(target) if isinstance(name, ast.Name))


def test_a_constant_is_bound_once() -> None:
    """The second of two would silently be the first one's value too, wherever it is read later."""
    bound = {path: Counter(names_bound(ast.parse(text(path)).body)) for path in MODULES}
    twice = [f"{relative(path)}: {name}" for path, names in bound.items() for name, n in names.items() if n > 1]
    nobody([one for one in twice if not one.startswith("tests/")], "Give the second a name of its own.")
