// Where a table is too wide for its box, or the screen too narrow (data-stack: from that width down), its rows are blocks:
// each cell is told the name of its column, for the words before it.  Without a script such a table scrolls sideways.
const STACK = 700;

function namesOf(head) {
  const grid = [];
  [...head.rows].forEach((row, down) => {
    let at = 0;
    for (const cell of row.cells) {
      const line = (n) => (grid[n] ||= []);
      while (line(down)[at] !== undefined) at += 1;
      const told = cell.querySelector(".visually-hidden") ? "" : cell.textContent.trim();
      for (let n = down; n < down + cell.rowSpan; n += 1) for (let k = 0; k < cell.colSpan; k += 1) line(n)[at + k] = told;
      at += cell.colSpan;
    }
  });
  return grid.at(-1) || [];
}

const lower = (words) => (/^[A-Z][a-z ]/.test(words) ? words[0].toLowerCase() + words.slice(1) : words);

const watch = new ResizeObserver(stack);  // also a dialog that opens, a fold that unfolds

function tell() {
  for (const table of document.querySelectorAll("table.tbl-rows")) {
    watch.observe(table.parentElement);
    if (!table.tHead) continue;
    const names = namesOf(table.tHead);
    for (const row of table.querySelectorAll("tbody tr, tfoot tr")) {
      let at = 0;
      for (const cell of row.cells) {
        if (names[at] && !cell.classList.contains("grow")) cell.dataset.th = lower(names[at]);
        at += cell.colSpan;
      }
    }
  }
  stack();
}

function stack() {
  for (const table of document.querySelectorAll("table.tbl-rows")) {
    const narrow = matchMedia(`(max-width: ${table.dataset.stack || STACK}px)`).matches;
    table.classList.remove("told");
    table.classList.toggle("told", narrow || table.offsetWidth > table.parentElement.clientWidth + 1);
  }
}

export function start() {
  tell();
  document.addEventListener("htmx:afterSettle", tell);
}
