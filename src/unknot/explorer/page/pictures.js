// How an item looks: pixels, rows of a table, words, or a curve.

const clampByte = (v) => Math.max(0, Math.min(255, Math.round(255 * v)));

function paintImage(canvas, x) {
  const [colors, height, width] = M.content.shape;
  if (canvas.width !== width || canvas.height !== height) { canvas.width = width; canvas.height = height; }
  const context = canvas.getContext("2d", { willReadFrequently: true }), image = context.createImageData(width, height);
  const size = width * height, ink = M.content.ink;
  for (let i = 0; i < size; i++) {
    for (let c = 0; c < 3; c++) {
      const value = x[(colors === 3 ? c * size : 0) + i];
      image.data[4 * i + c] = clampByte(ink ? 1 - value : value);
    }
    image.data[4 * i + 3] = 255;
  }
  context.putImageData(image, 0, 0);
}

// More than before in orange, less in blue, on gray.
function paintDifference(canvas, before, after) {
  const [colors, height, width] = M.content.shape, size = width * height;
  if (canvas.width !== width || canvas.height !== height) { canvas.width = width; canvas.height = height; }
  const context = canvas.getContext("2d", { willReadFrequently: true }), image = context.createImageData(width, height);
  for (let i = 0; i < size; i++) {
    let d = 0;
    for (let c = 0; c < colors; c++) d += (after[c * size + i] - before[c * size + i]) / colors;
    const strength = Math.min(1, Math.abs(d)), end = d > 0 ? [214, 93, 14] : [32, 96, 192];
    for (let c = 0; c < 3; c++) image.data[4 * i + c] = Math.round(236 + strength * (end[c] - 236));
    image.data[4 * i + 3] = 255;
  }
  context.putImageData(image, 0, 0);
}

function paintCurves(canvas, curves) {
  canvas.width = 360;
  canvas.height = 150;
  const context = canvas.getContext("2d"), style = getComputedStyle(document.documentElement);
  const all = curves.flatMap((one) => Array.from(one)), low = Math.min(...all), high = Math.max(...all, low + 1e-9);
  curves.forEach((values, which) => {
    context.strokeStyle = style.getPropertyValue(which ? "--accent" : "--soft");
    context.lineWidth = 1.5;
    context.beginPath();
    values.forEach((v, i) => {
      const at = [5 + 350 * i / Math.max(1, values.length - 1), 145 - 140 * (v - low) / (high - low)];
      if (i) context.lineTo(...at); else context.moveTo(...at);
    });
    context.stroke();
  });
}

const short = (v) => (Number.isNaN(v) ? "missing" : String(Number(v.toPrecision(4))));

function cellText(column, value) {
  if (Number.isNaN(value)) return "missing";
  if (column.kind === "category") return column.classes[value] ?? String(value);
  if (column.kind === "binary" && column.classes.length === 2) return `${column.classes[1]}: ${short(value)}`;
  return short(value);
}

// A small picture of an item, for trays and grids.
function thumbnail(x, text) {
  if (M.content.kind === "image") {
    const canvas = make("canvas", { className: "pixels" });
    paintImage(canvas, x);
    return canvas;
  }
  return make("span", { className: "caption" }, text ?? inWords(x));
}

// An item in a few words.
function inWords(x) {
  const { kind, columns, words } = M.content;
  if (kind === "table") return columns.slice(0, 4).map((one, i) => `${one.name} ${cellText(one, x[i])}`).join(", ");
  if (kind === "words") return likelyWords(x, 6).map((i) => words[i]).join(" ");
  return Array.from(x.slice(0, 6), short).join(", ");
}

function likelyWords(x, count) {
  return Array.from(x.keys()).filter((i) => x[i] > 0).sort((a, b) => x[b] - x[a]).slice(0, count);
}

// The stage: the item, the model's version of it, the changed one, and the difference.
function paintStage(x, before, after) {
  const kind = M.content.kind;
  if (kind === "image") {
    if (x) paintImage($("item"), x);
    if (before) paintImage($("before"), before);
    if (after) paintImage($("after"), after);
    if (before && after) paintDifference($("difference"), before, after);
    return;
  }
  if (kind === "table") return paintRows(before, after);
  if (kind === "words") return paintWords(before, after);
  paintCurves($("item"), [x]);
  if (before && after) paintCurves($("after"), [before, after]);
}

function paintRows(before, after) {
  M.content.columns.forEach((column, i) => {
    const cells = $("row").rows[i + 1].cells;
    cells[2].textContent = before ? cellText(column, before[i]) : "";
    cells[3].textContent = after ? cellText(column, after[i]) : "";
    const same = !before || !after || Math.abs(after[i] - before[i]) <= 1e-6 * Math.max(1, Math.abs(before[i]));
    cells[4].textContent = same ? "" : column.kind === "category" ? "changed" : short(after[i] - before[i]);
  });
}

function paintWords(before, after) {
  const words = M.content.words;
  $("item-words").textContent = likelyWords(S.x, 30).map((i) => words[i]).join(" ");
  const list = $("words");
  list.replaceChildren();
  if (!after) return;
  for (const i of likelyWords(after, 15)) {
    const change = before ? (after[i] - before[i]) / Math.max(before[i], 1e-9) : 0;
    const bar = make("meter", { min: 0, max: after[likelyWords(after, 1)[0]], value: after[i], ariaLabel: words[i] });
    const moved = Math.abs(change) < 0.01 ? "" : `${change > 0 ? "+" : ""}${Math.round(100 * change)} %`;
    list.append(make("li", {}, make("span", {}, words[i]), bar, make("span", { className: "soft" }, moved)));
  }
}
