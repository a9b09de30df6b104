// Keys.  An element with data-key="d" is what the key d presses, so every key has a visible control; j and k walk the rows
// marked data-row (a container with data-rows="open" opens what it walks to).  Nothing is captured while typing.
import { copyLink } from "./copying.js";
import { toggle } from "./dialogs.js";
import { next as nextTheme } from "./themes.js";

const visible = (element) => element.getClientRects().length > 0;

function typing(target) {
  return target.isContentEditable || target.matches("textarea, select, input:not([type=radio], [type=checkbox], [type=button])");
}

function walk(step) {
  const rows = [...document.querySelectorAll("[data-row]")].filter(visible);
  if (!rows.length) return;
  const chosen = document.querySelector("[aria-selected=true] [data-row], [data-row][aria-current=true]");
  const at = rows.indexOf(document.activeElement.closest?.("[data-row]") ?? chosen);
  const row = rows[Math.min(rows.length - 1, Math.max(0, at < 0 ? 0 : at + step))];
  row.focus();
  row.scrollIntoView({ block: "nearest" });
  if (row.closest("[data-rows=open]")) row.click();
}

function find() {
  const field = [...document.querySelectorAll("input[data-search]")].find(visible);
  if (field) { field.focus(); field.select(); }
  else document.querySelector("a[data-search-link]")?.click();
}

const OWN = { "/": find, "?": () => toggle("help"), t: nextTheme, c: copyLink, j: () => walk(1), k: () => walk(-1) };

function press(event) {
  if (event.defaultPrevented || event.isComposing || event.altKey) return;
  const wantsSearch = event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey);
  if (wantsSearch) { event.preventDefault(); find(); return; }
  if (event.ctrlKey || event.metaKey || typing(event.target)) return;
  if (document.querySelector("dialog[open]") && event.key !== "?") return;
  // Caps Lock makes no capital of a key.
  const letter = /^[a-z]$/i.test(event.key);
  const key = letter ? event.key[event.shiftKey ? "toUpperCase" : "toLowerCase"]() : event.key;
  const control = [...document.querySelectorAll(`[data-key="${CSS.escape(key)}"]`)].find(visible);
  const action = control ? () => control.click() : OWN[key];
  if (!action) return;
  event.preventDefault();
  action();
}

export const start = () => document.addEventListener("keydown", press);
