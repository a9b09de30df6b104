// Reads cases, one JSON object a line, hands each to the original and writes what it sent at every request.
import { createInterface } from "node:readline";

export const text = (n) => "x".repeat(n);
export const callArguments = (n) => (n ? { content: text(n) } : {});

// Positions before which a model is asked: every reply, and the end.
export const requests = (messages) => [
  ...messages.flatMap((message, n) => (message.role === "assistant" ? [n] : [])),
  messages.length,
];

export async function serve(views) {
  for await (const line of createInterface({ input: process.stdin })) {
    let answer;
    try {
      answer = { views: await views(JSON.parse(line)) };
    } catch (error) {
      answer = error.sent ? { views: error.sent, failed: true } : { error: String(error.stack) };
    }
    process.stdout.write(`${JSON.stringify(answer)}\n`);
  }
}
