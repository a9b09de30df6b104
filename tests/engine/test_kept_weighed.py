"""What is kept of a weighed session is what weighing it anew makes, over every fixture."""

from __future__ import annotations

from dataclasses import fields
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sessions.engine.base.errors import EngineError
from sessions.engine.packing import pack
from sessions.engine.packing.section_file import seal, unseal
from sessions.engine.reading.reading import read_transcripts
from sessions.engine.weigh.calibration.calibrate import weigh
from sessions.engine.weigh.calibration.kept import sections_of, weighed_of

if TYPE_CHECKING:
    from sessions.engine.transcript.types import Transcript

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
