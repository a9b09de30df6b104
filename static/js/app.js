// What every page has: theme switch, keys, copy buttons, dialogs, failures shown inline, links that carry the page's state.
import * as beside from "./beside.js";
import * as busy from "./busy.js";
import * as copying from "./copying.js";
import * as dialogs from "./dialogs.js";
import * as failures from "./failures.js";
import * as keys from "./keys.js";
import * as narrow from "./narrow.js";
import * as place from "./place.js";
import * as themes from "./themes.js";
import "./saving.js";

// A link with data-carry-query is about "this view": the address of the page may have moved on (a slider replaces it)
// since the link was rendered, so the query is taken from the address at the moment of the click.
function carried(link) {
  const url = new URL(link.getAttribute("href"), location.href);
  const query = new URLSearchParams(location.search);
  for (const key of (link.dataset.carryQuery || "").split(" ").filter(Boolean)) {
    query.set(key, url.searchParams.get(key) ?? "");
  }
  url.search = query.toString();
  return url.pathname + url.search;
}

// A tab carries what means the same on every view of a session: the replay, its parameters and the message; where no
// replay was chosen yet, the one that the tab itself names.
const TRAVELS = new Set("policy base estimator summarizer window fail event request m".split(" "));

function travelled(link) {
  const query = new URLSearchParams();
  for (const [key, value] of new URLSearchParams(location.search)) if ((TRAVELS.has(key) || key.startsWith("p.")) && key !== link.dataset.carryBut) query.append(key, value);
  if (!query.has("policy")) for (const [key, value] of new URLSearchParams(link.dataset.carryTab)) query.append(key, value);
  const search = query.toString();
  return new URL(link.href).pathname + (search ? "?" + search : "");
}

function carryState() {
  document.addEventListener("htmx:configRequest", (event) => {
    const { elt } = event.detail;
    if (elt.matches("a[data-carry-query]")) event.detail.path = carried(elt);
  });
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-carry-query]:not([hx-get])");
    if (link) link.href = carried(link);
    const tab = event.target.closest("a[data-carry-tab]");
    if (tab) tab.href = travelled(tab);
  }, true);
}

for (const part of [themes, beside, busy, copying, dialogs, keys, failures, narrow, place]) part.start();
carryState();
