// Upload: files and folders dropped anywhere, chosen or pasted.  One request per file with its progress; the server's own
// table (#uploads, which polls) takes over with what it made of them.  Without a script the form does the same.
import { gather } from "./dropped.js";
import { say } from "./copying.js";
import { clearError, showError, words } from "./failures.js";

const form = document.getElementById("upload-form");
const picker = document.getElementById("pick-files");
const clone = (id) => document.getElementById(id).content.firstElementChild.cloneNode(true);
const stored = new URLSearchParams();   // ids and same of everything sent from this page
let busy = false;
let current = null;
let opens = false;
const waiting = [];

function size(bytes) {
  let number = bytes, unit = 0;
  while (number >= 999.5 && unit < 4) { number /= 1000; unit += 1; }
  const digits = unit === 0 ? 0 : number < 9.995 ? 2 : number < 99.95 ? 1 : 0;
  return `${number.toFixed(digits)} ${["B", "KB", "MB", "GB", "TB"][unit]}`;
}

function pane() {
  const there = document.getElementById("sending");
  if (there) return there;
  const made = clone("sending-template");
  made.querySelector("[data-stop]").addEventListener("click", stop);
  document.getElementById("uploads").before(made);
  return made;
}

function row(file) {
  const made = clone("sending-row");
  made.querySelector("code").textContent = file.name;
  made.querySelector(".size").textContent = size(file.size);
  made.querySelector("progress").setAttribute("aria-label", file.name);
  pane().querySelector("tbody").append(made);
  return made;
}

function state(line, word, tone, sentence = "") {
  const badge = line.querySelector(".badge");
  badge.textContent = word;
  badge.className = `badge${tone ? ` badge-${tone}` : ""}`;
  line.querySelector(".grow").textContent = sentence;
}

function sum() {
  const left = waiting.length + (busy ? 1 : 0);
  const words = left ? `${left} file${left === 1 ? "" : "s"} to send` : "";
  const place = document.querySelector("#sending [data-sum]");
  if (place) place.textContent = words;
}

const REASONS = {
  0: "The server did not answer. Is ctxweb still running? Nothing was stored of this file; drop it again.",
  403: "The page is older than the server. Reload it and drop the file again.",
  401: "You are signed out. Reload the page, sign in and drop the file again.",
  408: "The file arrived too slowly. Nothing was stored of it; drop it again on a faster connection.",
  413: form.dataset.tooLarge,
};

// The server's own words where it has some.
function reason(status, text, kind) {
  const own = kind?.startsWith("text/") ? words(status, text, kind) : "";
  return REASONS[status] ?? (own || `The server could not store it (${status}). Drop it again.`);
}

function send({ file, line }) {
  return new Promise((resolve) => {
    if (file.size > Number(form.dataset.most)) { fail(line, REASONS[413]); resolve(); return; }
    const request = new XMLHttpRequest();
    const body = new FormData();
    if (form.elements.who) body.append("who", form.elements.who.value);
    body.append("files", file, file.name);
    request.open("POST", form.action);
    request.setRequestHeader("X-CSRFToken", form.elements.csrfmiddlewaretoken.value);
    request.upload.addEventListener("progress", (event) => {
      if (!event.lengthComputable) return;
      line.querySelector("progress").value = 100 * event.loaded / event.total;
      line.querySelector(".size").textContent = `${size(Math.min(event.loaded, file.size))} of ${size(file.size)}`;
      if (event.loaded === event.total) state(line, "storing", "accent", "sent; the server is putting the bytes away");
    });
    request.addEventListener("load", () => {
      const signedOut = request.status < 300 && !request.responseURL.startsWith(`${form.action}status/`);
      if (signedOut) fail(line, REASONS[401]);
      else if (request.status < 300) {   // the answer was a redirect to the table of this file: its address names the upload
        for (const [key, value] of new URL(request.responseURL).searchParams) stored.append(key, value);
        line.remove();
      } else fail(line, reason(request.status, request.responseText, request.getResponseHeader("Content-Type")));
      resolve();
    });
    request.addEventListener("error", () => { fail(line, REASONS[0]); resolve(); });
    request.addEventListener("abort", () => { fail(line, "Stopped. Nothing was stored of this file."); resolve(); });
    current = request;
    state(line, "sending", "accent");
    request.send(body);
  });
}

function fail(line, why) {
  state(line, "failed", "danger", why);
  line.querySelector("progress").remove();
  line.querySelector(".r:last-child").textContent = "";
}

function stop() {
  for (const { line } of waiting.splice(0)) fail(line, "Stopped before it was sent.");
  current?.abort();
}

async function work() {
  if (busy) return;
  busy = true;
  while (waiting.length) {
    const next = waiting.shift();
    sum();
    await send(next);
    await show();
  }
  busy = false;
  current = null;
  sum();
  const rest = document.getElementById("sending");
  if (!rest) return;
  if (!rest.querySelector("tbody tr")) rest.remove();
  else rest.querySelector("[data-stop]").remove();
}

