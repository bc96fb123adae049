/* The page of `gravure inspect --html`: graph, passes, kernels, memory, weights. */
const [UID, FUNCTION, OP, READS, TYPES, MADE, ATTRIBUTES, NODES] = [0, 1, 2, 3, 4, 5, 6, 7];
const state = { step: 0, rows: new Map(), order: [], picked: null, open: new Set(), constants: false,
  fresh: new Map(), view: { x: 0, y: 0, scale: 1 }, drawn: { boxes: [], edges: [], at: new Map() } };

/* -- the program behind a pass ----------------------------------------------------------- */

/** Go to the program behind a pass; note what it changed. */
function go(step) {
  if (step < state.step || !state.order.length) {
    state.rows = new Map();
    state.order = [];
    state.step = -1;
  }
  for (let n = state.step + 1; n <= step; n++) {
    const each = data.steps[n];
    state.fresh = new Map();
    state.before = new Map();
    for (const uid of each.dropped) {
      state.before.set(uid, state.rows.get(uid));
      state.rows.delete(uid);
    }
    for (const row of each.changed) {
      const old = state.rows.get(row[UID]);
      if (old) state.before.set(row[UID], old);
      if (n) state.fresh.set(row[UID], old ? "changed" : "new");
      state.rows.set(row[UID], row);
    }
    if (each.order) state.order = each.order;
  }
  state.step = step;
  if (!state.rows.has(state.picked)) state.picked = null;
  $("step").value = step;
  sketch();
  tree();
  details();
  changes();
}

const main = () => state.order.map((uid) => state.rows.get(uid)).filter((row) => row[FUNCTION] === "main");
const isConstant = (row) => ["weight", "constant", "buffer", "view"].includes(row[OP]);
const label = (row) => (row[NODES].length && row[OP] === "launch" ? row[NODES].join(", ") : row[OP]);

/** Return the names of the scopes that a node is in: what stands before the last slash. */
function scopes(row) {
  const paths = row[NODES].map((name) => name.split(" at ")[0].split("/").filter(Boolean).slice(0, -1));
  if (!paths.length) return [];
  const shared = [];
  for (let n = 0; n < paths[0].length; n++) {
    if (!paths.every((path) => path[n] === paths[0][n])) break;
    shared.push(paths[0][n]);
  }
  return shared;
}

/** Return what stands for a node in the drawing: itself, or its outermost closed scope. */
function stand(row) {
  const path = scopes(row);
  for (let n = 1; n <= path.length; n++) {
    const scope = path.slice(0, n).join("/");
    if (!state.open.has(scope)) return `/${scope}`;
  }
  return row[UID];
}

/* -- the drawing ------------------------------------------------------------------------- */

/** Work out boxes and edges: layers by the longest way, in each by the middle of what is read. */
function sketch() {
  const boxes = new Map(), of = new Map(), edges = new Set();
  for (const row of main()) {
    if (isConstant(row) && !state.constants) continue;
    const key = stand(row);
    of.set(row[UID], key);
    if (!boxes.has(key)) {
      boxes.set(key, { key, rows: [], reads: new Set(), rank: 0, number: boxes.size });
    }
    boxes.get(key).rows.push(row);
  }
  for (const [uid, key] of of) {
    for (const read of state.rows.get(uid)[READS]) {
      const from = of.get(read);
      if (from === undefined || from === key) continue;
      edges.add(from);
      const [a, b] = [boxes.get(from), boxes.get(key)];
      if (a.number < b.number) b.reads.add(a);  // the others would lead round in a circle
    }
  }
  const layers = [];
  for (const box of boxes.values()) {
    for (const read of box.reads) box.rank = Math.max(box.rank, read.rank + 1);
    (layers[box.rank] ||= []).push(box);
    box.group = typeof box.key === "string";
    box.text = box.group ? `${box.key.slice(1)} (${box.rows.length})` : label(box.rows[0]);
    if (box.text.length > 44) box.text = `${box.text.slice(0, 43)}…`;
    box.width = 18 + 7.2 * box.text.length;
    box.mark = box.rows.map((row) => state.fresh.get(row[UID])).find(Boolean);
  }
  layers.forEach((layer, rank) => {
    for (const box of layer) {
      const reads = [...box.reads];
      box.aim = reads.length ? reads.reduce((sum, each) => sum + each.x, 0) / reads.length : 0;
    }
    layer.sort((a, b) => a.aim - b.aim || a.number - b.number);
    let right = -Infinity;
    for (const box of layer) {
      box.x = Math.max(box.aim, right + box.width / 2 + 16);
      right = box.x + box.width / 2;
      box.y = rank * 64;
    }
    const shift = layer.reduce((sum, box) => sum + box.aim - box.x, 0) / layer.length;
    for (const box of layer) box.x += shift;
  });
  const links = [];
  for (const box of boxes.values()) for (const read of box.reads) links.push([read, box]);
  state.drawn = { boxes: [...boxes.values()], links, at: of, keys: boxes };
  draw();
}

