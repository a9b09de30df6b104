"""Which tests run which lines, and a silent process for what may break."""

from __future__ import annotations

import importlib
import json
import os
import resource
import sys
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import FrameType

    from tests.mutants.mutations import Mutant

ROOT = Path(__file__).resolve().parents[2]
TESTS = (
    "tests/engine/policies", "tests/engine/test_buzz_handoff.py", "tests/engine/test_sliding_window.py",
    "tests/engine/test_rolling_mask.py", "tests/engine/test_estimators.py", "tests/engine/test_harness_estimators.py",
    "tests/engine/test_images.py", "tests/engine/test_serialized.py", "tests/engine/test_counted.py",
    "tests/engine/test_measure.py", "tests/engine/test_estimator_figures.py",
    "tests/engine/test_image_figures.py",
)  # fmt: skip
RESTATED = "tests/engine/policies/test_seeds_restated.py"
FOUNDING = ("layered", "buzz", "policies/compression", "parametric", "presets")
"""Modules of the founding systems: thrice as many of their places are changed."""
N_LISTS = 100
"""So many random lists are held against the rules restated; the test itself takes more."""
TABLES = tuple(f"tests/engine/policies/test_{name}.py" for name in ("founding_figures", "defaults", "layers"))
"""Tests that state defaults and layers: they read what a module declares and run none of its lines."""
OPTIONS = (
    "-q", "--no-header", "--noconftest", "-p", "no:django", "-p", "no:randomly", "-p", "no:cacheprovider",
    "-W", "ignore", "-o", "addopts=", "--tb=no",
)  # fmt: skip


BROKEN = 70
"""The exit code where what was to be run in a process of its own raises."""
MEMORY_BYTES = 6 * 2**30
"""What gathers endlessly ends here."""


@dataclass
class Reached:
    """Which tests run which lines: by file, by line; ``seconds`` by test."""

    lines: dict[str, dict[int, list[str]]] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)

    def tests_of(self, mutant: Mutant) -> list[str]:
        """The tests that run a mutant's line (any line of its module where that is run at import), fastest first."""
        lines = self.lines.get(mutant.path, {})
        found = lines.get(mutant.line) or sorted(
            {test for tests in lines.values() for test in tests} | {t for t in self.seconds if t.startswith(TABLES)}
        )
        return sorted(found, key=lambda test: (self.seconds[test], test))

    def seconds_of(self, tests: Sequence[str]) -> float:
        """How long tests took without a change."""
        return sum(self.seconds[test] for test in tests)


class _Tracer:
    """A pytest plugin that notes the lines of some files that each test runs."""

    def __init__(self, names: dict[str, str]) -> None:
        self.reached = Reached()
        self.here: dict[str, set[int]] = {name: set() for name in names.values()}
        self.noting = {path: self._noting(self.here[name]) for path, name in names.items()}

    def _trace(self, frame: FrameType, event: str, _argument: Any) -> Callable[..., Any] | None:
        return self.noting.get(frame.f_code.co_filename)

    @staticmethod
    def _noting(lines: set[int]) -> Callable[..., Any]:
        def note(frame: FrameType, event: str, _argument: Any) -> Callable[..., Any]:
            if event == "line":
                lines.add(frame.f_lineno)
            return note

        return note

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[Any]:
        for lines in self.here.values():
            lines.clear()
        started = time.process_time()
        sys.settrace(self._trace)
        try:
            return (yield)
        finally:
            sys.settrace(None)
            self.reached.seconds[item.nodeid] = time.process_time() - started
            for name, lines in self.here.items():
                for line in lines:
                    self.reached.lines.setdefault(name, {}).setdefault(line, []).append(item.nodeid)


def reached(files: Sequence[Path], kept: Path | None = None, tests: Sequence[str] = TESTS) -> Reached:
    """Which of ``tests`` run which lines of ``files``; raises RuntimeError where they fail as they are.

    What was found is kept in the file ``kept``, and read from it where it is there.
    """
    with tempfile.TemporaryDirectory() as folder:
        told = kept or Path(folder) / "reached.json"
        if told.is_file():
            return _read(told)

        def run() -> int:
            tracer = _Tracer({str(path): path.relative_to(ROOT).as_posix() for path in files})
            few_examples()
            _loaded(files)
            code = int(pytest.main([*OPTIONS, *tests], plugins=[tracer]))
            told.write_text(json.dumps([tracer.reached.lines, tracer.reached.seconds]))
            return code

        if forked(run) != 0:
            told.unlink(missing_ok=True)
            raise RuntimeError("the tests fail without any change: run them by themselves")
        return _read(told)


def _loaded(files: Sequence[Path]) -> None:
    """Load them before any test runs: what runs then is no test's, and belongs to every test of its module."""
    for path in files:
        importlib.import_module(path.relative_to(ROOT).as_posix().removesuffix(".py").replace("/", "."))


def _read(told: Path) -> Reached:
    lines, seconds = json.loads(told.read_text())
    return Reached({name: {int(n): tests for n, tests in at.items()} for name, at in lines.items()}, seconds)


def few_examples() -> None:
    """Hypothesis draws the same few examples every time, however slow they are; the rules restated, fewer lists."""
    plain = settings.get_profile("default")
    settings.register_profile("mutants", plain, deadline=None, derandomize=True, database=None, max_examples=20,
                              suppress_health_check=list(HealthCheck))  # fmt: skip
    settings.load_profile("mutants")
    importlib.import_module(RESTATED.removesuffix(".py").replace("/", ".")).N_LISTS = N_LISTS  # type: ignore[attr-defined]


def forked(run: Callable[[], int], seconds: int = resource.RLIM_INFINITY) -> int:
    """The exit code of ``run`` in a silent process of its own; a signal's number below 0, so after ``seconds``.

    The seconds are the processor's: a busy machine ends nothing early.
    """
    sys.stdout.flush()
    child = os.fork()
    if not child:
        code = BROKEN
        try:
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
            with silent():
                code = run()
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


@contextmanager
def silent() -> Iterator[None]:
    with open(os.devnull, "w") as nothing:
        os.dup2(nothing.fileno(), 1)
        os.dup2(nothing.fileno(), 2)
        yield
