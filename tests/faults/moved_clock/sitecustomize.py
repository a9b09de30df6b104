"""Moves the wall clock of a Python process by the seconds that a file holds; steady clocks go on as they are.

On PYTHONPATH and with FAULTS_CLOCK naming the file, every process started from there sees the moved clock, and sees it
move while it runs.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
import time
from datetime import timedelta

_FILE = os.environ.get("FAULTS_CLOCK", "")
_true_time, _true_time_ns = time.time, time.time_ns


def _offset():
    try:
        with open(_FILE, encoding="ascii") as file:
            return int(file.read() or 0)
    except OSError:
        return 0


class _Finder(importlib.abc.MetaPathFinder):
    """Moves ``django.utils.timezone.now`` as soon as it is imported."""

    def find_spec(self, fullname, path=None, target=None):
        if fullname != "django.utils.timezone":
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path)
        execute = spec.loader.exec_module

        def exec_module(module):
            execute(module)
            true_now = module.now
            module.now = lambda: true_now() + timedelta(seconds=_offset())

        spec.loader.exec_module = exec_module
        return spec


if _FILE:
    time.time = lambda: _true_time() + _offset()
    time.time_ns = lambda: _true_time_ns() + _offset() * 1_000_000_000
    sys.meta_path.insert(0, _Finder())
