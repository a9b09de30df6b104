"""Modules and functions stay small enough to be read in one sitting."""

from __future__ import annotations

import ast
from statistics import median
from typing import TYPE_CHECKING

import pytest

from tests.arch.repository import files, relative

if TYPE_CHECKING:
    from pathlib import Path

MAX_MODULE_LINES = 450
MAX_FUNCTION_LINES = 60
CATCH_ALLS = {"utils.py", "helpers.py", "common.py", "misc.py"}
MODULES = [path for path in files(".py") if "migrations" not in path.parts]


@pytest.mark.parametrize("path", MODULES, ids=relative)
def test_module_is_small(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= MAX_MODULE_LINES
    assert path.name not in CATCH_ALLS, "name the module after what it does"


@pytest.mark.parametrize("path", MODULES, ids=relative)
def test_functions_are_small(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    sizes = {node.name: (node.end_lineno or node.lineno) - node.lineno + 1 for node in functions}
    assert {name: size for name, size in sizes.items() if size > MAX_FUNCTION_LINES} == {}


def test_modules_are_short_on_the_whole() -> None:
    lines = [len(p.read_text(encoding="utf-8").splitlines()) for p in MODULES if p.name != "__init__.py"]
    assert median(lines) <= 150


@pytest.mark.parametrize("path", [p for p in MODULES if p.read_text(encoding="utf-8").strip()], ids=relative)
def test_annotations_are_not_evaluated(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    body = [node for node in tree.body if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))]
    if body:
        assert isinstance(body[0], ast.ImportFrom)
        assert body[0].module == "__future__"