async function show() {
  if (![...stored.keys()].length) return;
  await window.htmx.ajax("GET", `${form.action}status/?${stored}`, { target: "#uploads", swap: "outerHTML" });
}

export function take(files) {
  if (!files.length) { say("No files in it"); return; }
  opens = files.length === 1 && !busy;   // one file with one session opens by itself when it is read
  document.getElementById("sending")?.querySelectorAll("tr:has(.badge-danger)").forEach((old) => old.remove());
  for (const file of files) waiting.push({ file, line: row(file) });
  say(`${files.length} file${files.length === 1 ? "" : "s"} to send`);
  work();
}

function watchDrops() {
  let over = null;
  let depth = 0;
  const files = (event) => event.dataTransfer?.types.includes("Files");
  const leave = () => { depth = 0; over?.remove(); over = null; };
  addEventListener("dragenter", (event) => {
    if (!files(event)) return;
    event.preventDefault();
    depth += 1;
    if (!over) document.body.append(over = clone("drop-over"));
  });
  addEventListener("dragover", (event) => { if (files(event)) { event.preventDefault(); event.dataTransfer.dropEffect = "copy"; } });
  addEventListener("dragleave", (event) => { if (files(event) && (depth -= 1) <= 0) leave(); });
  addEventListener("drop", async (event) => {
    if (!files(event)) return;
    event.preventDefault();
    leave();
    take(await gather(event.dataTransfer));
  });
}

function watchPaste() {
  addEventListener("paste", (event) => {
    const files = [...event.clipboardData?.files ?? []];
    if (files.length && !event.target.closest("input, textarea")) take(files);
  });
  document.querySelector("form[data-paste]")?.addEventListener("submit", (event) => {
    event.preventDefault();
    paste(event.target);
  });
}

// A text that is no transcript stays where it was pasted, with the reason and a shape that is read.
async function paste(dialogForm) {
  const field = dialogForm.querySelector("textarea");
  const button = dialogForm.querySelector("button:not([type=button])");
  const body = new FormData();
  if (form.elements.who) body.append("who", form.elements.who.value);
  body.append("pasted", "1");
  body.append("files", new File([field.value], "pasted.jsonl", { type: "application/json" }));
  const headers = { "X-CSRFToken": form.elements.csrfmiddlewaretoken.value };
  button.disabled = true;
  const answer = await fetch(form.action, { method: "POST", body, headers }).catch(() => null);
  button.disabled = false;
  if (!answer?.ok) {
    const text = await answer?.text();
    showError(dialogForm, answer ? reason(answer.status, text, answer.headers.get("Content-Type")) : words(0));
    dialogForm.querySelector("[data-shape]").hidden = answer?.status !== 422;
    return;
  }
  clearError(dialogForm);
  dialogForm.querySelector("[data-shape]").hidden = true;
  for (const [key, value] of new URL(answer.url).searchParams) stored.append(key, value);
  field.value = "";
  dialogForm.closest("dialog").close();
  await show();
}

// On the first-run page the library takes the place of the explanation; the demo opens by itself.
// What failed on the way is told again there.
const KEPT = "ctxweb-failed";
function keepFailed() {
  const rows = [...document.querySelectorAll("#sending tr:has(.badge-danger)")];
  const told = rows.map((row) => [row.querySelector("code"), row.querySelector(".size"), row.querySelector(".grow")].map((one) => one.textContent));
  if (told.length) sessionStorage.setItem(KEPT, JSON.stringify(told));
}
function tellFailed() {
  const told = JSON.parse(sessionStorage.getItem(KEPT) ?? "[]");
  sessionStorage.removeItem(KEPT);
  for (const [name, bytes, why] of told) {
    const line = row({ name, size: 0 });
    line.querySelector(".size").textContent = bytes;
    fail(line, why);
  }
  document.querySelector("#sending [data-stop]")?.remove();
}
document.addEventListener("submit", (event) => { if (event.target.matches("form[data-opens]")) opens = true; });
function arrived() {
  if (busy) return;
  const open = document.querySelector("#uploads td a[href*='/s/']");
  if (open && (opens || document.querySelector(".first"))) keepFailed();
  if (opens && open?.textContent === "Open") location.assign(open.href);
  else if (document.querySelector(".first") && open) location.reload();
}
// The event comes with the answer, the table of it a moment later.
document.addEventListener("uploads-done", () => document.addEventListener("htmx:afterSettle", arrived, { once: true }));
document.addEventListener("sessions-synced", () => { if (document.querySelector(".first")) location.reload(); });

picker.addEventListener("change", () => { take([...picker.files]); form.reset(); });
watchDrops();
watchPaste();
tellFailed();
