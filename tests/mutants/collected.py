"""Asks mutants of tests that are collected once: each in a process forked with everything loaded.

A change inside a function is put into the function as it is loaded.  One in what runs while modules are loaded (a
default, a constant, what builds a policy) needs the modules loaded anew, changed.
"""

from __future__ import annotations

import gc
import importlib.abc
import importlib.util
import inspect
import os
import sys
from importlib.machinery import ModuleSpec, SourceFileLoader
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any

import pytest
from _pytest.runner import runtestprotocol

from tests.mutants.mutations import mutated
from tests.mutants.runner import OPTIONS, ROOT, TESTS, few_examples, forked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path
    from types import FrameType

    from tests.mutants.mutations import Mutant

FACTOR, MORE = 3, 20
"""A mutant that takes so many times the processor time of its tests, and so many seconds more, never ends."""
FAILED = {1, 2}
"""Exit codes of pytest: tests fail, modules do not load.  A process that is ended has one below 0."""
Place = tuple[str, str, int]
"""A function's file, qualified name and first line."""
LOADED = ("sessions.", "tests.engine.", "tests.parity.")
"""Packages that are loaded anew for a change in what runs while they are loaded."""


class Asked:
    """A pytest plugin that gives the tests it collects to ``work`` in place of running them."""

    def __init__(self, work: Callable[[Asked], None]) -> None:
        self.work = work
        self.items: dict[str, pytest.Item] = {}
        self.loading: set[Place] = set()
        self.functions: dict[Place, list[FunctionType]] = {}

    def ask(self) -> None:
        """Collect, then work."""
        sys.setprofile(self._note)
        try:
            pytest.main([*OPTIONS, "-s", *TESTS], plugins=[self])
        finally:
            sys.setprofile(None)

    def _note(self, frame: FrameType, event: str, _argument: Any) -> None:
        if event == "call":
            self.loading.add(_place(frame.f_code))

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Nothing is loaded from here on."""
        sys.setprofile(None)
        self.items = {item.nodeid: item for item in session.items}
        loaded = [found for found in gc.get_objects() if isinstance(found, FunctionType)]
        for function in loaded:
            self.functions.setdefault(_place(function.__code__), []).append(function)
        few_examples()
        gc.freeze()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self) -> bool:
        """No test runs here."""
        self.work(self)
        return True

    def kills(self, mutant: Mutant, tests: Sequence[str], seconds: float) -> bool:
        """Whether one of the tests fails, or never ends, with the change made: asked in turn."""

        def run() -> int:
            return self._run(tests) if self._patched(mutant) else _anew(mutant, tests)

        code = forked(run, seconds=int(seconds * FACTOR + MORE))
        if code > 0 and code not in FAILED:
            raise RuntimeError(f"{mutant.key}: the tests could not be asked (exit code {code})")
        return code != 0

    def _run(self, tests: Sequence[str]) -> int:
        items = [self.items[name] for name in tests]
        for item, after in zip(items, [*items[1:], None], strict=True):
            if any(told.failed for told in runtestprotocol(item, log=False, nextitem=after)):
                return 1
        return 0

    def quick(self, mutant: Mutant) -> dict[Place, CodeType]:
        """The functions that a change is in, changed; empty where it is in what runs while modules are loaded."""
        path = ROOT / mutant.path
        old = compile(path.read_text(encoding="utf-8"), str(path), "exec")
        new = compile(mutated(path, mutant.n), str(path), "exec")
        pairs = list(_pairs(old, new))
        own = [code for code, other in pairs if _own(code) != _own(other)]
        if any(not code.co_flags & inspect.CO_OPTIMIZED or _place(code) in self.loading for code in own):
            return {}
        changed = {_place(code): other for code, other in pairs if code != other}
        return {place: other for place, other in changed.items() if place in self.functions}

    def _patched(self, mutant: Mutant) -> bool:
        """Whether the change could be put into what is loaded."""
        changed = self.quick(mutant)
        for place, other in changed.items():
            for function in self.functions[place]:
                function.__code__ = other
        return bool(changed)


def _place(code: CodeType) -> Place:
    return code.co_filename, code.co_qualname, code.co_firstlineno


def _pairs(old: CodeType, new: CodeType) -> Iterator[tuple[CodeType, CodeType]]:
    """Every code object within one, with its place in the other."""
    yield old, new
    within = ([const for const in code.co_consts if isinstance(const, CodeType)] for code in (old, new))
    for inner, other in zip(*within, strict=True):
        yield from _pairs(inner, other)


def _own(code: CodeType) -> tuple[Any, ...]:
    """What a code object holds without the ones inside it; types, for True is 1."""
    consts = tuple(repr(const) for const in code.co_consts if not isinstance(const, CodeType))
    return code.co_code, code.co_names, consts


class _Changed(importlib.abc.MetaPathFinder, SourceFileLoader):
    """Finds one module, and loads it with a change."""

    def __init__(self, module: str, path: Path, n: int) -> None:
        SourceFileLoader.__init__(self, module, str(path))
        self.module, self.file, self.n = module, path, n

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """The changed module's spec, None for any other."""
        return (
            importlib.util.spec_from_file_location(fullname, self.file, loader=self)
            if fullname == self.module
            else None
        )

    def get_code(self, fullname: str) -> CodeType:
        """The code of the changed tree."""
        return compile(mutated(self.file, self.n), str(self.file), "exec")


def _anew(mutant: Mutant, tests: Sequence[str]) -> int:
    """The exit code of pytest with every module loaded anew, one of them changed; the quick half of the tests first."""
    module = mutant.path.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
    for name in [name for name in sys.modules if name.startswith(LOADED)]:
        del sys.modules[name]
    sys.meta_path.insert(0, _Changed(module, ROOT / mutant.path, mutant.n))
    os.chdir(ROOT)
    few_examples()
    half = len(tests) // 2
    return next((code for some in (tests[:half], tests[half:]) if some and (code := _code(some))), 0)


def _code(tests: Sequence[str]) -> int:
    """Pytest's exit code; of the whole files where a change is in what names their tests."""
    code = pytest.main([*OPTIONS, "-x", *tests])
    if code is pytest.ExitCode.USAGE_ERROR:
        code = pytest.main([*OPTIONS, "-x", *sorted({test.partition("::")[0] for test in tests})])
    return int(code)
