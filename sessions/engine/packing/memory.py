"""What was freed goes back to the system: glibc keeps it, up to a third of what a long session needs."""

from __future__ import annotations

from contextlib import suppress

_MMAP_THRESHOLD, _MOST_HEAPS = -3, -8
LARGE_BYTES = 1 << 20


def give_back() -> None:
    """Return what was freed until now."""
    _tell("malloc_trim", 0)


def share_heap() -> None:
    """Have the threads that start from now on take memory from one heap: each keeps what was freed in its own."""
    _tell("mallopt", _MOST_HEAPS, 1)


def keep_little() -> None:
    """From now on return blocks of ``LARGE_BYTES`` when they are freed; else such a block makes glibc keep the next."""
    _tell("mallopt", _MMAP_THRESHOLD, LARGE_BYTES)


def _tell(name: str, *numbers: int) -> None:
    import ctypes

    with suppress(AttributeError, OSError):  # other systems return it by themselves
        getattr(ctypes.CDLL(None), name)(*numbers)
