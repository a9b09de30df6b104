// Where one was in the library: a session's page notes itself, and the list that it was opened from comes back to its row,
// with as many rows and the file unfolded that it stood in.
const STORE = "ctxweb-list";
const session = () => /\/s\/([^/]+)\//.exec(location.pathname)?.[1];
const rowOf = (id) => document.querySelector(`#lib-rows a.name[href*="/s/${CSS.escape(id)}/"]`);
const n_rows = () => document.querySelectorAll("#lib-rows tr").length;

function read() {
  try { return JSON.parse(sessionStorage.getItem(STORE)) ?? {}; } catch { return {}; }
}

function note(changes) {
  try { sessionStorage.setItem(STORE, JSON.stringify({ ...read(), ...changes })); } catch { /* no storage: the list opens at its start */ }
}

// Whether what was asked for came; what failed, or took longer, stops the way back.
const settled = () => new Promise((resolve) => {
  document.addEventListener("htmx:afterSettle", () => resolve(true), { once: true });
  for (const failed of ["htmx:responseError", "htmx:sendError"]) document.addEventListener(failed, () => resolve(false), { once: true });
  setTimeout(() => resolve(false), 10000);
});

async function comeBack() {
  const { list, row, rows, file } = read();
  note({ row: null });
  if (!row) return;
  if (list === location.href) {
    for (let more; n_rows() < rows && (more = document.querySelector("#lib-more > a[hx-get]"));) { more.click(); if (!await settled()) return; }
    const folded = file && document.querySelector(`#${CSS.escape(file)} [data-unfold][aria-expanded=false]`);
    if (folded && !rowOf(row)) { folded.click(); if (!await settled()) return; }
  }
  const link = rowOf(row);
  if (!link) return;
  link.focus({ preventScroll: true });
  link.scrollIntoView({ block: "nearest" });
}

function leave(event) {
  const link = event.target.closest("#lib-rows a[href]");
  if (link) note({ list: location.href, rows: n_rows(), file: link.closest("tr").dataset.of ?? null });
}

export function start() {
  if (document.getElementById("sessions")) {
    document.addEventListener("click", leave);
    addEventListener("pageshow", comeBack);
    return;
  }
  if (!session()) return;
  note({ row: session() });
  addEventListener("pageshow", (event) => { if (event.persisted) note({ row: session() }); });
  document.addEventListener("click", (event) => {
    const back = event.target.closest("a[data-list]"), { list } = read();
    if (back && list) back.href = list;
  }, true);
}
