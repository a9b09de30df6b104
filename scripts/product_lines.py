"""Count the lines of the product's Python, migrations left out, and those of the engine's parts that state rules.

python scripts/product_lines.py
"""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RULES = ("policies", "sweeps", "why", "agents")


def lines_in(*folders: str) -> int:
    """Lines of all Python files below the folders, migrations left out."""
    paths = [path for folder in folders for path in (ROOT / folder).rglob("*.py") if "migrations" not in path.parts]
    return sum(len(path.read_bytes().splitlines()) for path in paths)


if __name__ == "__main__":
    print(f"product {lines_in('sessions', 'ctxweb'):,}")
    print(f"{' + '.join(RULES)} {lines_in(*(f'sessions/engine/{name}' for name in RULES)):,}")
