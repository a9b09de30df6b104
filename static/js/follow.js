// Following a session whose file is being written: the server announces growth, htmx fetches what changed and puts it in
// place, the chart is drawn again with its zoom. Where no stream is to be had the page asks every two seconds. The
// reader's place in the list is kept, unless that is its end: then the end is kept.
import { drawAll } from "./charts.js";

const POLL_MS = 2000;
const STREAM_AGAIN_MS = 10_000;
const AT_END_PX = 80;

const bar = document.getElementById("follow");
const toggle = document.getElementById("follow-switch");
const growth = document.getElementById("growth");
const state = document.getElementById("follow-state");
let source = null, polling = 0, again = 0, asking = false, missed = false, atEnd = false;

const wanted = () => toggle.getAttribute("aria-pressed") === "true";
const version = () => document.getElementById("follow-version").value;
const scroller = () => document.querySelector("#message-list .scroll") ?? document.scrollingElement;

function say(words) { state.textContent = words; bar.dataset.state = words; }

function ask() {
  if (asking) { missed = true; return; }
  asking = true;
  window.htmx.trigger(growth, "grown");
}

function stop(words) {
  if (source) source.close();
  clearInterval(polling);
  clearTimeout(again);
  source = null; polling = 0; again = 0;
  say(words);
}

function poll() {
  stop("polling");
  polling = setInterval(ask, POLL_MS);
  again = setTimeout(start, STREAM_AGAIN_MS);
  ask();
}

function start() {
  if (!wanted() || document.hidden) return;
  stop("connecting");
  source = new EventSource(bar.dataset.events + "?version=" + encodeURIComponent(version()));
  source.addEventListener("following", () => say("live"));
  source.addEventListener("grew", ask);
  source.addEventListener("full", poll);
  source.addEventListener("ended", () => {
    stop("file replaced");
    toggle.setAttribute("aria-pressed", "false");
    state.title = "The file holds another session now, which is in the library; this one stays as it was.";
  });
  source.onerror = () => { if (source && source.readyState === EventSource.CLOSED) poll(); };
}

toggle.addEventListener("click", () => {
  toggle.setAttribute("aria-pressed", String(!wanted()));
  const url = new URL(location.href);
  url.searchParams.set("follow", wanted() ? "on" : "off");
  history.replaceState(history.state, "", url);
  wanted() ? start() : stop("");
});

// a tab nobody looks at holds no stream; what it missed comes when it is shown again
document.addEventListener("visibilitychange", () => {
  if (!wanted()) return;
  document.hidden ? stop("paused") : start();
});
addEventListener("pagehide", () => stop("paused"));
addEventListener("pageshow", (event) => { if (event.persisted) start(); });

growth.addEventListener("htmx:configRequest", (event) => {
  const rows = document.querySelectorAll("#rows tr[id^='m-']");
  const now = new URLSearchParams(location.search);
  const sent = event.detail.parameters;
  for (const name of ["only", "measure", "to"]) if (now.get(name)) sent[name] = now.get(name);
  if (rows.length) {
    sent.first = rows[0].id.slice(2);
    sent.after = Number(rows[rows.length - 1].id.slice(2)) + 1;
  }
  if (!document.getElementById("more-next")) sent.whole = 1;
});
growth.addEventListener("htmx:beforeSwap", () => {
  const page = scroller();
  atEnd = page.scrollTop > 0 && page.scrollHeight - page.scrollTop - page.clientHeight < AT_END_PX;
});
growth.addEventListener("htmx:afterRequest", (event) => {
  asking = false;
  if (event.detail.successful && event.detail.xhr.status === 200) placed();
  if (missed) { missed = false; ask(); }
});

function placed() {
  const open = document.querySelector("#inspector [data-message]");
  if (open) document.getElementById("m-" + open.dataset.message)?.setAttribute("aria-selected", "true");
  drawAll();
  if (atEnd) scroller().scrollTop = scroller().scrollHeight;
}

start();
