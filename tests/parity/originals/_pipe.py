"""Reads cases, one JSON object a line, hands each to the original and writes what it sent at every request."""

from __future__ import annotations

import json
import sys

X = "x"


def text(n_chars):
    return X * n_chars


def arguments(n_chars):
    return {"content": text(n_chars)} if n_chars else {}


def requests(messages):
    """Positions before which a model is asked: every reply, and the end."""
    return [n for n, message in enumerate(messages) if message["role"] == "assistant"] + [len(messages)]


def serve(views):
    """``views(case)`` gives the list sent at each request, each message as [who, text, thinking, calls, results]."""
    for line in sys.stdin:
        case = json.loads(line)
        try:
            answer = {"views": views(case)}
        except Exception as error:  # noqa: BLE001 - the original's own error is its answer
            answer = {"error": f"{type(error).__name__}: {error}"}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()
