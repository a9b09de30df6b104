"""Typed errors of the engine: each says where, and what to do next."""

from __future__ import annotations


class EngineError(Exception):
    """Base of all errors that the engine raises on purpose; ``str(error)`` is fit to show to a user."""


class UnreadableInput(EngineError):
    """No transcript can be read from it: where (``line`` from 1, ``offset`` in bytes), and what to do about it."""

    def __init__(self, reason: str, *, line: int = 1, offset: int = 0, next_step: str = "") -> None:
        self.reason, self.line, self.offset, self.next_step = reason, line, offset, next_step
        where = f"line {line}, byte {offset:,}: {reason}"
        super().__init__(f"{where}. {next_step}" if next_step else where)


TEXT_AGAIN = "Upload it again, or restore a backup; `ctxweb doctor --deep` lists what is missing or damaged."
"""What to do where the text of a stored session is gone."""


class TextGone(UnreadableInput):
    """The text of a stored session can no longer be read again: its bytes are missing or damaged."""

    def __init__(self, error: OSError, name: str = "this session") -> None:
        is_missing = isinstance(error, FileNotFoundError)
        reason = "its stored bytes are missing" if is_missing else f"its stored bytes fail: {error.strerror or error}"
        super().__init__(reason, next_step=TEXT_AGAIN)
        self.args = (f"The text of {name} cannot be read: {reason}. {TEXT_AGAIN}",)


class UnknownName(EngineError):
    """A format, estimator, policy or summarizer that is not registered; the message lists those that are."""


class BadParameter(EngineError):
    """A policy parameter that does not exist or whose value is out of range; the message gives the range."""