const HEIGHT = 26;
let asked = false;
function draw() {
  if (!asked) requestAnimationFrame(paint);
  asked = true;
}

/** Paint what is in sight. */
function paint() {
  asked = false;
  const canvas = $("canvas"), { x, y, scale } = state.view;
  const wide = canvas.clientWidth, high = canvas.clientHeight, dots = devicePixelRatio || 1;
  if (!wide) return;
  if (canvas.width !== wide * dots || canvas.height !== high * dots) {
    canvas.width = wide * dots;
    canvas.height = high * dots;
  }
  const pen = canvas.getContext("2d"), style = getComputedStyle(document.documentElement);
  const color = (name) => style.getPropertyValue(`--${name}`);
  const [edge, text, node, group, pick] = ["edge", "text", "node", "group", "pick"].map(color);
  const marks = { new: color("new"), changed: color("changed") };
  pen.setTransform(dots, 0, 0, dots, 0, 0);
  pen.clearRect(0, 0, wide, high);
  pen.setTransform(dots * scale, 0, 0, dots * scale, dots * (wide / 2 + x), dots * (20 + y));
  const low = (-20 - y) / scale - HEIGHT, top = (high - 20 - y) / scale + HEIGHT;
  const left = (-wide / 2 - x) / scale, right = (wide / 2 - x) / scale;
  pen.strokeStyle = edge;
  pen.lineWidth = 1 / Math.min(scale, 1);
  pen.beginPath();
  for (const [a, b] of state.drawn.links) {
    if (b.y < low || a.y > top) continue;
    const middle = (a.y + HEIGHT + b.y) / 2;
    pen.moveTo(a.x, a.y + HEIGHT);
    pen.bezierCurveTo(a.x, middle, b.x, middle, b.x, b.y);
  }
  pen.stroke();
  pen.font = "13px system-ui, sans-serif";
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  let painted = 0;
  for (const box of state.drawn.boxes) {
    if (box.y + HEIGHT < low || box.y > top) continue;
    if (box.x + box.width / 2 < left || box.x - box.width / 2 > right) continue;
    painted++;
    pen.fillStyle = marks[box.mark] || (box.group ? group : node);
    pen.strokeStyle = box.rows.some((row) => row[UID] === state.picked) ? pick : edge;
    pen.lineWidth = pen.strokeStyle === edge ? 1 : 3;
    pen.beginPath();
    pen.roundRect(box.x - box.width / 2, box.y, box.width, HEIGHT, box.group ? 4 : 12);
    pen.fill();
    pen.stroke();
    if (scale > 0.3) {
      pen.fillStyle = text;
      pen.fillText(box.text, box.x, box.y + HEIGHT / 2);
    }
  }
  state.painted = painted;
}

function fit() {
  const canvas = $("canvas"), { boxes } = state.drawn;
  if (!boxes.length || !canvas.clientWidth) return;
  const xs = boxes.flatMap((box) => [box.x - box.width / 2, box.x + box.width / 2]);
  const low = Math.min(...xs), high = Math.max(...xs);
  const scale = Math.min(1, (canvas.clientWidth - 40) / (high - low));
  state.view = { scale: Math.max(scale, 0.35), x: 0, y: 0 };
  state.view.x = (-state.view.scale * (low + high)) / 2;
  draw();
}

function centre(box) {
  const { scale } = state.view, high = $("canvas").clientHeight;
  state.view.x = -scale * box.x;
  state.view.y = high / 2 - 20 - scale * (box.y + HEIGHT / 2);
  draw();
}

