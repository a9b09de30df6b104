"""Asks public advisories about every pinned package; ``make audit``.

A known weakness ends it with status 1.  Where no source can be reached it says so and ends with 0: what was not asked
is named, never passed over.  ``ARGS`` are pip-audit's own, such as ``--ignore-vuln ID``.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
FILES = sorted((ROOT / "requirements").glob("*.txt"))
SOURCES = ("pypi", "osv")
SECONDS = 600
UNREACHABLE = re.compile(r"Connection|Proxy|Timeout|SSL|Failed to resolve|HTTPError|ServiceError")
"""Words in which pip-audit says that a source does not answer; anything else is a fault of ours."""

Found = list[dict[str, Any]]


def asked(source: str, files: list[Path], more: list[str]) -> Found | None:
    """pip-audit's list of packages by one source, None where that cannot be reached; raises SystemExit for a fault."""
    command = [sys.executable, "-m", "pip_audit", "--disable-pip", "--require-hashes", "--format", "json"]
    command += ["--progress-spinner", "off", "--vulnerability-service", source, *more]
    command += [word for file in files for word in ("--requirement", str(file))]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=SECONDS)
    try:
        found: Found = json.loads(done.stdout)["dependencies"]
    except (ValueError, KeyError):
        said = done.stderr.strip()
        if UNREACHABLE.search(said):
            return None
        raise SystemExit(f"pip-audit ended with status {done.returncode}: {said[-2_000:]}") from None
    return found if any("skip_reason" not in one for one in found) else None


def told(found: Found) -> tuple[list[str], int]:
    """The lines to print, and how many packages have a known weakness."""
    lines, bad = [], 0
    for one in found:
        bad += bool(one.get("vulns"))
        for vuln in one.get("vulns", ()):
            fixed = ", ".join(vuln["fix_versions"]) or "no version yet"
            lines.append(f"{one['name']} {one['version']}: {vuln['id']}, mended in {fixed}")
    skipped = sorted({one["name"] for one in found if "skip_reason" in one})
    if skipped:
        lines.append(f"not audited, unknown to the source: {', '.join(skipped)}")
    n_asked = len({one["name"] for one in found}) - len(skipped)
    return [*lines, f"Audited: {n_asked}. With a known weakness: {bad}."], bad


def main(more: list[str], files: list[Path] = FILES, sources: tuple[str, ...] = SOURCES) -> int:
    """Ask the first source that answers; the status to end with."""
    for source in sources:
        found = asked(source, files, more)
        if found is not None:
            lines, bad = told(found)
            print("\n".join(lines))
            return 1 if bad else 0
    print("not audited: no advisory source reachable")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
