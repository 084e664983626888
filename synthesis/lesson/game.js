// One game: the board, the landscape, why each player moved, plots, the outcome.
const board = scene.board, last = rounds.length - 1;
const released = rounds.map((r) => r.released), exact = rounds.map((r) => r.exact);
const soFar = (plays) => { // running averages of mixes
  const sums = plays[0].map(() => 0);
  return plays.map((play, t) => play.map((v, i) => (sums[i] += v) / (t + 1)));
};
const dataMix = board ? soFar(released.map((r) => r.data)) : null;
const queryMix = board ? soFar(released.map((r) => r.query)) : null;
const handedOut = board ? released.map((r, t) => r.after || dataMix[t]) : null;
const against = (p) => board.payoffs[0].map((_, j) => p.reduce((sum, v, i) => sum + v * board.payoffs[i][j], 0));
const paying = (q) => board.payoffs.map((row) => row.reduce((sum, v, j) => sum + v * q[j], 0));
const count = (records) => records.toLocaleString("en", { maximumSignificantDigits: 3 }).replace("-", "−");

// ---------------------------------------------------------------- the story
function tell(t) {
  const words = released[t].words;
  for (const [id, what, why] of [["data", words.data, words.data_why], ["query", words.query, words.query_why]]) {
    at("move-" + id).querySelector(".what").textContent = what;
    at("move-" + id).querySelector(".why").textContent = why;
  }
  at("payoff").textContent = signed(exact[t].payoff);
  at("average").textContent = signed(exact[t].mean_payoff);
  at("gap").textContent = fixed(exact[t].gap, 3);
  at("error").textContent = `${fixed(exact[t].error, 3)} = ${count(exact[t].error * scene.rows)} records`;
  at("epsilon").textContent = scene.noise
    ? `${fixed(released[t].epsilon, 3)} of ${scene.asked.epsilon}` : "not private";
  at("spent").style.width = scene.noise ? `${(100 * released[t].epsilon) / scene.asked.epsilon}%` : "0";
}

// ---------------------------------------------------------------- the board
function buildBoard() {
  const size = board.queries.length, top = Math.max(...board.payoffs.flat().map(Math.abs));
  const columns = board.payoffs[0].map((_, j) => j);
  const bars = columns.map((j) => {
    const fill = html("i", {}), tick = html("u", { style: `bottom:calc(${100 * board.query_mix[j]}% - 1px)` });
    return { fill, node: html("td", {}, html("div", { class: "vbar", title: "share of this query so far" }, fill, tick)) };
  });
  const asked = columns.map(() => html("td", { class: "asked" }));
  // Columns are drawn in pairs: a query and its negation side by side.
  const order = board.queries.flatMap((_, j) => [j, j + size]);
  const head = html("thead", {},
    html("tr", {}, html("th", { class: "label" }, "query mix so far"), ...order.map((j) => bars[j].node)),
    html("tr", {}, html("td", {}), ...order.map((j) => asked[j])),
    html("tr", {}, html("td", {}), ...board.queries.map((name) => html("th", { colspan: 2, scope: "colgroup" }, name)),
      html("th", { class: "label" }, "data mix so far"), html("th", { class: "label" }, "pays against queries so far")),
    html("tr", {}, html("td", {}), ...order.map((j) => html("th", { class: "is", scope: "col" }, j < size ? "is" : "is not"))));
  const rows = board.records.map((name, i) => {
    const cells = columns.map((j) => html("td", { class: "cell", title: signed(board.payoffs[i][j], 4),
      style: `background:${mixColour(board.payoffs[i][j], top)}` }, fraction(board.payoffs[i][j])));
    const fill = html("i", {}), tick = html("u", { style: `left:calc(${100 * board.data_mix[i]}% - 1px)` });
    const times = html("span", { class: "times" }), pays = html("td", { class: "sum" });
    const row = html("tr", {}, html("th", { scope: "row" }, name, " ", times), ...order.map((j) => cells[j]),
      html("td", {}, html("div", { class: "hbar", title: "share of this record so far" }, fill, tick)), pays);
    return { row, cells, fill, times, pays };
  });
  const errors = columns.map(() => html("td", { class: "sum" }));
  at("board").append(head, html("tbody", {}, ...rows.map((r) => r.row)),
    html("tfoot", {}, html("tr", {}, html("th", { class: "label" }, "error of the data mix so far"), ...order.map((j) => errors[j]))));
  return (t) => {
    const now = released[t], p = dataMix[t], q = queryMix[t], off = against(p), pays = paying(q);
    const worst = largest(off), cheapest = largest(pays.map((v) => -v));
    columns.forEach((j) => {
      bars[j].fill.style.height = `${100 * q[j]}%`;
      asked[j].textContent = now.query[j] > 0 ? "▼" + (now.query[j] < 1 ? " " + percent(now.query[j]) : "") : "";
      errors[j].textContent = signed(off[j], 2);
      errors[j].classList.toggle("best", j === worst);
    });
    rows.forEach((r, i) => {
      r.fill.style.width = `${100 * p[i]}%`;
      r.times.textContent = now.data[i] > 0 ? percent(now.data[i]) : "";
      r.row.classList.toggle("now", now.data[i] > 0);
      r.pays.textContent = signed(pays[i], 2);
      r.pays.classList.toggle("best", i === cheapest);
      r.cells.forEach((cell, j) => cell.classList.toggle("hit", now.data[i] > 0 && now.query[j] > 0));
    });
    at("board-words").textContent =
      `Framed: what met in this round. The worst query earns ${signed(off[worst])} against the data mix, the best ` +
      `record pays ${signed(pays[cheapest])} against the query mix. Their difference is the duality gap, ` +
      `${fixed(off[worst] - pays[cheapest], 3)}; the value of the game, ${signed(scene.value)}, lies between them.`;
  };
}

