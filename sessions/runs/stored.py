"""Values of one session that any process works out once: read where they are kept, else made and kept afterwards."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import cached_property
from typing import Any, TypeVar

from sessions import selectors
from sessions.engine.packing.columns import Classes, NotPlain, dump, load
from sessions.engine.packing.section_file import Sections
from sessions.engine.weigh.calibration.weighed import Weighed
from sessions.selectors import columns as kept
from sessions.services import column_runs

T = TypeVar("T")


class StoredValues:
    """What is kept as ``name`` of a session's version and rests on ``other``; nothing where it is short or has none."""

    def __init__(self, session_id: str, version: str, name: str, other: str = "") -> None:
        self.session_id, self.version, self.name, self.other = session_id, version, name, other
        self._made: dict[str, tuple[Any, Classes]] = {}

    @cached_property
    def _sections(self) -> Sections | None:
        return kept.sections(self.session_id, self.name, self.version, self.other) if self.version else None

    def value(self, name: str, make: Callable[[], T], classes: Classes = ()) -> T:
        """The value, as it is kept or else as it is made; ``classes`` are those that it is made of."""
        if name in self._made:
            return self._made[name][0]  # type: ignore[no-any-return]
        found = self._sections
        if found is not None and name in found:
            value: T = load(found[name], classes)
            return value
        made = make()
        if self.version:
            self._made[name] = (made, classes)
        return made

    def has(self, name: str) -> bool:
        return self._sections is not None and name in self._sections

    def keep(self) -> None:
        """Keep what was made since, beside what was kept before."""
        if self._made:
            sections = {name: self._sections[name] for name in self._sections} if self._sections is not None else {}
            for name, (value, classes) in self._made.items():
                with suppress(NotPlain):  # another package's policy may say what is no plain value
                    sections[name] = dump(value, classes)
            self._made = {}
            column_runs.keep(self.session_id, self.name, self.version, sections, self.other)
            del self._sections  # read anew where a later page asks for more


def stored_of(session_id: str, weighed: Weighed, name: str, other: str = "") -> StoredValues:
    """Values of a session as this process has loaded it."""
    is_long = len(weighed.transcript.messages) >= kept.LEAST_MESSAGES
    return StoredValues(session_id, selectors.version_of(session_id) if is_long else "", name, other)


def keep_weighed(session_id: str, weighed: Weighed) -> None:
    """Keep what this process weighed itself."""
    if not weighed.cache.take(selectors.ANEW):
        return
    from sessions.engine.weigh.calibration.kept import sections_of

    version = selectors.version_of(session_id)
    if version:
        column_runs.keep(session_id, "weighed", version, sections_of(weighed))