function boxAt(event) {
  const place = $("canvas").getBoundingClientRect(), { x, y, scale } = state.view;
  const px = (event.clientX - place.left - place.width / 2 - x) / scale;
  const py = (event.clientY - place.top - 20 - y) / scale;
  return state.drawn.boxes.find((box) =>
    Math.abs(px - box.x) <= box.width / 2 && py >= box.y && py <= box.y + HEIGHT);
}

/** Select a node: open the scopes that it is in, and show it. */
function pick(uid, move = true) {
  state.picked = uid;
  const row = state.rows.get(uid);
  if (row) {
    const path = scopes(row);
    for (let n = 1; n <= path.length; n++) state.open.add(path.slice(0, n).join("/"));
    if (isConstant(row)) state.constants = $("constants").checked = true;
  }
  sketch();
  tree();
  details();
  const box = state.drawn.keys.get(state.drawn.at.get(uid));
  if (box && move) centre(box);
}

function turn(scope) {
  if (state.open.has(scope)) {
    for (const each of [...state.open]) {
      if (each === scope || each.startsWith(`${scope}/`)) state.open.delete(each);
    }
  } else state.open.add(scope);
  sketch();
  tree();
}

/* -- beside the drawing ------------------------------------------------------------------ */

/** Fill in the tree of scopes, of which closed ones are not filled. */
function tree() {
  const root = { scopes: new Map(), count: 0 };
  for (const row of main()) {
    if (isConstant(row)) continue;
    let at = root;
    for (const name of scopes(row)) {
      if (!at.scopes.has(name)) at.scopes.set(name, { scopes: new Map(), count: 0 });
      at = at.scopes.get(name);
      at.count++;
    }
  }
  const list = (at, before) => el("ul", {}, ...[...at.scopes].map(([name, inner]) => {
    const path = before ? `${before}/${name}` : name, open = state.open.has(path);
    const line = el("span", { class: "scope", "data-scope": path },
      `${open ? "▾" : "▸"} ${name} `, el("span", { class: "soft" }, String(inner.count)));
    line.style.cursor = "pointer";
    line.addEventListener("click", () => turn(path));
    return el("li", {}, line, ...(open && inner.scopes.size ? [list(inner, path)] : []));
  }));
  $("tree").replaceChildren(root.scopes.size ? list(root, "") : el("p", { class: "soft" },
    "no scopes: the nodes' names have no slashes"));
}

const MOST = 200;
function search() {
  const words = $("search").value.toLowerCase().split(/\s+/).filter(Boolean), found = [];
  if (words.length) {
    for (const uid of state.order) {
      const row = state.rows.get(uid);
      const text = `${row[OP]} ${row[NODES].join(" ")} ${row[MADE].join(" ")} %${uid} ` +
        Object.values(row[ATTRIBUTES]).join(" ");
      if (words.every((word) => text.toLowerCase().includes(word))) found.push(row);
    }
  }
  const lines = found.slice(0, MOST).map((row) => {
    const line = el("li", { class: "hit", "data-uid": row[UID] }, `${row[OP]} `,
      el("span", { class: "soft" }, row[NODES].join(", ") || row[MADE].join(", ")));
    line.addEventListener("click", () => pick(row[UID]));
    return line;
  });
  const more = words.length ? `${found.length} found` : "";
  $("hits").replaceChildren(...lines);
  $("found").textContent = found.length > MOST ? `${more}, ${MOST} shown` : more;
}

