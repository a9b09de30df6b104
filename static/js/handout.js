// The slider of a file that was handed over: every position was worked out when the file was made.
(() => {
  const data = JSON.parse(document.getElementById("handout").textContent);
  const $ = (id) => document.getElementById(id);
  const whole = (n) => n === null || n === undefined ? "unknown" : Math.round(n).toLocaleString("en-US");
  const dollars = (pair) => {
    if (!pair) return "unknown";
    const [low, high] = pair.map((n) => n.toFixed(2));
    return low === high ? `$${low}` : `$${low}–${high}`;
  };
  const counted = (n, one, many) => `${whole(n)} ${n === 1 ? one : many}`;
  const sender = data.positions[data.chosen];
  const slider = $("position");
  const probe = document.createElement("span");
  document.body.append(probe);
  const resolved = (name) => { probe.style.color = `var(${name})`; return getComputedStyle(probe).color; };

  function lost(position) {
    if (position.open && !position.rules && !position.gone) return [`depends on the summary: ${counted(position.open, "thing", "things")}`, false];
    return [`${counted(position.rules, "rule", "rules")}, ${whole(position.gone)} used later`, position.rules + position.gone > 0];
  }

  function cell(row, text, kind) {
    const td = document.createElement("td");
    td.textContent = text;
    if (kind) td.className = kind;
    row.append(td);
  }

  function chart(position) {
    const ink = resolved("--ink-2"), accent = resolved("--accent"), line = resolved("--line"), danger = resolved("--danger");
    const xs = position.context.map((_, k) => k * data.n_each);
    const traces = [
      { x: data.recorded.map((_, k) => k * data.n_each), y: data.recorded, name: "recorded", mode: "lines", line: { color: ink, width: 1.25, shape: "hv" } },
      { x: xs, y: position.context, name: "this setting", mode: "lines", line: { color: accent, width: 2.25, shape: "hv" } },
      { x: position.events.map((e) => e.request), y: position.events.map((e) => e.before), name: "compaction", mode: "markers",
        marker: { symbol: "square", size: 10, color: position.events.map((e) => e.rules + e.gone ? danger : accent) },
        text: position.events.map((e) => `compaction ${e.event + 1}: ${whole(e.before)} → ${whole(e.after)} tokens`), hoverinfo: "text" },
    ];
    const shapes = [];
    const across = (y, dash, width) => ({ type: "line", xref: "paper", x0: 0, x1: 1, y0: y, y1: y, line: { color: width ? accent : ink, dash, width: 1 } });
    if (position.threshold && position.unit === "tokens") shapes.push(across(position.threshold, "dash", 1));
    shapes.push(across(data.session.window, "solid", 0));
    const apart = { ticks: "outside", ticklen: 5, tickcolor: "rgba(0,0,0,0)", gridcolor: line };  // two zeros meet in the corner
    Plotly.react("chart", traces, {
      margin: { l: 72, r: 16, t: 40, b: 40 }, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", font: { color: ink, size: 12 },
      xaxis: { ...apart, title: { text: "request" }, zeroline: false }, yaxis: { ...apart, title: { text: "tokens" }, rangemode: "tozero", tickformat: ",d" },
      shapes, hovermode: "closest", legend: { orientation: "h", y: 1.02, yanchor: "bottom" },
    }, { displayModeBar: false, responsive: true });
  }

  function events(position) {
    const body = $("events");
    body.replaceChildren();
    for (const event of position.events) {
      const row = document.createElement("tr");
      cell(row, whole(event.event + 1), "r");
      cell(row, whole(event.request), "r");
      cell(row, `${whole(event.measure)} ${position.unit}`, "r");
      cell(row, `${whole(event.before)} → ${whole(event.after)}`, "r");
      cell(row, `${whole(event.messages_before)} → ${whole(event.messages_after)}`, "r");
      const [words, bad] = lost(event);
      cell(row, words, bad ? "lost" : "");
      body.append(row);
    }
    $("none").hidden = position.events.length > 0;
    $("more").textContent = position.compactions > position.events.length ? `The first ${whole(position.events.length)} of ${whole(position.compactions)}.` : "";
  }

  function show(at) {
    const position = data.positions[at];
    $("cost").firstChild.textContent = dollars(position.cost);
    $("cost-sent").textContent = at === data.chosen ? "" : `sender's setting: ${dollars(sender.cost)}`;
    $("count").firstChild.textContent = whole(position.compactions);
    $("count-sent").textContent = `recorded: ${whole(data.session.compactions)}`;
    $("peak").firstChild.textContent = whole(position.peak);
    $("peak-sent").textContent = `${Math.round(100 * position.peak / data.session.window)}% of the window`;
    const [words, bad] = lost(position);
    $("lost").firstChild.textContent = words;
    $("lost").classList.toggle("lost", bad);
    if (slider) {
      slider.value = at;
      const value = position.unit === "tokens" || !position.unit ? `${whole(position.threshold)} tokens` : `${whole(position.threshold)} ${position.unit}`;
      $("at").textContent = value;
      slider.setAttribute("aria-valuetext", value);
      $("back").disabled = at === data.chosen;
      $("own").hidden = at === data.chosen;
    }
    chart(position);
    events(position);
  }

  if (slider) {
    slider.max = data.positions.length - 1;
    slider.addEventListener("input", () => show(Number(slider.value)));
    $("back").addEventListener("click", () => show(data.chosen));
  }
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => show(slider ? Number(slider.value) : data.chosen));
  // as wide as the paper, and back
  matchMedia("print").addEventListener("change", (print) =>
    Plotly.relayout("chart", print.matches ? { width: $("chart").clientWidth } : { width: null, autosize: true }));
  show(data.chosen);
})();
