"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);

/** Return an element with properties and children; texts are never markup. */
function el(name, props = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(props)) {
    if (key === "class") made.className = value;
    else if (key.includes("-")) made.setAttribute(key, value);
    else made[key] = value;
  }
  made.append(...children);
  return made;
}

/** Return an element of SVG. */
function svg(name, props = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(props)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function bytes(n) {
  for (const unit of ["bytes", "KiB", "MiB", "GiB"]) {
    if (n < 1024 || unit === "GiB") return `${unit === "bytes" ? n : n.toFixed(1)} ${unit}`;
    n /= 1024;
  }
}

function seconds(s) {
  for (const [unit, factor] of [["s", 1], ["ms", 1e3], ["us", 1e6]]) {
    if (s * factor >= 1) return `${(s * factor).toPrecision(3)} ${unit}`;
  }
  return `${Math.round(s * 1e9)} ns`;
}

function count(n) {
  for (const [unit, factor] of [["T", 1e12], ["G", 1e9], ["M", 1e6]]) {
    if (n >= factor) return `${(n / factor).toFixed(2)} ${unit}`;
  }
  return String(n);
}

function definitions(rows) {
  const made = el("dl");
  for (const [key, value] of rows) made.append(el("dt", {}, key), el("dd", {}, String(value)));
  return made;
}

/** Return a table; columns named in `numbers` are aligned to the right. */
function table(head, rows, numbers = []) {
  const cell = (kind, value, n) => {
    const made = el(kind, numbers.includes(n) ? { class: "n" } : {});
    made.append(value instanceof Node ? value : String(value));
    return made;
  };
  const body = el("tbody");
  for (const row of rows) {
    const line = el("tr", row.pick ? { class: "link" } : {}, ...row.cells.map((x, n) => cell("td", x, n)));
    if (row.pick) line.addEventListener("click", row.pick);
    body.append(line);
  }
  return el("table", {}, el("thead", {}, el("tr", {}, ...head.map((x, n) => cell("th", x, n)))), body);
}

function bar(share) {
  return el("span", { class: "bar", style: `width:${Math.min(100, 100 * share).toFixed(1)}px` });
}

function tip(text, event) {
  $("tip").textContent = text;
  if (text) {
    $("tip").style.left = `${Math.min(event.clientX + 14, innerWidth - 320)}px`;
    $("tip").style.top = `${Math.min(event.clientY + 14, innerHeight - 60)}px`;
  }
}

const shown = { tab: "" };
function show(name) {
  shown.tab = name;
  for (const each of document.querySelectorAll(".tab")) each.hidden = each.id !== name;
  for (const each of document.querySelectorAll("[data-tab]")) {
    each.setAttribute("aria-selected", each.dataset.tab === name);
  }
  document.dispatchEvent(new CustomEvent("shown", { detail: name }));
}

/** Put the head with its tabs and the switch of colours into the page. */
function frame(title, tabs) {
  const theme = el("button", { id: "theme", title: "dark or light" }, "dark / light");
  theme.addEventListener("click", () => {
    const root = document.documentElement;
    const dark = root.dataset.theme ? root.dataset.theme === "dark"
      : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    document.dispatchEvent(new CustomEvent("shown", { detail: shown.tab }));
  });
  const head = el("header", {}, el("h1", {}, title));
  const main = el("main");
  for (const [id, label] of tabs) {
    const button = el("button", { "data-tab": id, id: `tab-${id}` }, label);
    button.addEventListener("click", () => show(id));
    head.append(button);
    main.append(el("section", { id, class: "tab", hidden: true }));
  }
  head.append(theme);
  document.body.append(head, main, el("div", { id: "tip" }));
}

/** Return a drawing with a logarithmic or plain axis on each side. */
function plot({ width = 720, height = 360, x, y, marks, lines = [], xs, ys }) {
  const left = 70, bottom = 34, top = 10;
  const place = (axis, value, from, to) => {
    const [low, high] = axis.log ? [Math.log(axis.low), Math.log(axis.high)] : [axis.low, axis.high];
    const at = axis.log ? Math.log(Math.max(value, axis.low)) : value;
    return from + ((to - from) * (at - low)) / (high - low || 1);
  };
  const px = (v) => place(x, v, left, width - 10);
  const py = (v) => place(y, v, height - bottom, top);
  const made = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img" });
  const ticks = (axis) => {
    if (!axis.log) return [0, 1, 2, 3, 4].map((n) => axis.low + ((axis.high - axis.low) * n) / 4);
    const found = [];
    for (let p = Math.ceil(Math.log10(axis.low)); p <= Math.log10(axis.high); p++) found.push(10 ** p);
    return found;
  };
  made.append(svg("path", { class: "axis", d: `M${left} ${top}V${height - bottom}H${width - 10}` }));
  for (const v of ticks(x)) {
    made.append(svg("text", { x: px(v), y: height - bottom + 14, "text-anchor": "middle" }, xs(v)));
  }
  for (const v of ticks(y)) {
    made.append(svg("text", { x: left - 6, y: py(v) + 4, "text-anchor": "end" }, ys(v)));
  }
  made.append(svg("text", { x: width - 10, y: height - 4, "text-anchor": "end" }, x.label));
  made.append(svg("text", { x: left + 6, y: top + 10 }, y.label));
  for (const line of lines) {
    made.append(svg("path", { class: "axis", "stroke-dasharray": line.dashed ? "4 3" : "none",
      d: `M${line.points.map(([a, b]) => `${px(a)} ${py(b)}`).join("L")}` }));
  }
  for (const mark of marks) {
    const dot = svg("circle", { class: "mark", cx: px(mark.x), cy: py(mark.y), r: mark.r || 4 });
    dot.addEventListener("mousemove", (event) => tip(mark.text, event));
    dot.addEventListener("mouseleave", () => tip(""));
    made.append(dot);
  }
  return made;
}

/** Return the map of a workspace: a box for each buffer, over launches and bytes. */
function memoryMap(memory, pick) {
  const width = 960, height = 420, left = 80, bottom = 30;
  const wide = (width - left - 10) / Math.max(memory.launches, 1);
  const high = (height - bottom - 10) / Math.max(memory.end, 1);
  const made = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", id: "map" });
  memory.buffers.forEach((row, n) => {
    const box = svg("rect", {
      x: left + wide * row.first, width: Math.max(wide * (row.last - row.first + 1), 1),
      y: height - bottom - high * (row.offset + row.bytes), height: Math.max(high * row.bytes, 0.7),
      fill: `hsl(${(n * 67) % 360} 45% 55%)`, "fill-opacity": 0.8, "data-buffer": n,
    });
    const text = `${row.name || "buffer"}: ${row.type}, ${bytes(row.bytes)} from byte ${row.offset}, ` +
      `launches ${row.first} to ${row.last}`;
    box.addEventListener("mousemove", (event) => tip(text, event));
    box.addEventListener("mouseleave", () => tip(""));
    if (pick) box.addEventListener("click", () => pick(row));
    made.append(box);
  });
  made.append(svg("path", { class: "axis", d: `M${left} 10V${height - bottom}H${width - 10}` }));
  for (let n = 0; n <= 4; n++) {
    const at = (memory.end * n) / 4;
    made.append(svg("text", { x: left - 6, y: height - bottom - high * at + 4, "text-anchor": "end" }, bytes(Math.round(at))));
    const launch = Math.round((memory.launches * n) / 4);
    made.append(svg("text", { x: left + wide * launch, y: height - bottom + 16, "text-anchor": "middle" }, launch));
  }
  made.append(svg("text", { x: width - 10, y: height - 2, "text-anchor": "end" }, "launch"));
  return made;
}