/** Say all of the node that is selected. */
function details() {
  const row = state.rows.get(state.picked), at = $("details");
  if (!row) {
    at.replaceChildren(el("h2", {}, "model"), definitions(data.overview));
    return;
  }
  const parts = [el("h2", {}, `${row[OP]}  %${row[UID]}`)];
  if (row[NODES].length) parts.push(definitions([["from", row[NODES].join(", ")]]));
  const reads = row[READS].map((uid, n) => {
    const other = state.rows.get(uid);
    const name = uid < 0 ? data.arguments[-1 - uid] || "argument" : other ? `${other[OP]} %${uid}` : `%${uid}`;
    const line = el("li", {}, `${name} `, el("span", { class: "soft" }, row[TYPES][n] || ""));
    if (other) line.addEventListener("click", () => pick(uid));
    return line;
  });
  const users = main().filter((other) => other[READS].includes(row[UID])).map((other) => {
    const line = el("li", {}, `${other[OP]} %${other[UID]} `, el("span", { class: "soft" }, other[NODES].join(", ")));
    line.addEventListener("click", () => pick(other[UID]));
    return line;
  });
  const section = (title, lines) => {
    if (lines.length) parts.push(el("h2", {}, title), el("ul", { class: "list" }, ...lines));
  };
  section("reads", reads);
  if (row[MADE].length) parts.push(el("h2", {}, "gives"), el("div", { class: "code" }, row[MADE].join(", ")));
  section("read by", users);
  if (Object.keys(row[ATTRIBUTES]).length) {
    parts.push(el("h2", {}, "attributes"), definitions(Object.entries(row[ATTRIBUTES])));
  }
  const kernel = kernelOf(row);
  if (kernel) parts.push(el("h2", {}, "measured"), definitions(kernelRows(kernel)));
  at.replaceChildren(...parts);
}

function kernelOf(row) {
  if (row[OP] !== "launch") return null;
  const launches = main().filter((each) => each[OP] === "launch");
  return data.kernels[launches.indexOf(row)];
}

function kernelRows(row) {
  const measured = row.seconds === undefined ? [] : [["time", seconds(row.seconds)],
    ["share of the limit", `${(100 * row.limit_share).toFixed(0)} % (${row.limit})`]];
  return [["kernel", row.kernel], ["kind", row.kind], ...measured, ["flops", count(row.flops)],
    ["reads", bytes(row.read)], ["writes", bytes(row.written)], ["computes", row.operations.join(", ")]];
}

/* -- passes ------------------------------------------------------------------------------ */

const line = (row) => {
  const read = row[READS].map((uid) => (uid < 0 ? data.arguments[-1 - uid] || "argument" : `%${uid}`));
  const more = Object.entries(row[ATTRIBUTES]).map(([key, value]) => `${key}=${value}`).join(", ");
  return `%${row[UID]} = ${row[OP]}(${read.join(", ")})${more ? ` {${more}}` : ""} : ${row[MADE].join(", ")}`;
};
const isQuiet = (step) => !step.changed.length && !step.dropped.length && !step.order;

/** Say what the present pass changed: operations before and after. */
function changes() {
  const step = data.steps[state.step], rows = [];
  for (const row of step.changed) {
    const old = state.before.get(row[UID]);
    rows.push([old ? line(old) : "", line(row), old ? "changed" : "new"]);
  }
  for (const uid of step.dropped) {
    const old = state.before.get(uid);
    if (old) rows.push([line(old), "", "gone"]);
  }
  const body = rows.slice(0, 1000).map(([before, after, kind]) => el("tr", {},
    el("td", { class: `code ${before ? "gone" : ""}` }, before),
    el("td", { class: `code ${after ? (kind === "changed" ? "changed" : "new") : ""}` }, after)));
  const many = rows.length > 1000 ? `, 1000 of them below` : "";
  $("what").replaceChildren(
    el("h2", {}, `${state.step}. ${step.name}`),
    el("p", { class: "soft" }, `level ${step.level}, ${step.count} operations, ${seconds(step.seconds)}: ` +
      `${rows.length} changes${many}`),
    el("table", {}, el("thead", {}, el("tr", {}, el("th", {}, "before"), el("th", {}, "after"))),
      el("tbody", {}, ...body)));
  for (const each of document.querySelectorAll("#passlist li")) {
    each.classList.toggle("picked", Number(each.dataset.step) === state.step);
  }
}

function passes() {
  const lines = data.steps.map((step, n) => {
    const gone = step.dropped.length, more = step.changed.length;
    const text = !n ? `${step.count} operations` : isQuiet(step) ? "no change" : `${step.count} operations, ${more} new or changed, ${gone} gone`;
    const made = el("li", { "data-step": n }, `${n}. ${step.name} `, el("span", { class: "soft" }, text));
    made.addEventListener("click", () => go(n));
    return made;
  });
  const left = el("div", { style: "width:300px;flex:none;overflow:auto" }, el("ul", { class: "list", id: "passlist" }, ...lines));
  $("passes").append(el("div", { style: "display:flex;gap:1.5em;height:100%" }, left,
    el("div", { id: "what", style: "flex:1;overflow:auto;min-width:0" })));
}

