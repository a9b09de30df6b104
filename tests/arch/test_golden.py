"""Every policy has golden values: a test marked ``golden`` with its name states what its rule gives, in numbers."""

from __future__ import annotations

import ast
from typing import NamedTuple

from sessions.engine.base.registry import plugins
from tests.arch.repository import ROOT, files, relative

LEAST_FIGURES = 3
"""Figures that a golden test states at least, in what it is given and what it expects."""


class Golden(NamedTuple):
    """A golden test: where it is, the policies whose values it pins, and what is wrong with it ("" where nothing)."""

    place: str
    policies: tuple[str, ...]
    problem: str


def golden_tests() -> list[Golden]:
    """All tests of the engine marked ``golden``."""
    found: list[Golden] = []
    for path in files(".py"):
        if not relative(path).startswith("tests/engine/") or "mark.golden(" not in path.read_text(encoding="utf-8"):
            continue
        module = ast.parse(path.read_text(encoding="utf-8"))
        for test in (node for node in module.body if isinstance(node, ast.FunctionDef)):
            names = [name for mark in test.decorator_list for name in _names(mark)]
            if names:
                found.append(Golden(f"{relative(path)}::{test.name}", tuple(names), _problem(test, module, names)))
    return found


def _names(mark: ast.expr) -> list[str]:
    """The policies that a decorator names, none for another decorator."""
    if not isinstance(mark, ast.Call) or ast.unparse(mark.func) != "pytest.mark.golden":
        return []
    return [ast.literal_eval(argument) for argument in mark.args]


def _text(module: str) -> str:
    """The source of a module of policies: a family declares several by name."""
    path = ROOT / (module.replace(".", "/") + ".py")
    return path.read_text(encoding="utf-8") if module.startswith("sessions.engine.policies.") else ""


def _problem(test: ast.FunctionDef, module: ast.Module, names: list[str]) -> str:
    """Why a test is none: it asserts nothing, states hardly a figure, or its module never uses the policy."""
    nodes = list(ast.walk(test))
    if not any(isinstance(node, ast.Assert) for node in nodes):
        return "asserts nothing"
    figures = [node for node in nodes if isinstance(node, ast.Constant) and type(node.value) in {int, float}]
    if len(figures) < LEAST_FIGURES:
        return f"states {len(figures)} figures"
    marks = {id(node) for other in module.body if isinstance(other, ast.FunctionDef) for mark in other.decorator_list
             if _names(mark) for node in ast.walk(mark)}  # fmt: skip
    used = {node.value for node in ast.walk(module) if isinstance(node, ast.Constant) and id(node) not in marks}
    imported = {str(node.module) for node in ast.walk(module) if isinstance(node, ast.ImportFrom)}
    unused = sorted(name for name in set(names) - used if not any(f'"{name}"' in _text(one) for one in imported))
    return f"never uses {', '.join(unused)}" if unused else ""


def test_every_policy_has_golden_values() -> None:
    """Write them from the rule in docs/rules/, at its boundary and on both sides of it; mark the test ``golden``."""
    without = plugins("policies").keys() - {name for golden in golden_tests() for name in golden.policies}
    assert not without, "no golden values: " + ", ".join(sorted(without))


def test_golden_tests_are_what_they_say() -> None:
    known = plugins("policies").keys()
    wrong = {golden.place: golden.problem for golden in golden_tests() if golden.problem}
    wrong |= {golden.place: "no such policy" for golden in golden_tests() if not known >= set(golden.policies)}
    assert not wrong, wrong
