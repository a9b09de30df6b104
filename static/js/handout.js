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
    return [`${counted(position.rules, "rule", "rules")}, ${whole(position.gone)} used later`, position.broken > 0];
  }

  function cell(row, text, kind) {
    const td = document.createElement("td");
    td.textContent = text;
    if (kind) td.className = kind;
    row.append(td);
  }

  const thousands = (n) => n >= 1e6 ? `${n / 1e6}M` : n >= 1e3 ? `${n / 1e3}K` : `${n}`;
  function ticks(top) {
    const rough = top / 5, power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 2.5, 5, 10].map((n) => n * power).find((n) => n >= rough);
    return Array.from({ length: Math.floor(top / step) + 1 }, (_, i) => i * step);
  }
  const peak = Math.max(...data.recorded);

  function chart(position) {
    const [ink, accent, area, line, paper, strong] = ["--chart-recorded", "--chart-line", "--chart-area", "--chart-grid", "--chart-paper", "--chart-strong"].map(resolved);
    const narrow = $("chart").clientWidth < 560;
    const xs = position.context.map((_, k) => k * data.n_each);
    const top = Math.max(data.session.window, peak, position.peak) * 1.15;
    const traces = [
      { x: xs, y: position.context, name: "this setting", mode: "lines", fill: "tozeroy", fillcolor: area, line: { color: accent, width: 2.25, shape: "hv" } },
      { x: data.recorded.map((_, k) => k * data.n_each), y: data.recorded, name: "as recorded", mode: "lines", line: { color: ink, width: 1.25, shape: "hv" } },
      { x: position.events.map((e) => e.request), y: position.events.map((e) => Math.min(e.before + 0.07 * top, 0.97 * top)), name: "compactions", mode: "markers+text",
        marker: { size: 17, color: accent }, text: position.events.map((e) => whole(e.event + 1)), textfont: { size: 11, color: paper }, cliponaxis: false,
        customdata: position.events.map((e) => `compaction ${e.event + 1}: ${whole(e.before)} → ${whole(e.after)} tokens`), hovertemplate: "%{customdata}<extra></extra>" },
    ];
    const across = (y, color, dash) => ({ type: "line", xref: "paper", x0: 0, x1: 1, y0: y, y1: y, line: { color, dash, width: 1 } });
    const named = (text, x, y, color, anchor) => ({ text, x, y, xref: anchor ? "x" : "paper", showarrow: false, xanchor: anchor ?? "left", yanchor: "bottom", font: { color, size: 12 } });
    const shapes = [across(data.session.window, strong, "solid")];
    // Where the recorded peak stands in one half, the names of the lines stand in the other.
    const at = data.recorded.indexOf(peak), side = at < data.recorded.length / 2 ? 1 : 0;
    const lineNamed = (text, y, color) => ({ ...named(text, side, y, color), xanchor: side ? "right" : "left" });
    const annotations = [lineNamed(`window ${whole(data.session.window)}`, data.session.window, ink)];
    if (position.threshold && position.unit === "tokens") {
      shapes.push(across(position.threshold, accent, "dash"));
      annotations.push(lineNamed(whole(position.threshold), position.threshold, accent));
    }
    if (!narrow && peak > 0.2 * top) annotations.push({ ...named(`as recorded, ${whole(peak)}`, at * data.n_each, peak, ink, side ? "left" : "right"), bgcolor: paper });
    const apart = { ticks: "outside", ticklen: 5, tickcolor: "rgba(0,0,0,0)", gridcolor: line };  // two zeros meet in the corner
    Plotly.react("chart", traces, {
      margin: { l: 48, r: 16, t: 8, b: 48 }, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", font: { family: "Inter, system-ui, sans-serif", color: ink, size: 12 },
      xaxis: { ...apart, showgrid: false, zeroline: false, title: { text: "request", standoff: 8 } },
      yaxis: { ...apart, range: [0, top], tickvals: ticks(top), ticktext: ticks(top).map(thousands), zerolinecolor: line },
      shapes, annotations, hovermode: "closest", showlegend: false,
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
    $("count-sent").textContent = `${whole(data.session.compactions)} as recorded`;
    $("peak").firstChild.textContent = whole(position.peak);
    $("peak-sent").textContent = `${whole(peak)} as recorded`;
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
