"""Whether "needed later and gone" came true in the shared samples: ``python -m tests.bench study``.

Writes docs/benchmarks/study.md.
"""

from __future__ import annotations

import sys
from pathlib import Path

from ctxweb.commands.study import sessions_of
from sessions.engine.quality.corpus import markdown, study_corpus
from tests.samples import find_samples

RESULTS = Path(__file__).resolve().parents[2] / "docs" / "benchmarks" / "study.md"
HEAD = """# Do the warnings come true?

Made by `python -m tests.bench study` over the shared samples; `ctxweb study` does the same for any recordings.
The unit is a target (file, command, address, question) whose newest result a recorded compaction dropped; the
outcome, that the agent fetched it again within 20 tool calls. A file written in between is read for its new content:
no repeat. AUROC: 0.5 is chance; the interval is a bootstrap of 1,000 seeded draws of whole compactions (points),
given only where both outcomes have five units or more and there are ten compactions or more.
The second column compares units of one session, one compaction and equally many earlier
fetches alone, so that what is read often anyway explains nothing. The last row is the same count at points where
nothing was dropped: as good as the first row, and the loss explains nothing. What was chosen and why: decisions,
"What counts as lost".

"""


def main() -> None:
    """Study every sample and write the tables."""
    folder = find_samples()
    if folder is None:
        sys.exit("the shared samples are missing: set CTXWEB_SAMPLES")
    text = HEAD + markdown(study_corpus(sessions_of((folder,), []))).rstrip() + "\n"
    RESULTS.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
