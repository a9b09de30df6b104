"""One-line changes of a module's source: every place where one may be made, and the tree with it made."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.FloorDiv: ast.Mult, ast.Div: ast.Mult,
    ast.Mod: ast.FloorDiv,
}  # fmt: skip
SIBLINGS = {"min": "max", "max": "min", "any": "all", "all": "any", "floor": "ceil", "ceil": "floor"}
"""Names that are called in each other's place."""
SHARE = 0.01
"""A fraction becomes this much more, or less."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change: number ``n`` of the module at ``path``, in ``function``, as ``before`` → ``after`` of its line."""

    path: str
    n: int
    line: int
    function: str
    before: str
    after: str

    @property
    def key(self) -> str:
        """What names it whatever lines come before: the equivalent ones are listed by it."""
        return f"{self.path}:{self.function}: {self.before} → {self.after}"


def n_mutants(path: Path) -> int:
    """How many mutants a module has."""
    return sum(1 for _ in _places(ast.parse(path.read_text(encoding="utf-8"))))


def mutant(path: Path, name: str, n: int) -> Mutant:
    """Mutant ``n`` of the module at ``path``, called ``name``."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    node, function, change = next(place for at, place in enumerate(_places(tree)) if at == n)
    statement = _shown(tree, node)
    before = ast.unparse(statement)
    change()
    return Mutant(name, n, node.lineno, function, *_difference(before, ast.unparse(statement)))


def mutated(path: Path, n: int) -> ast.Module:
    """The tree of a module with its change ``n`` made."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    next(change for at, (_, _, change) in enumerate(_places(tree)) if at == n)()
    return ast.fix_missing_locations(tree)


def _places(tree: ast.Module) -> Iterator[tuple[ast.expr, str, Callable[[], None]]]:
    """Every node that can be changed, the function it is in, and what changes it."""
    yield from _in(tree, "")


def _in(node: ast.AST, function: str) -> Iterator[tuple[ast.expr, str, Callable[[], None]]]:
    for child in _looked_at(node):
        name = child.name if isinstance(child, (ast.FunctionDef, ast.ClassDef)) else ""
        inside = f"{function}.{name}".strip(".") if name else function
        if isinstance(child, ast.expr):
            for change in _changes(child):
                yield child, inside, change
        yield from _in(child, inside)


def _looked_at(node: ast.AST) -> Iterator[ast.AST]:
    """The children that say what a rule does: no annotations, decorators, words, nor bounds of a form's field.

    Nor two flags that say how a figure is known (``approximate``) and what a programmer takes for granted (``strict``
    of zip): no list that a policy sends shows them.
    """
    if isinstance(node, ast.keyword) and node.arg == "approximate":
        return
    if isinstance(node, (ast.JoinedStr, ast.Import, ast.ImportFrom)):
        return
    if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        return
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in {"param", "when"}:
        yield from node.args[:1]
        return
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "zip":
        yield from node.args
        return
    for field, value in ast.iter_fields(node):
        if field in {"annotation", "returns", "decorator_list", "bases", "type_comment"}:
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield child


def _changes(node: ast.expr) -> list[Callable[[], None]]:
    if isinstance(node, ast.Compare):
        return [_setter(node.ops, k, COMPARISONS[type(op)]()) for k, op in enumerate(node.ops)]
    if isinstance(node, ast.Constant):
        return [_assigner(node, "value", value) for value in _neighbours(node.value)]
    change = _change(node)
    return [] if change is None else [change]


def _change(node: ast.expr) -> Callable[[], None] | None:
    """The one change of an operator or of a call, None where there is none."""
    change = None
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS and not _is_text(node):
        change = _assigner(node, "op", OPERATORS[type(node.op)]())
    elif isinstance(node, ast.BoolOp):
        change = _assigner(node, "op", ast.Or() if isinstance(node.op, ast.And) else ast.And())
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        change = _assigner(node, "operand", ast.UnaryOp(ast.Not(), node.operand))
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in SIBLINGS:
        change = _assigner(node.func, "id", SIBLINGS[node.func.id])
    return change


def _neighbours(value: object) -> list[object]:
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [value + 1, value - 1]
    return [value + SHARE, value - SHARE] if isinstance(value, float) else []


def _is_text(node: ast.BinOp) -> bool:
    """Whether it puts texts or lists together: swapping that raises at once."""
    kinds = (ast.JoinedStr, ast.List, ast.Tuple)
    return any(
        isinstance(side, kinds) or (isinstance(side, ast.Constant) and isinstance(side.value, str))
        for side in (node.left, node.right)
    )


def _setter(items: list[ast.cmpop], k: int, value: ast.cmpop) -> Callable[[], None]:
    def change() -> None:
        items[k] = value

    return change


def _assigner(node: ast.AST, field: str, value: object) -> Callable[[], None]:
    def change() -> None:
        setattr(node, field, value)

    return change


def _shown(tree: ast.Module, node: ast.expr) -> ast.AST:
    """The smallest statement around a node."""
    best: ast.AST = tree
    for statement in ast.walk(tree):
        inside = isinstance(statement, (ast.stmt, ast.comprehension)) and any(n is node for n in ast.walk(statement))
        if inside and (best is tree or any(n is statement for n in ast.walk(best))):
            best = statement
    return best


def _difference(before: str, after: str) -> tuple[str, str]:
    """The lines that differ, cut to what tells them apart."""
    pairs = list(zip(before.splitlines(), after.splitlines(), strict=False))
    old, new = next(((a.strip(), b.strip()) for a, b in pairs if a != b), (before, after))
    first = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), 0)
    start = max(0, first - 40)
    return old[start : first + 50].strip(), new[start : first + 50].strip()
