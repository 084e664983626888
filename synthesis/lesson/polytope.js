// Two bits: a tetrahedron to turn, the tables, weights and prices, misfit and gap.
const names = scene.records;
const share = (v) => fixed(100 * v, 1);

// ---------------------------------------------------------------- the tetrahedron
function buildSolid() {
  const W = 440, H = 360, scale = 215, corners = scene.corners;
  const edges = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]], faces = [[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]];
  const middle = [0, 1, 2].map((k) => corners.reduce((sum, c) => sum + c[k], 0) / 4);
  let turn = -0.62, tilt = 0.42, now = 0;
  function project(point) { // P(both) points up; turned about it, then tilted towards the reader
    const [x, y, z] = point.map((v, k) => v - middle[k]);
    const across = x * Math.cos(turn) - y * Math.sin(turn), deep = x * Math.sin(turn) + y * Math.cos(turn);
    return [W / 2 + scale * across, H / 2 + 12 - scale * (z * Math.cos(tilt) - deep * Math.sin(tilt)),
      deep * Math.cos(tilt) + z * Math.sin(tilt)];
  }
  const picture = svg("svg", { viewBox: `0 0 ${W} ${H}`, role: "img" });
  const line = (a, b, style) => svg("line", { x1: a[0], y1: a[1], x2: b[0], y2: b[1], ...style });
  const ball = (at, r, colour, title) => svg("circle", { cx: at[0], cy: at[1], r, fill: `var(--${colour})`,
    stroke: "var(--paper)", "stroke-width": 2 }, svg("title", {}, title));
  function draw() {
    const flat = corners.map(project), step = rounds[now], used = step.weights.map((w) => w > 0);
    const parts = faces.map((face) => ({ face, deep: face.reduce((sum, i) => sum + flat[i][2], 0) }))
      .sort((a, b) => b.deep - a.deep)
      .map(({ face }) => svg("polygon", { points: face.map((i) => flat[i].slice(0, 2).join(",")).join(" "),
        fill: "var(--real)", opacity: face.every((i) => used[i]) ? 0.2 : 0.07 }));
    for (const [i, j] of edges) parts.push(line(flat[i], flat[j], { stroke: used[i] && used[j] ? "var(--real)" : "var(--muted)",
      "stroke-width": used[i] && used[j] ? 3 : 1.2 }));
    const here = project(step.point), wish = project(scene.free.point);
    parts.push(line(here, wish, { stroke: "var(--rose)", "stroke-width": 1.8, "stroke-dasharray": "4 4" }));
    if (step.entering !== null) {
      const to = flat[step.entering], stop = [0, 1].map((k) => here[k] + 0.86 * (to[k] - here[k]));
      parts.push(line(here, stop, { stroke: "var(--synthetic)", "stroke-width": 2.5, "marker-end": "url(#tip)" }));
    }
    const path = rounds.slice(0, now + 1).map((r) => project(r.point));
    parts.push(svg("path", { d: path.map((p, i) => `${i ? "L" : "M"}${p[0]} ${p[1]}`).join(""), fill: "none", stroke: "var(--ink)",
      "stroke-width": 1.3, opacity: 0.6 }));
    corners.forEach((_, i) => {
      const [x, y] = flat[i], below = y > H / 2;
      parts.push(svg("circle", { cx: x, cy: y, r: used[i] ? 7 : 4.5, fill: used[i] ? "var(--real)" : "var(--paper)",
        stroke: i === step.entering ? "var(--synthetic)" : "var(--real)", "stroke-width": i === step.entering ? 4 : 2 }),
      svg("text", { class: "strong", x, y: y + (below ? 24 : -14), "text-anchor": "middle" }, names[i]));
    });
    parts.push(ball(project(scene.data.point), 6, "good", "the data"), ball(wish, 6.5, "rose", "what the noise asks for"),
      ball(here, 7.5, "real", "projection so far"));
    picture.replaceChildren(svg("defs", {}, svg("marker", { id: "tip", viewBox: "0 0 8 8", refX: 6, refY: 4, markerWidth: 5, markerHeight: 5,
      orient: "auto" }, svg("path", { d: "M0 0L8 4L0 8Z", fill: "var(--synthetic)" }))), ...parts);
    picture.setAttribute("aria-label", `tetrahedron of distributions; records in use: ${names.filter((_, i) => used[i]).join(", ")}`);
  }
  const place = at("solid");
  place.append(picture);
  let from = null;
  place.addEventListener("pointerdown", (event) => { from = [event.clientX, event.clientY]; place.setPointerCapture(event.pointerId); });
  place.addEventListener("pointerup", () => { from = null; });
  place.addEventListener("pointermove", (event) => {
    if (!from) return;
    move((event.clientX - from[0]) / 110, (event.clientY - from[1]) / 160);
    from = [event.clientX, event.clientY];
  });
  place.addEventListener("keydown", (event) => {
    const turns = { ArrowLeft: [-0.15, 0], ArrowRight: [0.15, 0], ArrowUp: [0, -0.1], ArrowDown: [0, 0.1] }[event.key];
    if (!turns) return;
    move(...turns);
    event.preventDefault();
  });
  function move(across, up) {
    turn -= across;
    tilt = Math.max(-1.4, Math.min(1.4, tilt + up));
    draw();
  }
  return (t) => { now = t; draw(); };
}

