"use strict";
// What every lesson shares: the scene, the controls, and small helpers to draw with.
const scene = JSON.parse(document.getElementById("scene").textContent);
const rounds = scene.rounds;
const SVG = "http://www.w3.org/2000/svg";
const at = (id) => document.getElementById(id);

function make(space, tag, attributes, children) {
  const node = space ? document.createElementNS(SVG, tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) node.setAttribute(name, value);
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}
const html = (tag, attributes, ...children) => make(false, tag, attributes, children);
const svg = (tag, attributes, ...children) => make(true, tag, attributes, children);

const fixed = (x, digits) => (x < 0 ? "−" : "") + Math.abs(x).toFixed(digits);
const signed = (x, digits = 3) => {
  const text = fixed(Math.abs(x) < 0.5 * 10 ** -digits ? 0 : x, digits);
  return text.startsWith("−") ? text : "+" + text;
};
const percent = (x) => (x > 0 && x < 0.005 ? "<1 %" : Math.round(100 * x) + " %");
function fraction(x) { // 1/3 rather than 0.333, where the payoff is that simple
  for (let d = 1; d <= 12; d++) {
    const n = Math.round(Math.abs(x) * d);
    if (Math.abs(Math.abs(x) * d - n) < 2e-5) {
      return n === 0 ? "0" : (x < 0 ? "−" : "+") + (d === 1 ? n : n + "/" + d);
    }
  }
  return signed(x, 2);
}
const largest = (values) => values.reduce((best, v, i) => (v > values[best] ? i : best), 0);
const mixColour = (x, top) => {
  const share = Math.round(72 * Math.min(1, Math.abs(x) / (top || 1)));
  const name = x >= 0 ? "synthetic" : "real";
  return `color-mix(in srgb, var(--${name}) ${share}%, var(--paper))`;
};

function stepper(unit, show) {
  const slider = at("slider"), last = rounds.length;
  let current = 1, timer = null;
  function go(to) {
    current = Math.max(1, Math.min(last, to));
    slider.value = current;
    const text = `${unit} ${current} of ${last}`;
    at("where").textContent = text;
    slider.setAttribute("aria-valuetext", text);
    at("back").disabled = current === 1;
    at("next").disabled = current === last;
    if (current === last) pause();
    document.body.dataset.round = current;
    show(current - 1);
    history.replaceState(null, "", "#round=" + current);
  }
  function pause() {
    clearInterval(timer);
    timer = null;
    at("play").textContent = current === last ? "Again" : "Play";
    at("play").setAttribute("aria-pressed", "false");
  }
  function play() {
    if (timer) return pause();
    if (current === last) go(1);
    at("play").textContent = "Pause";
    at("play").setAttribute("aria-pressed", "true");
    timer = setInterval(() => go(current + 1), Number(at("speed").value));
  }
  const user = (to) => { pause(); go(to); };
  const wanted = () => Number(/round=(\d+)/.exec(location.hash)?.[1] || 1);
  slider.addEventListener("input", () => user(Number(slider.value)));
  at("back").addEventListener("click", () => user(current - 1));
  at("next").addEventListener("click", () => user(current + 1));
  at("play").addEventListener("click", play);
  at("speed").addEventListener("change", () => { if (timer) { pause(); play(); } });
  window.addEventListener("hashchange", () => user(wanted()));
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest("select, summary, [data-keys]")) return;
    const onButton = event.target.closest("button");
    const moves = { ArrowLeft: current - 1, ArrowRight: current + 1, Home: 1, End: last };
    if (event.key in moves && event.target !== slider) user(moves[event.key]);
    else if (event.key === " " && !onButton) play();
    else return;
    event.preventDefault();
  });
  go(wanted());
  return { go: user };
}

