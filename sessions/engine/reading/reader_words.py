"""The words that our readers know agents by: constants of their own code, collected from it, so that none is missed."""

from __future__ import annotations

import importlib
import pkgutil
import re
from functools import cache
from types import CodeType, FunctionType
from typing import Any

from sessions.engine.base.words import words
from sessions.engine.reading import formats

ALSO_KNOWN = frozenset(
    {f"{who}Message{chunk}" for who in ("AI", "Human", "System", "Tool", "Function") for chunk in ("", "Chunk")}
    | {"generateContent", "generateContentStream", "langchain", "langchain_core", "schema", "messages"}
    | {"llm", "input_messages", "output_messages", "message_content", "token_count", "openinference", "span"}
    | {"gen_ai", "prompt", "completion", "POST", "/v1/messages", "/v1/chat/completions", "/v1/responses", "responses"}
)
"""Public names that readers put together from pieces."""
TOOLS = frozenset(
    words(
        """Read Edit MultiEdit Write NotebookEdit Bash BashOutput Grep Glob LS WebFetch WebSearch TodoWrite Task Skill
        read read_file read_many_files write_file write_to_file replace replace_in_file edit_file list_files
        list_directory search_files search_file_content run_shell_command execute_command shell bash apply_patch
        update_plan str_replace_editor view glob grep recall"""
    )
)
"""Public names of agents' own tools: policies and losses tell them apart."""
IN_PATTERNS = ("Error: Error during compaction:",)
"""Sentences of agents that stand in patterns, not in constants."""
MIN_SENTENCE = 12
_TAG = re.compile(r"</?[a-z][a-z_-]{3,40}>")
MAX_KNOWN, MAX_SENTENCE = 60, 200


@cache
def known() -> frozenset[str]:
    """The words that our readers look for: the constants of their code, without sentences."""
    found = (text for text in _constants() if len(text) <= MAX_KNOWN and not any(c.isspace() for c in text))
    return frozenset(found) | ALSO_KNOWN | TOOLS


@cache
def sentences() -> tuple[str, ...]:
    """The beginnings that our readers know, the longest first."""
    found = {text for text in _constants() if MIN_SENTENCE <= len(text) <= MAX_SENTENCE and " " in text.strip()}
    return tuple(sorted(found, key=lambda text: (-len(text), text)))


@cache
def marks() -> re.Pattern[str]:
    """What readers look for inside texts: tags, and openings in brackets."""
    found = {tag for text in _constants() for tag in _TAG.findall(text)} | {*IN_PATTERNS}
    found |= {text for text in _constants() if re.match(r"[<\[#][\w ]{4,}", text) and len(text) <= MAX_KNOWN}
    longest_first = sorted(found, key=lambda text: (-len(text), text))
    return re.compile("|".join(map(re.escape, longest_first)))


@cache
def _constants() -> frozenset[str]:
    found: set[str] = set()
    for info in pkgutil.walk_packages(formats.__path__, f"{formats.__name__}."):
        module = importlib.import_module(info.name)
        for name, value in vars(module).items():
            if not name.startswith("__"):
                _collect(value, found, module.__name__)
    return frozenset(found)


def _collect(value: Any, found: set[str], module: str) -> None:
    """Every text in a constant, a function's code or a class of a module."""
    if isinstance(value, str):
        found.add(value)
    elif isinstance(value, bytes):
        found.add(value.decode("utf-8", errors="replace"))
    elif isinstance(value, re.Pattern):
        found.add(value.pattern if isinstance(value.pattern, str) else "")
    elif isinstance(value, (tuple, list, set, frozenset)):
        for part in value:
            _collect(part, found, module)
    elif isinstance(value, dict):
        _collect(list(value), found, module)
        _collect(list(value.values()), found, module)
    elif isinstance(value, CodeType):
        _collect(value.co_consts, found, module)
    elif isinstance(value, (FunctionType, type)) and value.__module__ == module:
        inner = [value.__code__] if isinstance(value, FunctionType) else list(vars(value).values())
        _collect(inner, found, module)