// ---------------------------------------------------------------- tables, weights, prices
function tables(t) {
  const [p00, p01, p10, p11] = rounds[t].weights;
  const fits = [[p00 + p01, p10 + p11], [p00 + p10, p01 + p11], [p00, p01, p10, p11]];
  const total = scene.total;
  const rows = [["left = 0", 0, 0], ["left = 1", 0, 1], ["right = 0", 1, 0], ["right = 1", 1, 1],
    ...names.map((name, i) => [`left, right = ${name}`, 2, i])];
  at("tables").replaceChildren(html("div", { class: "rows records" },
    html("span", { class: "head" }, ""), html("span", { class: "head n" }, "measured"), html("span", { class: "head n" }, "fitted"),
    html("span", { class: "head n" }, "off"), html("span", { class: "head" }),
    ...rows.flatMap(([name, table, i]) => {
      const measured = scene.measured[table][i] / total, off = fits[table][i] - measured, width = Math.min(50, Math.abs(off) * 150);
      return [html("span", { class: "name" }, name),
        html("span", { class: "n" + (measured < 0 ? " mark" : "") }, share(measured)), html("span", { class: "n on" }, share(fits[table][i])),
        html("span", { class: "n" }, signed(100 * off, 1)),
        html("span", { class: "bar" }, html("i", { style: `left:${off < 0 ? 50 - width : 50}%;width:${width}%;background:var(--violet)` }))];
    })));
  const sums = scene.measured.map((table) => table.reduce((a, b) => a + b, 0));
  at("tables-words").textContent = `The measured tables add up to ${sums.map((s) => fixed(s, 0)).join(", ")} records; ` +
    `weighed by their noise, ${fixed(total, 1)}. A fitted table has no negative share, and all three agree.`;
}
function bars(place, groups, colours, write) {
  const all = groups.flat(), low = Math.min(0, ...all), high = Math.max(...all, low + 1e-9);
  const x = (v) => (100 * (v - low)) / (high - low);
  at(place).replaceChildren(html("div", { class: "rows outcome" }, ...names.flatMap((name, i) => [
    html("span", { class: "name on" }, name),
    html("span", { class: groups.length > 1 ? "bar pair" : "bar" }, ...groups.map((values, k) => html("i", {
      style: `left:${x(Math.min(0, values[i]))}%;width:${Math.max(0.4, x(Math.max(0, values[i])) - x(Math.min(0, values[i])))}%;` +
        `background:var(--${colours(k, values[i])})` }))),
    html("span", { class: "n" }, groups.map((values) => write(values[i])).join(" → "))])));
}
function weights(t) {
  bars("weights", [scene.free.weights, rounds[t].weights], (k, v) => (k ? "real" : v < 0 ? "rose" : "majority"), (v) => share(v) + " %");
}
function prices(t) {
  bars("prices", [rounds[t].prices], (_, v) => (v < -1e-9 ? "synthetic" : "majority"), (v) => signed(v, 2));
}
function tell(t) {
  at("step-title").textContent = t === 0 ? "Start at one record" : t === rounds.length - 1 ? "The projection" : "One record more";
  const text = rounds[t].words;
  at("step-words").textContent = text[0].toUpperCase() + text.slice(1);
}

const views = [tell, buildSolid(), tables, weights, prices,
  plot("misfit-plot", { key: "misfit-key", name: "Misfit by step", lines: [
    { values: rounds.map((r) => r.objective), colour: "real", name: "misfit", write: (v) => fixed(v, 3) }] }),
  plot("gap-plot", { key: "gap-key", name: "Proven gap by step", lines: [
    { values: rounds.map((r) => r.gap), colour: "violet", name: "gap at most", write: (v) => fixed(v, 3) }] })];
const control = stepper("Step", (t) => views.forEach((view) => view(t)));
