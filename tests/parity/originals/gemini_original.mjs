// Gemini CLI's own compression and masking services.  What they would write, log or read of the machine is left out.
import { register } from "node:module";
import { callArguments, requests, serve, text } from "./_pipe.mjs";

// File names are of one length, that of ours.
const PATHS = {
  compression: "/tmp/gemini/tool-outputs/a-tool-output.txt",
  masking: "/tmp/gemini/tool-outputs/session-a/a-tool-output.txt",
};
const hooks = `
export async function load(url, context, next) {
  const loaded = await next(url, context);
  const edits = {
    "/telemetry/loggers.js": [["logChatCompression(config, event) {", "logChatCompression(config, event) { return;"],
      ["logToolOutputMasking(config, event) {", "logToolOutputMasking(config, event) { return;"]],
    "/utils/environmentContext.js": [["getInitialChatHistory(config, extraHistory) {",
      "getInitialChatHistory(config, extraHistory) { return extraHistory;"]],
    "/core/prompts.js": [["getCompressionPrompt(config) {", "getCompressionPrompt(config) { return '';"]],
    "/utils/fileUtils.js": [["await fsPromises.writeFile(outputFile, content);", ""]],
    "/context/toolOutputMaskingService.js": [["await fsPromises.writeFile(filePath, content, 'utf-8');", ""],
      ["path.join(toolOutputsDir, fileName)", "'${PATHS.masking}'"]],
    "/context/chatCompressionService.js": [["formatTruncatedToolOutput(contentStr, outputFile,",
      "formatTruncatedToolOutput(contentStr, '${PATHS.compression}',"]],
  };
  for (const [end, changes] of Object.entries(edits)) {
    if (!url.includes("gemini-cli-core") || !url.endsWith(end)) continue;
    let source = String(loaded.source);
    for (const [from, to] of changes) source = source.replace(from, to);
    return { ...loaded, source };
  }
  return loaded;
}`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);

for (const name of ["log", "debug", "info", "warn", "error"]) console[name] = () => undefined;

const dist = `${process.env.PARITY_HOME}/node_modules/@google/gemini-cli-core/dist/src`;
const { ChatCompressionService } = await import(`${dist}/context/chatCompressionService.js`);
const { ToolOutputMaskingService } = await import(`${dist}/context/toolOutputMaskingService.js`);
const { CompressionStatus } = await import(`${dist}/core/turn.js`);

function built(given, names) {
  if (given.role === "tool") {
    const parts = given.results.map(({ id, chars }) => ({
      functionResponse: { id, name: names[id], response: { output: text(chars) } },
    }));
    return { role: "user", parts };
  }
  const parts = given.chars ? [{ text: text(given.chars) }] : [];
  for (const call of given.calls ?? []) {
    names[call.id] = call.name;
    parts.push({ functionCall: { id: call.id, name: call.name, args: callArguments(call.args) } });
  }
  return { role: given.role === "assistant" ? "model" : "user", parts };
}

function signature(entry) {
  const found = [entry.n ?? "new", 0, 0, [], []];
  for (const part of entry.content.parts) {
    if (part.functionCall) found[3].push([part.functionCall.id, JSON.stringify(part.functionCall.args).length]);
    else if (part.functionResponse) {
      found[4].push([part.functionResponse.id, part.functionResponse.response.output.length]);
    } else found[1] += part.text.length;
  }
  return found;
}

function config(params, summary) {
  const answer = { candidates: [{ content: { parts: [{ text: text(4 * summary) }] } }] };
  return {
    getHookSystem: () => undefined,
    getCompressionThreshold: async () => params.threshold,
    getBaseLlmClient: () => ({ generateContent: async () => answer }),
    getContentGenerator: () => undefined,
    getNextCompressionTruncationId: () => 1,
    getTruncateToolOutputThreshold: () => params.response_chars,
    getSessionId: () => "",
    storage: { getProjectTempDir: () => `${process.env.PARITY_HOME}/written` },
    getToolOutputMaskingConfig: async () => ({
      protectionThresholdTokens: params.protect,
      minPrunableThresholdTokens: params.least,
      protectLatestTurn: params.protect_latest === "on",
    }),
    getActiveModel: () => "parity",
    getModel: () => "parity",
  };
}

const lenient = (known) =>
  new Proxy(known, { get: (target, name) => (name in target ? target[name] : () => lenient({})) });

async function views({ policy, messages, params, usage, summary }) {
  const made = lenient(config(params, summary));
  const compression = new ChatCompressionService();
  const masking = new ToolOutputMaskingService();
  const names = {};
  const found = [];
  let held = [];
  let start = 0;
  let failed = false;
  let replies = 0;
  for (const k of requests(messages)) {
    for (let n = start; n < k; n += 1) {
      if (messages[n].role === "assistant") replies += 1;
      held.push({ n, content: built(messages[n], names) });
    }
    start = k;
    const nHistory = held.findLastIndex((entry) => entry.content.role === "model") + 1;
    const history = held.slice(0, nHistory).map((entry) => entry.content);
    const pending = held.slice(nHistory);
    if (policy === "gemini_masking") {
      const { newHistory } = await masking.mask(history, made);
      held = [...newHistory.map((content, at) => ({ n: held[at].n, content })), ...pending];
    } else if (history.length) {
      const chat = { getHistory: () => history, getLastPromptTokenCount: () => usage[replies - 1][0] };
      const { newHistory, info } = await compression.compress(chat, "p", false, "parity", made, failed);
      if (info.compressionStatus === CompressionStatus.COMPRESSION_FAILED_INFLATED_TOKEN_COUNT) {
        throw Object.assign(new Error("inflated"), { sent: found });
      }
      if (newHistory) {
        const offset = history.length - (newHistory.length - 2);
        held = [
          ...newHistory.map((content, at) => ({ n: at < 2 ? undefined : held[at - 2 + offset].n, content })),
          ...pending,
        ];
      }
    }
    found.push(held.map(signature));
  }
  return found;
}

await serve(views);
