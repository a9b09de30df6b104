// pi's own compaction functions, called as its agent session calls them: after a turn, before the next prompt.
import { callArguments, requests, serve, text } from "./_pipe.mjs";

const dist = `${process.env.PARITY_HOME}/node_modules/@mariozechner/pi-coding-agent/dist/core`;
const { calculateContextTokens, prepareCompaction, shouldCompact } = await import(`${dist}/compaction/compaction.js`);
const { buildSessionContext } = await import(`${dist}/session-manager.js`);

function built(given, n, usage) {
  if (given.role === "user") return { role: "user", content: [{ type: "text", text: text(given.chars) }], n };
  if (given.role === "tool") {
    const [result] = given.results;
    return { role: "toolResult", toolCallId: result.id, content: [{ type: "text", text: text(result.chars) }], n };
  }
  const content = [];
  if (given.thinking) content.push({ type: "thinking", thinking: text(given.thinking) });
  if (given.chars) content.push({ type: "text", text: text(given.chars) });
  for (const call of given.calls) {
    content.push({ type: "toolCall", id: call.id, name: call.name, arguments: callArguments(call.args) });
  }
  const [input, output] = usage;
  return { role: "assistant", content, stopReason: "stop", usage: { input, output, cacheRead: 0, cacheWrite: 0 }, n };
}

function signature(message) {
  if (message.role === "compactionSummary") return ["new", message.summary.length, 0, [], []];
  const found = [message.n, 0, 0, [], []];
  for (const block of message.content) {
    if (block.type === "thinking") found[2] += block.thinking.length;
    else if (block.type === "toolCall") found[3].push([block.id, JSON.stringify(block.arguments).length]);
    else if (message.role === "toolResult") found[4].push([message.toolCallId, block.text.length]);
    else found[1] += block.text.length;
  }
  return found;
}

function views({ messages, params, window, usage, summary, rejected }) {
  const settings = { enabled: true, reserveTokens: params.reserve, keepRecentTokens: params.keep_recent };
  const entries = [];
  const found = [];
  let start = 0;
  let replies = 0;
  let fresh = false;
  const append = (entry) =>
    entries.push({ id: `e${entries.length}`, parentId: entries.at(-1)?.id ?? null, timestamp: new Date(0), ...entry });
  const compact = () => {
    const prepared = prepareCompaction(entries, settings);
    if (!prepared) return;
    append({ type: "compaction", summary: text(4 * summary), firstKeptEntryId: prepared.firstKeptEntryId, tokensBefore: 0 });
    fresh = false;
  };
  for (const [request, k] of requests(messages).entries()) {
    const added = messages.slice(start, k);
    const nReply = added[0]?.role === "assistant" ? 1 : 0;
    const lastReply = added.findLastIndex((given) => given.role === "assistant");
    const split = added.at(-1)?.role === "user" ? Math.max(lastReply + 1, 0) : added.length;
    const push = (given, at) => append({ type: "message", message: built(given, start + at, usage[replies] ?? [0, 0]) });
    added.slice(0, split).forEach((given, at) => push(given, at));
    if (nReply) {
      fresh = true;
      replies += 1;
    }
    const last = entries.findLast((entry) => entry.message?.role === "assistant")?.message;
    const asked = ["user", "assistant"].includes(added.at(-1)?.role);
    const over = fresh && last && shouldCompact(calculateContextTokens(last.usage), window, settings);
    if (asked && over) compact();
    added.slice(split).forEach((given, at) => push(given, split + at));
    if (!(asked && over) && rejected[request]) compact();
    start = k;
    found.push(buildSessionContext(entries).messages.map(signature));
  }
  return found;
}

await serve(views);
