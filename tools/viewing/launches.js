/* The page of `gravure bench --html`: a table of launches, the roofline, the workspace. */
const rows = data.layers.launches, limits = data.layers.limits;
const whole = rows.reduce((sum, row) => sum + row.seconds, 0);
const named = (row) => row.sources.join(", ") || row.operations.join(", ");

function timing() {
  const found = data.timing, at = $("timing");
  at.append(definitions([["model", data.model], ["measured", data.time],
    ["processor", data.machine.processor], ["threads", data.threads], ["pipeline level's passes", data.pipeline]]));
  at.append(table(["figure", "value", "what it is"], ["minimum", "p50", "p90", "p99", "mean", "confidence"].map(
    (name) => ({ cells: [name, seconds(found[name]), data.metrics[name]] })), [1]));
  at.append(el("p", { class: "soft" }, `${found.samples} samples; launches take ${seconds(whole)} of a call`));
}

function layers() {
  const head = ["launch", "time", "share", "", "of limit", "GFLOP/s", "GB/s", "kind", "computes"];
  $("layers").append(table(head, rows.map((row, n) => ({ cells: [n, seconds(row.seconds),
    `${((100 * row.seconds) / whole).toFixed(1)} %`, bar(row.seconds / whole),
    `${(100 * row.limit_share).toFixed(0)} % ${row.limit}`, (row.flops / row.seconds / 1e9).toFixed(1),
    ((row.read + row.written) / row.seconds / 1e9).toFixed(1), row.kind, named(row)] })), [0, 1, 2, 4, 5, 6]));
}

/** Draw launches over flops a byte and flops a second, below what the machine can do. */
function roofline() {
  const at = $("roofline");
  const marks = rows.filter((row) => row.flops > 0).map((row) => ({
    x: row.flops / Math.max(row.read + row.written, 1), y: row.flops / row.seconds,
    r: 3 + 14 * Math.sqrt(row.seconds / whole),
    text: `${named(row)}: ${seconds(row.seconds)}, ${(100 * row.limit_share).toFixed(0)} % of the limit (${row.limit})` }));
  if (!marks.length) {
    at.append(el("p", { class: "soft" }, "no launch does arithmetic"));
    return;
  }
  const rates = Object.entries(limits.bytes_per_second).map(([size, rate]) => [Number(size), rate]);
  const top = limits.flops_per_second, xs = marks.map((mark) => mark.x), ys = marks.map((mark) => mark.y);
  const x = { log: true, low: Math.min(0.05, ...xs) / 2, high: Math.max(100, ...xs) * 2, label: "flops a byte" };
  const y = { log: true, low: Math.min(top / 1000, ...ys) / 2, high: Math.max(top, ...ys) * 2, label: "GFLOP/s" };
  const lines = rates.map(([, rate], n) => ({ dashed: n < rates.length - 1,
    points: [[x.low, Math.max(rate * x.low, y.low)], [top / rate, top], [x.high, top]] }));
  at.append(plot({ width: 900, height: 460, x, y, marks, lines, xs: (v) => v,
    ys: (v) => (v / 1e9 >= 1 ? v / 1e9 : (v / 1e9).toPrecision(1)) }));
  at.append(el("p", { class: "soft" }, `A circle is a launch, as large as the time that it takes. The line is ` +
    `${(top / 1e9).toFixed(0)} GFLOP/s and the memory's ${(rates[rates.length - 1][1] / 1e9).toFixed(1)} GB/s; dashed: ` +
    rates.slice(0, -1).map(([size, rate]) => `${bytes(size)} ${(rate / 1e9).toFixed(0)} GB/s`).join(", ")));
}

function memory() {
  const found = data.memory_map;
  $("memory").append(el("p", {}, `${bytes(found.end)} for ${found.buffers.length} buffers; at most ` +
    `${bytes(found.peak)} are needed at one time (launch ${found.peak_at})`), memoryMap(found));
}

frame(data.title, [["timing", "Timing"], ["layers", "Layers"], ["roofline", "Roofline"], ["memory", "Memory"]]);
timing();
layers();
roofline();
memory();
show("timing");
