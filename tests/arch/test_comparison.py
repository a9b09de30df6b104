"""The comparison: every tool has a version, every claim about another tool says how it was seen."""

from __future__ import annotations

import re

from tests.arch.repository import ROOT, nobody, text

SEEN = re.compile(r"\((run|read|stated)\)|^not (seen|run|counted)")


def rows(table: str) -> list[list[str]]:
    return [
        [cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines() if line.startswith("|")
    ]


def test_every_claim_about_a_peer_has_a_version_and_how_it_was_seen() -> None:
    versions, claims = (rows(part) for part in re.findall(r"(?:^\|.*\n)+", text(ROOT / "docs/comparison.md"), re.M))
    tools = claims[0][1:]
    assert [row[0] for row in versions[2:]] == tools
    assert all(re.search(r"\d", row[1]) and row[2] for row in versions[2:])
    bare = [f"{row[0]}, {tool}: {cell}" for row in claims[2:] for tool, cell in zip(tools[1:], row[2:], strict=True)
            if not SEEN.search(cell)]  # fmt: skip
    nobody(bare, "Say how it was seen: (run), (read) or (stated).")