/* -- kernels, memory, weights ------------------------------------------------------------ */

function kernels() {
  const at = $("kernels");
  if (!data.kernels.length) {
    at.append(el("p", { class: "soft" }, data.why || "there are no kernels"));
    return;
  }
  const measured = data.kernels[0].seconds !== undefined;
  const whole = data.kernels.reduce((sum, row) => sum + (row.seconds || 0), 0);
  at.append(el("p", { class: "soft" }, measured
    ? `${seconds(whole)} in ${data.kernels.length} launches, on ${data.threads} threads; the limit is the ` +
      `machine's arithmetic or memory, measured just before` : "not measured"));
  const head = ["launch", "time", "", "of limit", "GFLOP/s", "GB/s", "kind", "computes"];
  const last = data.steps.length - 1;
  at.append(table(head, data.kernels.map((row, n) => ({
    cells: [n, measured ? seconds(row.seconds) : "", measured ? bar(row.seconds / whole) : "",
      measured ? `${(100 * row.limit_share).toFixed(0)} % ${row.limit}` : "",
      measured ? (row.flops / row.seconds / 1e9).toFixed(1) : "",
      measured ? ((row.read + row.written) / row.seconds / 1e9).toFixed(1) : "",
      row.kind, row.sources.join(", ") || row.operations.join(", ")],
    pick: () => {
      go(last);
      const launches = main().filter((each) => each[OP] === "launch");
      show("graph");
      if (launches[n]) pick(launches[n][UID]);
    },
  })), [0, 1, 3, 4, 5]));
}

function memory() {
  const at = $("memory"), found = data.memory;
  if (!found) {
    at.append(el("p", { class: "soft" }, data.why || "there is no plan of the memory"));
    return;
  }
  at.append(el("p", {}, `${bytes(found.end)} for ${found.buffers.length} buffers over ${found.launches} launches; ` +
    `at most ${bytes(found.peak)} are needed at one time (launch ${found.peak_at}), less than which no plan takes`));
  at.append(memoryMap(found));
  at.append(el("h2", {}, `the largest at launch ${found.peak_at}`));
  const there = found.buffers.filter((row) => row.first <= found.peak_at && found.peak_at <= row.last);
  there.sort((a, b) => b.bytes - a.bytes);
  at.append(table(["bytes", "offset", "launches", "type", "written by"], there.slice(0, 30).map((row) => ({
    cells: [bytes(row.bytes), row.offset, `${row.first} to ${row.last}`, row.type, row.name] })), [0, 1]));
}

let weightsShown = 0;
function weights() {
  const at = $("weights"), body = el("tbody", { id: "weightrows" });
  const total = data.weights.reduce((sum, row) => sum + row.bytes, 0);
  at.append(el("p", {}, `${data.weights.length} tensors, ${bytes(total)}`));
  const head = ["tensor", "type", "bytes", "least", "most", "mean", "deviation", "zeros", "histogram"];
  at.append(el("table", {}, el("thead", {}, el("tr", {}, ...head.map((x) => el("th", {}, x)))), body));
  const more = el("button", {}, "more");
  more.addEventListener("click", () => moreWeights(body, more));
  at.append(more);
  moreWeights(body, more);
}

function moreWeights(body, button) {
  const number = (x) => (x === undefined ? "" : Number(x.toPrecision(4)));
  for (const row of data.weights.slice(weightsShown, weightsShown + 100)) {
    const cells = [row.name, `${row.dtype}[${row.shape}]`, bytes(row.bytes), number(row.min), number(row.max),
      number(row.mean), number(row.std), row.zeros === undefined ? "" : `${(100 * row.zeros).toFixed(1)} %`];
    body.append(el("tr", {}, ...cells.map((x, n) => el("td", n > 1 ? { class: "n" } : {}, String(x))),
      el("td", {}, histogram(row))));
  }
  weightsShown += 100;
  button.hidden = weightsShown >= data.weights.length;
}

function histogram(row) {
  if (!row.counts) return "";
  const most = Math.max(...row.counts), made = svg("svg", { width: 122, height: 30, class: "histogram" });
  row.counts.forEach((n, i) => {
    const high = (28 * n) / most;
    made.append(svg("rect", { class: "mark", x: 1 + 3 * i, y: 29 - high, width: 2.4, height: high }));
  });
  return made;
}

