// A compaction policy of your own: old tool results become one line, the last five stay.
let input = "";
process.stdin.on("data", (chunk) => { input += chunk; });
process.stdin.on("end", () => {
  const { messages } = JSON.parse(input);
  const results = messages.filter((message) => message.results.length).map((message) => message.id);
  const old = new Set(results.slice(0, -5));
  const list = messages.map((message) => (old.has(message.id) ? { id: message.id, text: "[cleared]" } : message.id));
  process.stdout.write(JSON.stringify({ messages: list }));
});
