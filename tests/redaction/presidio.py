"""``python -m tests.redaction.presidio``: what presidio's pattern recognisers find of the planted secrets.

It needs presidio-analyzer alone, in an environment of its own; no model of a language is loaded.
"""

from __future__ import annotations

import sys
from importlib.metadata import version
from typing import TYPE_CHECKING

from tests.redaction.corpus import look_alikes, planted

if TYPE_CHECKING:
    from collections.abc import Collection

KNOWN = {"e-mail": "EMAIL_ADDRESS", "ip": "IP_ADDRESS", "phone": "PHONE_NUMBER", "card": "CREDIT_CARD"}
"""The kinds of the corpus that it has a recogniser for, and what it calls them."""


def measured(kinds: Collection[str], entities: Collection[str]) -> str:
    """Recall over ``kinds`` and precision of ``entities`` (all that it names where there is none), in words."""
    from presidio_analyzer import RecognizerRegistry  # type: ignore[import-not-found]

    registry = RecognizerRegistry()
    registry.load_predefined_recognizers(languages=["en"])
    loaded = [one for one in registry.recognizers if type(one).__name__ != "SpacyRecognizer"]

    def found(text: str) -> list[tuple[int, int]]:
        answers = [answer for one in loaded for answer in one.analyze(text, one.supported_entities, None) or ()]
        return [(hit.start, hit.end) for hit in answers if not entities or hit.entity_type in entities]

    n = touched = whole = hits = wrong = 0
    for item in planted():
        at = item.text.index(item.secret)
        end = at + len(item.secret)
        spans = found(item.text)
        over = [span for span in spans if span[0] < end and span[1] > at]
        hits, wrong = hits + len(spans), wrong + len(spans) - len(over)
        if not kinds or item.kind in kinds:
            n, touched = n + 1, touched + bool(over)
            whole += any(start <= at and stop >= end for start, stop in over)
    for text in look_alikes():
        n_wrong = len(found(text))
        hits, wrong = hits + n_wrong, wrong + n_wrong
    return (
        f"{len(loaded)} recognisers; planted {n}, touched {touched} ({touched / n:.1%}), "
        f"whole {whole} ({whole / n:.1%}); hits {hits}, wrong {wrong} (precision {1 - wrong / hits:.1%})"
    )


if __name__ == "__main__":
    sys.stdout.write(f"presidio-analyzer {version('presidio-analyzer')}\nall kinds: {measured((), ())}\n")
    sys.stdout.write(f"{', '.join(KNOWN)}: {measured(KNOWN, set(KNOWN.values()))}\n")
