"""Words inside transcripts, for ``search_sessions``: which of the newest files say them, and which messages of one."""

from __future__ import annotations

import json
from contextlib import closing, suppress
from typing import TYPE_CHECKING

from sessions.engine.reading.jsonio import dumps
from sessions.engine.reading.texts import texts_in
from sessions.engine.redact import redact

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ctxweb.mcp.shelf import OpenSession
    from sessions.adapters.local import LocalFile

MOST_BYTES = 64_000_000
"""Looked through at one question: the newest files, as they stand on disk."""
MOST_LINES = 50
"""Lines of a file that are looked at for secrets: where each of those says the words only in one, it is left out."""
BEFORE, PREVIEW = 30, 140


def said_in_files(files: Sequence[LocalFile], words: Sequence[str]) -> tuple[list[LocalFile], int]:
    """Those of the newest files with a line (a message) that says all ``words``, and how many files were read.

    Lower-case words; packed files and databases say nothing here.  A word that stands in a secret is not found.
    """
    found, n_read, left = [], 0, MOST_BYTES
    for one in files:
        if one.size > left:
            break
        left, n_read = left - one.size, n_read + 1
        with suppress(OSError):
            if _says(one, words):
                found.append(one)
    return found, n_read


def _says(one: LocalFile, words: Sequence[str]) -> bool:
    forms = [{word, dumps(word)[1:-1], json.dumps(word)[1:-1]} for word in words]  # as JSON may write them
    n_looked = 0
    with one.path.open("rb") as lines:
        for line in lines:
            text = line.decode("utf-8", "replace")
            if not _has(text.lower(), forms):
                continue
            if _has(redact(text).text.lower(), forms):
                return True
            n_looked += 1
            if n_looked == MOST_LINES:
                break
    return False


def _has(text: str, forms: Sequence[set[str]]) -> bool:
    return all(any(form in text for form in some) for some in forms)


def said_in_session(opened: OpenSession, words: Sequence[str]) -> Iterator[tuple[int, str]]:
    """The number of each message that says all ``words``, and what stands around the first; secrets are taken out."""
    with closing(opened.texts()) as texts:
        for message in opened.weighed.transcript.messages:
            text = "\n".join(texts_in(texts.of(message)))
            if all(word in text.lower() for word in words):
                shown = " ".join(redact(text).text.split())
                if all(word in shown.lower() for word in words):
                    start = max(0, shown.lower().index(words[0]) - BEFORE)
                    yield message.index, shown[start : start + PREVIEW]
