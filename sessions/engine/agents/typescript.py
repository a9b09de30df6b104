"""An agent of one's own in TypeScript: a setting as one function without dependencies."""

from __future__ import annotations

from sessions.engine.agents._own_code import Code, own_agent
from sessions.engine.agents.setting import CLEAR, SUMMARISE, TRIM

HEAD = """\
// $WORDS
// Made by ctxweb, for a list of chat or Anthropic messages. Target: es2020 or later.
type Message = any;
const AT = $AT, KEEP_FIRST = $FIRST, KEEP_LAST = $LAST;
"""
ASKED = """\
// The list to send next: `messages` as it is until it is time, else shorter. `tokens` is what the next request
// would hold: input (cached too) and output of the last usage, and what is new.
"""
PARTS = """\
  const isSystem = (m: Message) => m.role === "system" || m.role === "developer";
  const system = messages.filter(isSystem), rest = messages.filter((m: Message) => !isSystem(m));
  if ($MEASURE $UNDER AT) return messages;
  let cut = keptFrom(rest);
  for (let moved = cut; moved >= 0;) { // a result stays with its call
    const needed = new Set(rest.slice(cut).flatMap(results));
    moved = rest.slice(0, cut).findIndex((m: Message) => calls(m).some((id: string) => needed.has(id)));
    if (moved >= 0) cut = moved;
  }
  let head = Math.min(KEEP_FIRST, cut);
  const made = () => new Set(rest.slice(0, head).flatMap(calls));
  while (head < cut && results(rest[head]).some((id: string) => made().has(id))) head++;
  const gone = rest.slice(head, cut);
"""
SUMMARY = f"""\
const MARK = "[Summary of the conversation so far]\\n";

{ASKED}\
export async function compact(messages: Message[], tokens: number, summarise: Summarise): Promise<Message[]> {{
{PARTS}\
  if (gone.every(isSummary)) return messages;
  const summary = {{ role: "user", content: MARK + (await summarise(gone)) }};
  return [...system, ...rest.slice(0, head), summary, ...rest.slice(cut)];
}}

type Summarise = (gone: Message[]) => Promise<string>;
const isSummary = (m: Message) => typeof m.content === "string" && m.content.startsWith(MARK);
"""
DROPPED = f"""\

{ASKED}\
export function compact(messages: Message[], tokens: number): Message[] {{
{PARTS}\
  return gone.length ? [...system, ...rest.slice(0, head), ...rest.slice(cut)] : messages;
}}
"""
CLEARED = f"""\
const CLEARED = "[Old tool result content cleared]";

{ASKED}\
export function compact(messages: Message[], tokens: number): Message[] {{
  if ($MEASURE $UNDER AT) return messages;
  const cut = keptFrom(messages);
  return messages.map((m: Message, n: number) => (n >= KEEP_FIRST && n < cut ? cleared(m) : m));
}}

function cleared(m: Message): Message {{
  if (m.role === "tool") return isLong(m.content) ? {{ ...m, content: CLEARED }} : m;
  if (!Array.isArray(m.content)) return m;
  const content = m.content.map((b: Message) =>
    b.type === "tool_result" && isLong(b.content) ? {{ ...b, content: CLEARED }} : b);
  return {{ ...m, content }};
}}

function isLong(content: Message): boolean {{
  if (!Array.isArray(content)) return (content ?? "").length > $CHARS;
  const chars = content.reduce((sum: number, b: Message) => sum + (b.text ?? "").length, 0);
  return chars > $CHARS || content.some((b: Message) => b.type !== "text");
}}
"""
KEPT = """
// Where the tail begins that is kept.
function keptFrom(rest: Message[]): number {{
{cut}
  return $CUT;
}}
"""
PLACES = """\
  const isPlace = (m: Message, n: number) => {test};
  const places = rest.flatMap((m: Message, n: number) => (isPlace(m, n) ? [n] : []));
  const cut = places.slice(-KEEP_LAST)[0] ?? 0;"""
TAIL = """
function calls(m: Message): string[] {
  const made = (m.tool_calls ?? []).map((c: Message) => c.id);
  return [...made, ...blocks(m).filter((b: Message) => b.type === "tool_use").map((b: Message) => b.id)];
}

function results(m: Message): string[] {
  const answered = blocks(m).filter((b: Message) => b.type === "tool_result").map((b: Message) => b.tool_use_id);
  return m.tool_call_id ? [m.tool_call_id, ...answered] : answered;
}

function blocks(m: Message): Message[] {
  return Array.isArray(m.content) ? m.content : [];
}
"""
TYPED = '!n || (m.role === "user" && !results(m).length$TYPED)'
COUNTED = 'messages.filter((m: Message) => m.role !== "system" && m.role !== "developer").length'
CODE = Code(
    HEAD,
    {SUMMARISE: SUMMARY, TRIM: DROPPED, CLEAR: CLEARED},
    {
        "messages": KEPT.format(cut="  const cut = Math.max(rest.length - KEEP_LAST, 0);"),
        "replies": KEPT.format(cut=PLACES.format(test='m.role === "assistant"')),
        "turns": KEPT.format(cut=PLACES.format(test=TYPED)),
    },
    KEPT.format(cut="  const cut = rest.length;"),
    {SUMMARISE: "rest.length", TRIM: "rest.length", CLEAR: COUNTED},
    TAIL,
    {"$CUT": "Math.max(cut, rest.map(isSummary).lastIndexOf(true) + 1)", "$TYPED": " && !isSummary(m)"},
)


AGENT = own_agent("typescript", "TypeScript", CODE)