// A line plot over rounds that is drawn up to the current one; click it to jump.
function plot(place, { lines = [], band = null, dots = null, level = null, key, name }) {
  const W = widthOf(place), H = 210, L = 46, B = 24, P = 10, n = rounds.length;
  const all = [0, ...lines.flatMap((line) => line.values), ...(band ? [...band.low, ...band.high] : []),
    ...(dots ? dots.values : []), ...(level ? [level.value] : [])];
  let low = Math.min(...all), high = Math.max(...all);
  if (high - low < 1e-9) high = low + 1;
  const step = niceStep((high - low) / 4);
  low = Math.floor(low / step + 1e-9) * step;
  high = Math.ceil(high / step - 1e-9) * step;
  const x = (t) => L + (n === 1 ? 0.5 : t / (n - 1)) * (W - L - P);
  const y = (v) => P + ((high - v) / (high - low)) * (H - B - P);
  const digits = (String(step).split(".")[1] || "").length;
  const frame = svg("g", {});
  for (let v = low; v < high + step / 2; v += step) {
    frame.append(
      svg("line", { x1: L, x2: W - P, y1: y(v), y2: y(v), stroke: "var(--line)",
        "stroke-width": Math.abs(v) < step / 1e6 ? 1.6 : 0.7 }),
      svg("text", { x: L - 6, y: y(v) + 4, "text-anchor": "end" }, fixed(Math.abs(v) < 1e-12 ? 0 : v, digits)));
  }
  const ticks = [...new Set([1, Math.round(n / 4), Math.round(n / 2), Math.round((3 * n) / 4), n])];
  for (const t of ticks.filter((tick) => tick >= 1)) {
    frame.append(svg("text", { x: x(t - 1), y: H - 6, "text-anchor": "middle" }, String(t)));
  }
  if (level) frame.append(svg("line", { x1: L, x2: W - P, y1: y(level.value), y2: y(level.value),
    stroke: `var(--${level.colour})`, "stroke-width": 2, "stroke-dasharray": "5 4" }));
  const moving = svg("g", {});
  const picture = svg("svg", { viewBox: `0 0 ${W} ${H}`, role: "img" }, frame, moving);
  at(place).replaceChildren(picture);
  picture.addEventListener("click", (event) => {
    const box = picture.getBoundingClientRect();
    const t = (((event.clientX - box.left) * W) / box.width - L) / (W - L - P);
    control.go(1 + Math.round(Math.max(0, Math.min(1, t)) * (n - 1)));
  });
  const path = (values, t) => values.slice(0, t + 1).map((v, i) => `${i ? "L" : "M"}${x(i).toFixed(1)} ${y(v).toFixed(1)}`).join("");
  return (t) => {
    const parts = [];
    if (band) {
      const back = band.low.slice(0, t + 1).map((v, i) => `L${x(i).toFixed(1)} ${y(v).toFixed(1)}`).reverse().join("");
      parts.push(svg("path", { d: path(band.high, t) + back + "Z", fill: `var(--${band.colour})`, opacity: 0.22 }));
    }
    if (dots) dots.values.slice(0, t + 1).forEach((v, i) => parts.push(svg("circle",
      { cx: x(i), cy: y(v), r: n > 150 ? 1.6 : 3, fill: `var(--${dots.colour})`, opacity: i === t ? 1 : 0.5 })));
    for (const line of lines) parts.push(
      svg("path", { d: path(line.values, t), fill: "none", stroke: `var(--${line.colour})`, "stroke-width": 2.4,
        "stroke-linejoin": "round" }),
      svg("circle", { cx: x(t), cy: y(line.values[t]), r: 4.5, fill: `var(--${line.colour})` }));
    parts.push(svg("line", { x1: x(t), x2: x(t), y1: P, y2: H - B, stroke: "var(--muted)", "stroke-width": 0.8,
      "stroke-dasharray": "2 3" }));
    moving.replaceChildren(...parts);
    const named = [...lines, ...(dots ? [dots] : []), ...(level ? [level] : [])];
    const shown = (entry) => ("value" in entry ? entry.value : entry.values[t]);
    at(key).replaceChildren(...named.map((entry) => html("span", {},
      html("i", { style: `background:var(--${entry.colour})` }), entry.name + " ",
      html("b", {}, (entry.write || signed)(shown(entry))))));
    picture.setAttribute("aria-label", `${name}, up to ${t + 1} of ${n}: ` +
      named.map((entry) => `${entry.name} ${(entry.write || signed)(shown(entry))}`).join(", "));
  };
}
// Drawings are as wide as their place when the page is opened, so that their text keeps its size.
const widthOf = (place) => Math.max(280, at(place).clientWidth || 520);
function niceStep(rough) {
  const power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 2.5, 5, 10].map((m) => Number((m * power).toPrecision(2))).find((s) => s >= rough * 0.999);
}
