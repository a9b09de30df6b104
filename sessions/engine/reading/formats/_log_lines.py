"""What single lines of the logs of servers and agents say: how they begin, their words, their errors (formats 95)."""

from __future__ import annotations

import re

from sessions.engine.reading.formats._provider_errors import Refusal, error_of

_TIME = r"\d{4}[-/]\d\d[-/]\d\d[ T](?:- )?\d\d:\d\d:\d\d(?:[.,]\d{3})?"
_CLOCK = r"(?:[A-Z][a-z]{2} +\d+|\d\d-\d\d) \d\d:\d\d:\d\d"
_UPTIME = r"\d+\.\d\d\.\d{3}\.\d{3} [A-Z]\b"
LEVEL = r"DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|CRITICAL|FATAL"
TIMED, LEVELLED = re.compile(rf"\W{{0,2}}(?:time=)?({_TIME})"), re.compile(rf"(?<![\w.])({LEVEL})(?![\w.])")
_LEAD = re.compile(
    rf"\s*(?:(?:time=)?\[?{_TIME}[^\s\]]*\]?|{_CLOCK}(?: \S+ \S+\[\d+\]:)?|{_UPTIME}"
    rf"|\[?(?:level=)?(?:{LEVEL})\]?:?(?=\W|$)|\[(?:GIN|[\w ./:@-]{{4,80}})\]|source=\S+|msg="
    r"|[\w.]{3,60}:(?= )(?<!rror:)|[-|](?= ))"
)
"""A part of what a line has in front of its words: a time, a level, who writes."""
CONTAINER = re.compile(r"^[\w.-]+ +\| (?=\S)|^[\w.-]+ +\|\s*$")
"""Which container wrote a line, as Docker Compose has it in front."""
LOGGED = re.compile(
    rf"\ufeff?(?:(?:time=)?\[?{_TIME}|{_CLOCK} |\[?(?:{LEVEL})\b|{_UPTIME}|\[GIN\]|(?:slot|srv|que) +\w+ ?(?:\(\))?: "
    r"|(?:main|llama_\w+|load_\w+|ggml_\w+|print_info|common_\w+): |prompt eval time =| +(?:eval|total) time =)"
)
"""How the lines of a log begin."""
PROSE = re.compile(r"^(?:```|#{1,6} \w|diff --git |@@ -|\+\+\+ |(?:import|from|def|class) \w)", re.MULTILINE)
"""A document, a chat, a patch or a program, which may quote a log."""
_TELLS = re.compile(r"token|context|too (?:large|long|big)|413|n_keep|compact|compress", re.IGNORECASE)
"""What an error about size says in any case."""
_REFUSES = re.compile(r"error|exception|exceed|too (?:large|long|big)|overflow", re.IGNORECASE)
LOUD, QUIET = frozenset({"ERROR", "CRITICAL", "FATAL"}), frozenset({"INFO", "DEBUG", "NOTICE"})


def count(digits: str | None) -> int:
    """The number, with or without separators; 0 for none, and for one that is no count."""
    plain = (digits or "").replace(",", "")
    return int(plain) if 0 < len(plain) <= 12 else 0


def first_count(pattern: re.Pattern[str], text: str) -> int:
    """The first number that the pattern finds; 0 where it finds none."""
    found = pattern.search(text)
    return next((n for digits in found.groups() if (n := count(digits))), 0) if found else 0


def words_of(text: str) -> str:
    """What a line says, without its time, its level and who wrote it."""
    start = 0
    while found := _LEAD.match(text, start):
        start = found.end()
    return text[start:].strip(' "')


def error_in(text: str, level: str = "") -> Refusal | None:
    """The refusal for size that a line tells; what is said without alarm has to name both sizes."""
    said = words_of(text)
    found = error_of(said) if _TELLS.search(said) else None
    if found is None or not found.of_size:
        return None
    is_loud = level not in QUIET and bool(level or _REFUSES.search(said))
    return found if is_loud or (found.tokens and found.limit) else None