// ---------------------------------------------------------------- the landscape of mixes
function buildLandscape() {
  const n = board.records.length;
  if (n === 2) return buildValley();
  if (n === 3) return buildTriangle();
  at("landscape-card").remove();
  at("board-card").classList.remove("two-thirds");
  return () => {};
}
function buildValley() { // two records: the error of every mix as a curve
  const W = Math.min(420, widthOf("landscape")), H = 270, L = 34, B = 40, P = 14, steps = 200;
  const error = (share) => Math.max(...against([share, 1 - share]));
  const top = Math.max(error(0), error(1));
  const x = (share) => L + share * (W - L - P), y = (v) => P + (1 - v / top) * (H - B - P);
  const curve = Array.from({ length: steps + 1 }, (_, k) => k / steps);
  const dot = svg("circle", { r: 7, fill: "var(--real)", stroke: "var(--paper)", "stroke-width": 2 });
  const now = svg("circle", { r: 4, fill: "none", stroke: "var(--real)", "stroke-width": 2 });
  const label = svg("text", { class: "strong", "text-anchor": "middle" });
  at("landscape-title").textContent = "Error of every mix";
  at("landscape").append(svg("svg", { viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": "error of every mix of two records" },
    svg("line", { x1: L, x2: W - P, y1: y(0), y2: y(0), stroke: "var(--line)" }),
    svg("path", { d: curve.map((v, i) => `${i ? "L" : "M"}${x(v)} ${y(error(v))}`).join(""), fill: "none",
      stroke: "var(--synthetic)", "stroke-width": 2.5 }),
    svg("line", { x1: x(board.data_mix[0]), x2: x(board.data_mix[0]), y1: y(scene.value), y2: y(top), stroke: "var(--good)",
      "stroke-dasharray": "5 4", "stroke-width": 1.6 }),
    svg("text", { x: x(0), y: H - 22, "text-anchor": "middle" }, "0 %"),
    svg("text", { x: x(0.5), y: H - 22, "text-anchor": "middle" }, "50 %"),
    svg("text", { x: x(1), y: H - 22, "text-anchor": "end" }, "100 %"),
    svg("text", { x: x(0.5), y: H - 5, "text-anchor": "middle" }, `share of “${board.records[0]}” in the mix`),
    now, dot, label));
  return (t) => {
    const share = handedOut[t][0];
    dot.setAttribute("cx", x(share)); dot.setAttribute("cy", y(error(share)));
    now.setAttribute("cx", x(released[t].data[0])); now.setAttribute("cy", y(0));
    label.setAttribute("x", Math.min(W - 40, Math.max(60, x(share)))); label.setAttribute("y", y(error(share)) - 13);
    label.textContent = `${percent(share)}, error ${fixed(error(share), 3)}`;
    at("landscape-words").textContent = "Curve: what the worst query earns against each mix. Dot: the mix so far. " +
      "Ring: this round's records. Dashed: an optimal mix.";
  };
}
function buildTriangle() { // three records: a mix is a point of a triangle, coloured by its error
  const W = 360, H = 330, corners = [[180, 34], [24, 292], [336, 292]], cells = 44, BANDS = 8; // bands of equal error show as contours
  const place = (p) => [0, 1].map((k) => p.reduce((sum, v, i) => sum + v * corners[i][k], 0));
  const error = (p) => Math.max(...against(p));
  const top = Math.max(...[0, 1, 2].map((i) => error([0, 1, 2].map((k) => (k === i ? 1 : 0)))));
  const tiles = svg("g", { "shape-rendering": "crispEdges" });
  const tile = (points) => {
    const middle = [0, 1, 2].map((k) => points.reduce((s, p) => s + p[k], 0) / 3 / cells);
    const share = Math.ceil((BANDS * (error(middle) - scene.value)) / (top - scene.value)) / BANDS;
    tiles.append(svg("polygon", { points: points.map((p) => place(p.map((v) => v / cells)).join(",")).join(" "),
      fill: `color-mix(in srgb, var(--synthetic) ${Math.round(4 + 70 * share)}%, var(--paper))` }));
  };
  for (let i = 0; i < cells; i++) for (let j = 0; j < cells - i; j++) {
    const k = cells - 1 - i - j;
    tile([[i + 1, j, k], [i, j + 1, k], [i, j, k + 1]]);
    if (k > 0) tile([[i + 1, j + 1, k - 1], [i, j + 1, k], [i + 1, j, k]]);
  }
  const trail = svg("path", { fill: "none", stroke: "var(--ink)", "stroke-width": 1.4, opacity: 0.65, "stroke-linejoin": "round" });
  const dot = svg("circle", { r: 7, fill: "var(--real)", stroke: "var(--paper)", "stroke-width": 2 });
  const now = svg("circle", { r: 5, fill: "none", stroke: "var(--real)", "stroke-width": 2.5 });
  const [ox, oy] = place(board.data_mix);
  const anchors = ["middle", "start", "end"], shifts = [[0, -12], [-18, 22], [18, 22]];
  at("landscape-title").textContent = "All mixes of three records";
  at("landscape").append(svg("svg", { viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": "triangle of all mixes of three records" },
    tiles, trail,
    svg("path", { d: `M${ox - 6} ${oy}H${ox + 6}M${ox} ${oy - 6}V${oy + 6}`, stroke: "var(--good)", "stroke-width": 3 }),
    now, dot, ...board.records.map((name, i) => svg("text", { class: "strong", x: corners[i][0] + shifts[i][0],
      y: corners[i][1] + shifts[i][1], "text-anchor": anchors[i] }, name))));
  const path = handedOut.map(place);
  return (t) => {
    trail.setAttribute("d", path.slice(0, t + 1).map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join(""));
    dot.setAttribute("cx", path[t][0]); dot.setAttribute("cy", path[t][1]);
    const [nx, ny] = place(released[t].data);
    now.setAttribute("cx", nx); now.setAttribute("cy", ny);
    at("landscape-words").textContent = "Each point is a mix, each corner a record. The paler, the smaller its error. " +
      "Dot and trail: the mix so far. Ring: this round. Cross: an optimal mix.";
  };
}

// ---------------------------------------------------------------- why the players moved so
function candidates(t) {
  const listed = exact[t].candidates, top = Math.max(1e-9, ...listed.map((c) => Math.abs(c.score)));
  const likely = Math.max(...listed.map((c) => c.chance));
  const rows = listed.flatMap((c) => {
    const on = c.asked ? " on" : "", width = (50 * Math.abs(c.score)) / top;
    return [
      html("span", { class: "name" + on }, c.query),
      html("span", { class: "mark" }, c.asked ? (c.asked > 1 ? `×${c.asked}` : "▶") : ""),
      html("span", { class: "bar score" }, html("i", { style: `left:${c.score < 0 ? 50 - width : 50}%;width:${width}%;` +
        `background:var(--${c.score < 0 ? "majority" : "violet"})` })),
      html("span", { class: "n" + on }, count(c.score)),
      html("span", { class: "bar" }, html("i", { style: `left:0;width:${(100 * c.chance) / likely}%;background:var(--synthetic)` })),
      html("span", { class: "n" + on }, percent(c.chance)),
    ];
  });
  at("candidates").replaceChildren(listed.length ? html("div", { class: "rows candidates" },
    html("span", { class: "head" }, "query"), html("span", {}), html("span", { class: "head" }), html("span", { class: "head n" }, "records off"),
    html("span", { class: "head" }), html("span", { class: "head n" }, "chance"), ...rows)
    : html("p", {}, released[t].words.query_why));
  const what = scene.game.query_first ? "all records so far" : "this round’s records";
  at("why-query-words").textContent = !scene.noise
    ? `How far off each query is on ${released[0].after ? "the mix" : what}. Without noise the worst one is taken.`
    : `How far off each query is on ${released[0].after ? "the mix" : what} (+: too few), and the chance that this gives it. ` +
      "Marked: what was drawn.";
}
let sample = 0;
function showSample(t, costs) {
  if (!costs.costs) sample = 0;
  sample = Math.min(sample, costs.chosen.length - 1);
  const cost = costs.costs ? costs.costs[sample] : board.records.map(() => 0);
  const total = costs.gains.map((g, i) => g - cost[i]);
  const low = Math.min(0, ...total), high = Math.max(...total, low + 1e-9);
  at("samples").replaceChildren(...(costs.costs ? costs.chosen.map((_, k) => {
    const button = html("button", { type: "button", "aria-pressed": String(k === sample) }, `record ${k + 1}`);
    button.addEventListener("click", () => { sample = k; showSample(t, costs); });
    return button;
  }) : []));
  at("costs").replaceChildren(html("div", { class: "rows records" },
    html("span", { class: "head" }, "record"), html("span", { class: "head n" }, "queries it satisfies"),
    html("span", { class: "head n" }, costs.costs ? "− random cost" : ""), html("span", { class: "head n" }, costs.costs ? "= score" : ""),
    html("span", {}),
    ...board.records.flatMap((name, i) => {
      const on = i === costs.chosen[sample] ? " on" : "";
      return [html("span", { class: "name" + on }, name), html("span", { class: "n" + on }, fixed(costs.gains[i], 0)),
        html("span", { class: "n" + on }, costs.costs ? fixed(cost[i], 2) : ""),
        html("span", { class: "n" + on }, costs.costs ? fixed(total[i], 2) : ""),
        html("span", { class: "bar" }, html("i", { style: `left:0;width:${(100 * (total[i] - low)) / (high - low)}%;` +
          `background:var(--${on ? "real" : "majority"})` }))];
    })));
}
function whyData(t) {
  const costs = released[t].costs, after = released[t].after;
  at("why-data-title").textContent = after ? "How does the mix change?" : "Why these records?";
  if (costs) {
    at("why-data-words").textContent = costs.costs
      ? "Each record played is the best of all against the queries asked so far, after random costs of its own."
      : "The record that satisfies the most of the drawn queries is played; ties are broken at random.";
    showSample(t, costs);
  } else if (after) {
    at("why-data-words").textContent = "Weights of records that satisfy the measured query are multiplied by a common factor, " +
      "until the mix gives the measured answer. Upper bars: before; lower bars: after.";
    at("costs").replaceChildren(pairs(board.records, released[t].data, after, "majority", "real", (v) => percent(v)));
  }
}
function pairs(names, first, second, colour, other, write) {
  const top = Math.max(...first, ...second, 1e-9);
  const bar = (v, name) => html("i", { style: `width:${(100 * Math.max(0, v)) / top}%;background:var(--${name})` });
  return html("div", { class: "rows outcome" }, ...names.flatMap((name, i) => [
    html("span", { class: "name" }, name), html("span", { class: "bar pair" }, bar(first[i], colour), bar(second[i], other)),
    html("span", { class: "n" }, `${write(first[i])} → ${write(second[i])}`)]));
}

// ---------------------------------------------------------------- outcome and errors
function outcome(t) {
  const off = against(handedOut[t]);
  const synthetic = board.truth.map((v, j) => v - off[j]);
  const write = (v) => count(v * scene.rows);
  at("outcome").replaceChildren(pairs(board.queries, board.truth, synthetic, "real", "synthetic", write));
}
function buildHeat() {
  const names = scene.marginals, n = rounds.length, W = widthOf("heat"), row = names.length > 12 ? 14 : 22;
  const shown = names.map((name) => (name.length > 24 ? name.slice(0, 23) + "…" : name));
  const L = Math.min(190, 12 + 6.6 * Math.max(...shown.map((name) => name.length))), H = row * names.length + 24;
  const top = Math.max(...exact.flatMap((e) => e.errors), 1e-9), wide = (W - L) / n;
  const cells = svg("g", { "shape-rendering": "crispEdges" });
  exact.forEach((e, t) => e.errors.forEach((v, b) => cells.append(svg("rect", { x: L + t * wide, y: b * row, width: wide + 0.3,
    height: row - 1.5, fill: `color-mix(in srgb, var(--synthetic) ${Math.round(4 + 88 * (v / top))}%, var(--paper))` },
    svg("title", {}, `${names[b]}, round ${t + 1}: ${fixed(v, 3)}`)))));
  const cover = svg("rect", { y: -1, height: row * names.length + 1, fill: "var(--paper)", opacity: 0.82 });
  const mark = svg("rect", { y: -1, height: row * names.length + 1, width: Math.max(wide, 2), fill: "none", stroke: "var(--ink)", "stroke-width": 1.5 });
  at("heat").append(svg("svg", { viewBox: `0 -2 ${W} ${H}`, role: "img", "aria-label": "largest error by marginal and round" }, cells, cover, mark,
    ...shown.map((name, b) => svg("text", { x: L - 6, y: b * row + row / 2 + 3.5, "text-anchor": "end" }, name)),
    svg("text", { x: L, y: H - 7 }, "round 1"), svg("text", { x: W, y: H - 7, "text-anchor": "end" }, `round ${n}`)));
  return (t) => {
    cover.setAttribute("x", L + (t + 1) * wide);
    cover.setAttribute("width", Math.max(0, W - L - (t + 1) * wide) + 1);
    mark.setAttribute("x", L + t * wide);
  };
}

// ---------------------------------------------------------------- plots
const pick = (f) => exact.map(f), value = scene.value === null ? null : { value: scene.value, colour: "good", name: "value" };
const views = [tell, candidates, buildHeat()];
views.push(plot("payoff-plot", { key: "payoff-key", name: "Payoff by round", level: value,
  dots: { values: pick((e) => e.payoff), colour: "synthetic", name: "payoff of the round" },
  lines: [{ values: pick((e) => e.mean_payoff), colour: "real", name: "mean" }] }));
const low = pick((e) => e.mean_payoff - e.data_regret), high = pick((e) => e.mean_payoff + e.query_regret);
views.push(plot("squeeze-plot", { key: "squeeze-key", name: "Bounds on the value", level: value, band: { low, high, colour: "violet" },
  lines: [{ values: high, colour: "synthetic", name: "worst query earns" }, { values: low, colour: "real", name: "best record pays" }] }));
views.push(plot("regret-plot", { key: "regret-key", name: "Regrets", lines: [
  { values: pick((e) => e.data_regret), colour: "real", name: "data player" },
  { values: pick((e) => e.query_regret), colour: "synthetic", name: "query player" },
  { values: pick((e) => e.gap), colour: "violet", name: "gap, their sum" }] }));
views.push(plot("epsilon-plot", { key: "epsilon-key", name: "Epsilon spent",
  level: scene.noise ? { value: scene.asked.epsilon, colour: "rose", name: "asked", write: (v) => String(v) } : null,
  lines: [{ values: released.map((r) => r.epsilon), colour: "gold", name: scene.noise ? "spent" : "spent (no noise: nothing is private)",
    write: (v) => fixed(v, 3) }] }));
if (board) views.push(buildBoard(), buildLandscape(), whyData, outcome);
const control = stepper("Round", (t) => views.forEach((view) => view(t)));
