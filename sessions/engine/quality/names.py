"""One name for one file: a relative path and the full path it is the end of are the same reference."""

from __future__ import annotations

from collections.abc import Sequence

from sessions.engine.quality.references import PATH, Reference

MAX_CANDIDATES = 200
"""More files of one name than this are not told apart: a bare name then stays a name of its own."""


def merge_paths(references: Sequence[Reference]) -> list[int]:
    """For every reference the position of the one it is taken for: itself, or the only longer path it ends.

    ``views.py`` is ``/app/sessions/views.py`` where no other ``views.py`` is named; where two are, it is neither.
    """
    by_name: dict[str, list[int]] = {}
    for i, reference in enumerate(references):
        if reference.kind == PATH:
            by_name.setdefault(reference.text.rsplit("/", 1)[-1], []).append(i)
    taken_for = list(range(len(references)))
    for group in by_name.values():
        if 1 < len(group) <= MAX_CANDIDATES:
            for i in group:
                taken_for[i] = _longest(i, group, references)
    return taken_for


def _longest(i: int, group: Sequence[int], references: Sequence[Reference]) -> int:
    """The one path of the group that ``i`` ends and that ends no other, ``i`` where there is none or more than one."""
    tail = "/" + references[i].text.lstrip("./~")
    longer = [k for k in group if k != i and references[k].text.endswith(tail)]
    whole = [
        k
        for k in longer
        if not any(m != k and references[m].text.endswith("/" + references[k].text.lstrip("./~")) for m in longer)
    ]
    return whole[0] if len(whole) == 1 else i