/* -- the page ---------------------------------------------------------------------------- */

function graph() {
  const search_ = el("input", { id: "search", type: "search", placeholder: "search: name, operation, shape", style: "width:100%" });
  const steps = el("select", { id: "step", title: "the program behind this pass", style: "width:100%" },
    ...data.steps.map((step, n) => el("option", { value: n }, `${n}. ${step.name} (${step.level})${isQuiet(step) ? " –" : ""}`)));
  const button = (id, text, act) => {
    const made = el("button", { id }, text);
    made.addEventListener("click", act);
    return made;
  };
  const next = (by) => {
    let n = state.step + by;
    while (n > 0 && n < data.steps.length - 1 && isQuiet(data.steps[n])) n += by;
    if (n >= 0 && n < data.steps.length) go(n);
  };
  const constants = el("input", { id: "constants", type: "checkbox" });
  constants.addEventListener("change", () => {
    state.constants = constants.checked;
    sketch();
  });
  const all = () => {
    for (const row of main()) scopes(row).forEach((_, n, path) => state.open.add(path.slice(0, n + 1).join("/")));
    sketch();
    tree();
  };
  const none = () => {
    state.open.clear();
    sketch();
    tree();
    fit();
  };
  $("graph").append(
    el("div", { id: "left" }, search_, el("div", { class: "soft", id: "found" }), el("ul", { class: "list", id: "hits" }),
      el("h2", {}, "behind pass"), steps,
      el("p", {}, button("before", "◂ before", () => next(-1)), " ", button("next", "next ▸", () => next(1)), " ",
        button("fit", "fit", fit)),
      el("p", {}, el("label", {}, constants, " weights, constants, buffers")),
      el("h2", {}, "scopes"), el("p", {}, button("open", "open all", all), " ", button("close", "close all", none)),
      el("div", { class: "tree", id: "tree" })),
    el("div", { id: "middle" }, el("canvas", { id: "canvas" })),
    el("div", { id: "right" }, el("div", { id: "details" })));
  search_.addEventListener("input", search);
  steps.addEventListener("change", () => go(Number(steps.value)));
  mouse($("canvas"));
}

function mouse(canvas) {
  let from = null, moved = false;
  canvas.addEventListener("pointerdown", (event) => {
    from = { x: event.clientX - state.view.x, y: event.clientY - state.view.y };
    moved = false;
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!from) {
      const box = boxAt(event);
      tip(box ? (box.group ? `${box.key.slice(1)}: ${box.rows.length} nodes, double click opens` :
        `${box.rows[0][OP]} ${box.rows[0][NODES].join(", ")}: ${box.rows[0][MADE].join(", ")}`) : "", event);
      return;
    }
    const x = event.clientX - from.x, y = event.clientY - from.y;
    moved ||= Math.hypot(x - state.view.x, y - state.view.y) > 3;
    Object.assign(state.view, { x, y });
    draw();
  });
  canvas.addEventListener("pointerup", (event) => {
    from = null;
    if (moved) return;
    const box = boxAt(event);
    state.picked = box ? box.rows[0][UID] : null;
    details();
    draw();
  });
  canvas.addEventListener("dblclick", (event) => {
    const box = boxAt(event);
    if (box && box.group) turn(box.key.slice(1));
    else if (box && scopes(box.rows[0]).length) turn(scopes(box.rows[0]).join("/"));
  });
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    const place = canvas.getBoundingClientRect(), old = state.view.scale;
    const scale = Math.min(4, Math.max(0.02, old * Math.exp(-event.deltaY / 500)));
    const px = event.clientX - place.left - place.width / 2, py = event.clientY - place.top - 20;
    state.view = { scale, x: px - ((px - state.view.x) * scale) / old, y: py - ((py - state.view.y) * scale) / old };
    draw();
  }, { passive: false });
}

frame(data.title, [["graph", "Graph"], ["passes", "Passes"], ["kernels", "Kernels"], ["memory", "Memory"],
  ["weights", "Weights"]]);
graph();
passes();
kernels();
memory();
weights();
document.addEventListener("shown", (event) => event.detail === "graph" && draw());
addEventListener("resize", draw);
show("graph");
if (data.steps.length) {
  go(0);
  if (main().length < 60) $("open").click();
  fit();
}
