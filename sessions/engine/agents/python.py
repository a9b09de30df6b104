"""An agent of one's own in Python: a setting as one function without dependencies."""

from __future__ import annotations

from sessions.engine.agents._own_code import Code, own_agent
from sessions.engine.agents.setting import CLEAR, SUMMARISE, TRIM

HEAD = '''\
"""$WORDS

Made by ctxweb, for a list of chat or Anthropic messages as plain dicts (of an SDK's objects: message.model_dump()).
"""

AT, KEEP_FIRST, KEEP_LAST = $AT, $FIRST, $LAST
'''
ASKED = '''\
    """The list to send next: `messages` as it is until it is time, else with less in it.

    `tokens` is what the next request would hold: input (cached too) and output of the last usage, and what is new.
    """
'''
PARTS = f"""\
{ASKED}\
    system = [m for m in messages if m["role"] in SYSTEM]
    rest = [m for m in messages if m["role"] not in SYSTEM]
    if $MEASURE $UNDER AT:
        return messages
    cut = moved = kept_from(rest)
    while moved is not None:  # a result stays with its call
        needed = {{i for m in rest[cut:] for i in results(m)}}
        moved = next((n for n in range(cut) if needed & calls(rest[n])), None)
        cut = cut if moved is None else moved
    head = min(KEEP_FIRST, cut)
    while head < cut and results(rest[head]) & {{i for m in rest[:head] for i in calls(m)}}:
        head += 1
    gone = rest[head:cut]
"""
SUMMARY = f"""\
SYSTEM, MARK = ("system", "developer"), "[Summary of the conversation so far]\\n"


def compact(messages, tokens, summarise):
{PARTS}\
    if all(is_summary(m) for m in gone):
        return messages
    summary = {{"role": "user", "content": MARK + summarise(gone)}}
    return [*system, *rest[:head], summary, *rest[cut:]]


def is_summary(message):
    return str(message.get("content")).startswith(MARK)
"""
DROPPED = f"""\
SYSTEM = ("system", "developer")


def compact(messages, tokens):
{PARTS}\
    return [*system, *rest[:head], *rest[cut:]] if gone else messages
"""
CLEARED = f"""\
CLEARED = "[Old tool result content cleared]"


def compact(messages, tokens):
{ASKED}\
    if $MEASURE $UNDER AT:
        return messages
    cut = kept_from(messages)
    return [cleared(m) if KEEP_FIRST <= n < cut else m for n, m in enumerate(messages)]


def cleared(message):
    content = message.get("content")
    if message["role"] == "tool":
        return {{**message, "content": CLEARED}} if is_long(content) else message
    if not isinstance(content, list):
        return message
    return {{**message, "content": [
        {{**b, "content": CLEARED}} if b["type"] == "tool_result" and is_long(b.get("content")) else b for b in content
    ]}}


def is_long(content):
    if not isinstance(content, list):
        return len(content or "") > $CHARS
    return any(b["type"] != "text" for b in content) or sum(len(b["text"]) for b in content) > $CHARS
"""
KEPT = '''

def kept_from(rest):
    """Where the tail begins that is kept."""
{cut}
    return $CUT
'''
TAIL = """

def calls(message):
    made = {c["id"] for c in message.get("tool_calls") or ()}
    return made | {b["id"] for b in blocks(message) if b["type"] == "tool_use"}


def results(message):
    answered = {message["tool_call_id"]} if message.get("tool_call_id") else set()
    return answered | {b["tool_use_id"] for b in blocks(message) if b["type"] == "tool_result"}


def blocks(message):
    content = message.get("content")
    return content if isinstance(content, list) else []
"""
TYPED = 'm["role"] == "user" and not results(m)$TYPED'
BEHIND = "max([cut, *(n + 1 for n, m in enumerate(rest) if is_summary(m))])"
COUNTED = 'sum(m["role"] not in ("system", "developer") for m in messages)'
CODE = Code(
    HEAD,
    {SUMMARISE: SUMMARY, TRIM: DROPPED, CLEAR: CLEARED},
    {
        "messages": KEPT.format(cut="    cut = max(len(rest) - KEEP_LAST, 0)"),
        "replies": KEPT.format(
            cut='    replies = [n for n, m in enumerate(rest) if m["role"] == "assistant"]\n'
            "    cut = (replies[-KEEP_LAST:] or [0])[0]"
        ),
        "turns": KEPT.format(
            cut=f"    starts = [n for n, m in enumerate(rest) if not n or {TYPED}]\n"
            "    cut = (starts[-KEEP_LAST:] or [0])[0]"
        ),
    },
    KEPT.format(cut="    cut = len(rest)"),
    {SUMMARISE: "len(rest)", TRIM: "len(rest)", CLEAR: COUNTED},
    TAIL,
    {"$CUT": BEHIND, "$TYPED": " and not is_summary(m)"},
)


AGENT = own_agent("python", "Python", CODE)
