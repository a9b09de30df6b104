"""What is kept of a weighed session is what weighing it anew makes, over every fixture."""

from __future__ import annotations

from dataclasses import fields
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sessions.engine import pack
from sessions.engine.calibration.calibrate import weigh
from sessions.engine.calibration.kept import sections_of, weighed_of
from sessions.engine.errors import EngineError
from sessions.engine.reading import read_transcripts
from sessions.engine.sealed import seal, unseal

if TYPE_CHECKING:
    from sessions.engine.types import Transcript

FOLDER = Path(__file__).resolve().parents[1] / "fixtures" / "transcripts"
DERIVED = (
    "window", "window_source", "held", "models", "recorded", "left_out", "weak_label", "total_tokens", "total_label",
    "kind_sums", "target_uses", "repeated_calls", "holds",
)  # fmt: skip


def fixtures(folder: Path) -> list[Transcript]:
    found: list[Transcript] = []
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            try:
                found += read_transcripts(BytesIO(path.read_bytes()), path.name).transcripts
            except EngineError:
                continue
    return found


@pytest.mark.parametrize("folder", sorted(FOLDER.iterdir()), ids=lambda folder: folder.name)
def test_kept_is_fresh(folder: Path) -> None:
    for transcript in fixtures(folder):
        fresh = weigh(transcript)
        opened = pack.unpack(pack.pack(transcript))
        found = weighed_of(opened, unseal(seal("key", sections_of(fresh))))
        names = [f.name for f in fields(found) if f.name not in {"known", "cache"}]
        assert {name: getattr(found, name) for name in names} == {name: getattr(fresh, name) for name in names}
        assert {name: getattr(found, name) for name in DERIVED} == {name: getattr(fresh, name) for name in DERIVED}
