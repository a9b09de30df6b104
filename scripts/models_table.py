"""Writes sessions/engine/models/models_listed.py from the model list in the wheel of litellm (MIT), for review by hand.

    python -m venv /tmp/listing && /tmp/listing/bin/pip download --no-deps -d /tmp/listing litellm
    python scripts/models_table.py /tmp/listing/litellm-*.whl

The wheel is read, never installed, and nothing is fetched at run time.  Every model that ``models_table`` names is
looked up; what is not listed, or listed otherwise than it is, stands by hand in ``models_table`` with the reason.
``--check`` writes nothing and exits with 1 where the file would change.
"""

from __future__ import annotations

import json
import re
import sys
import zipfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from sessions.engine.models.models_table import FAMILIES  # noqa: E402  found through the line above

TARGET = ROOT / "sessions" / "engine" / "models_listed.py"
MEMBER = "litellm/model_prices_and_context_window_backup.json"
PRICES = (
    "input_cost_per_token", "output_cost_per_token", "cache_read_input_token_cost", "cache_creation_input_token_cost",
    "cache_creation_input_token_cost_above_1hr",
)  # fmt: skip
LARGE = re.compile(r"input_cost_per_token_above_(\d+)k_tokens")
"""A key that says from how many thousand tokens of input on a request has other prices."""
SUFFIXES = ("", "-preview")
"""A model is listed under its name, while it is new under a preview's."""


def main() -> int:
    """Read the wheel named on the command line and write the list."""
    paths = [argument for argument in sys.argv[1:] if argument != "--check"]
    if len(paths) != 1:
        sys.exit(__doc__)
    wheel = Path(paths[0])
    with zipfile.ZipFile(wheel) as archive:
        listing = json.loads(archive.read(MEMBER))
    text = written(listing, re.sub(r"-cp.*|-py.*", "", wheel.name).replace("-", " "))
    same = TARGET.is_file() and TARGET.read_text(encoding="utf-8") == text
    if "--check" not in sys.argv and not same:
        TARGET.write_text(text, encoding="utf-8")
    names = [row.prefix for rows in FAMILIES.values() for row in rows]
    missing = [name for name in names if not _entry(listing, name)]
    print(f"{TARGET.name} {'is up to date' if same else 'differs'}; not listed:", *missing)
    return int("--check" in sys.argv and not same)


def written(listing: dict[str, Any], source: str) -> str:
    """The module's text: one row for every listed model of the table."""
    rows = []
    for row in (row for rows_of in FAMILIES.values() for row in rows_of):
        entry = _entry(listing, row.prefix)
        if entry:
            limits = (entry.get("max_input_tokens"), entry.get("max_output_tokens"))
            figures = [*limits, *map(_price, map(entry.get, PRICES))]
            rows.append(f'    "{row.prefix}": ({", ".join(map(_literal, figures))}),')
    large = [
        f'    "{row.prefix}": ({", ".join(map(_literal, found))}),'
        for row in (row for rows_of in FAMILIES.values() for row in rows_of)
        if (found := _large(_entry(listing, row.prefix)))
    ]
    return "\n".join((
        f'"""Windows, output limits and prices as {source} lists them (MIT); made by scripts/models_table.py."""',
        "",
        "from __future__ import annotations",
        "",
        f'SOURCE = "{source}"',
        "",
        "Figures = tuple[int, int, float | None, float | None, float | None, float | None, float | None]",
        '"""Most input and most output tokens; USD per million tokens of input, output, cache read and cache write',
        '(kept for 5 minutes, for an hour), None where not listed."""',
        "",
        "LISTED: dict[str, Figures] = {",
        *rows,
        "}",
        "",
        "LARGE: dict[str, tuple[int, float | None, float | None, float | None, float | None, float | None]] = {",
        *large,
        "}",
        '"""Of models with other prices for large requests: the input in tokens above which all of a request has them,',
        'and those prices, in the order above."""',
        "",
    ))  # fmt: skip


def _entry(listing: dict[str, Any], name: str) -> dict[str, Any] | None:
    found = (listing.get(name + suffix) for suffix in SUFFIXES)
    return next((entry for entry in found if entry and entry.get("mode") in ("chat", "responses")), None)


def _large(entry: dict[str, Any] | None) -> tuple[float | None, ...] | None:
    """The tokens above which a request has other prices, and those; None where the list names none."""
    found = [int(match[1]) for key in entry or () if (match := LARGE.fullmatch(key))]
    if not entry or not found:
        return None
    least = min(found)
    return (least * 1_000, *(_price(entry.get(f"{key}_above_{least}k_tokens")) for key in PRICES))


def _price(per_token: float | None) -> float | None:
    return None if per_token is None else round(per_token * 1_000_000, 6)


def _literal(value: float | None) -> str:
    return "None" if value is None else f"{value:_}" if isinstance(value, int) else f"{value:g}"


if __name__ == "__main__":
    sys.exit(main())
