// Drawing an item with the pointer or the keys, and reading one from a picture file.

let drawing = false, cursor = [0, 0];

function buildDrawing() {
  const [colors, height, width] = M.content.shape, canvas = $("item");
  $("tools").hidden = false;
  $("draw").hidden = colors !== 1 || Math.max(height, width) > 64;
  $("draw").onclick = () => (drawing ? stopDrawing() : startDrawing());
  $("open").onchange = async (event) => { if (event.target.files[0]) await openPicture(event.target.files[0]); event.target.value = ""; };
  const stage = $("stage");
  stage.addEventListener("dragover", (event) => event.preventDefault());
  stage.addEventListener("drop", async (event) => { event.preventDefault(); if (event.dataTransfer.files[0]) await openPicture(event.dataTransfer.files[0]); });
  let last = null;
  const at = (event) => {
    const box = canvas.getBoundingClientRect();
    return [(event.clientX - box.left) / box.width * width - 0.5, (event.clientY - box.top) / box.height * height - 0.5];
  };
  canvas.addEventListener("pointerdown", (event) => {
    if (!drawing) return;
    canvas.setPointerCapture(event.pointerId);
    last = at(event);
    stroke(last, last);
    event.preventDefault();
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!drawing || !last) return;
    const next = at(event);
    stroke(last, next);
    last = next;
  });
  canvas.addEventListener("pointerup", () => { if (last) { last = null; finishStroke(); } });
  canvas.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (!drawing || (!step && event.key !== " ")) return;
    event.preventDefault();
    const before = cursor;
    if (step) cursor = [Math.max(0, Math.min(width - 1, cursor[0] + step[0])), Math.max(0, Math.min(height - 1, cursor[1] + step[1]))];
    if (!step || event.shiftKey) { stroke(before, cursor); finishStroke(); }
    say(`Column ${cursor[0] + 1}, row ${cursor[1] + 1}.`);
  });
}

function startDrawing() {
  const [, height, width] = M.content.shape;
  drawing = true;
  cursor = [Math.floor(width / 2), Math.floor(height / 2)];
  $("draw").textContent = "Done";
  $("draw").setAttribute("aria-pressed", "true");
  const canvas = $("item");
  canvas.tabIndex = 0;
  canvas.setAttribute("aria-label", "Drawing. Arrow keys move the pen, Shift with arrows or Space draws.");
  canvas.classList.add("drawing");
  loadArray(new Float32Array(sizeOf(M.content.shape)), -1);
  canvas.focus();
  say("Draw in the first picture.");
}

function stopDrawing() {
  drawing = false;
  $("draw").textContent = "Draw";
  $("draw").setAttribute("aria-pressed", "false");
  const canvas = $("item");
  canvas.removeAttribute("tabindex");
  canvas.setAttribute("aria-label", "The item");
  canvas.classList.remove("drawing");
}

// Ink along a line, as wide as handwriting in the data.
function stroke(from, to) {
  const [, height, width] = M.content.shape, radius = Math.max(height, width) / 22, x = S.x;
  const steps = Math.max(1, Math.ceil(2 * Math.hypot(to[0] - from[0], to[1] - from[1])));
  for (let s = 0; s <= steps; s++) {
    const cx = from[0] + (to[0] - from[0]) * s / steps, cy = from[1] + (to[1] - from[1]) * s / steps;
    for (let i = Math.floor(cy - radius - 1); i <= cy + radius + 1; i++) for (let j = Math.floor(cx - radius - 1); j <= cx + radius + 1; j++) {
      if (i < 0 || j < 0 || i >= height || j >= width) continue;
      const ink = Math.max(0, Math.min(1, radius + 0.5 - Math.hypot(i - cy, j - cx)));
      x[i * width + j] = Math.max(x[i * width + j], ink);
    }
  }
  paintImage($("item"), x);
}

// The data's digits have their center of mass in the middle; so has what is recognized of a drawing.
function finishStroke() {
  const drawn = S.x, centered = M.content.ink ? atCenter(drawn) : drawn;
  loadArray(drawn, -1, centered);
}

function atCenter(x) {
  const [, height, width] = M.content.shape;
  let total = 0, row = 0, column = 0;
  x.forEach((v, i) => { total += v; row += v * Math.floor(i / width); column += v * (i % width); });
  if (!total) return x;
  const down = Math.round((height - 1) / 2 - row / total), right = Math.round((width - 1) / 2 - column / total), moved = new Float32Array(x.length);
  x.forEach((v, i) => {
    const r = Math.floor(i / width) + down, c = (i % width) + right;
    if (v && r >= 0 && c >= 0 && r < height && c < width) moved[r * width + c] = v;
  });
  return moved;
}

async function openPicture(file) {
  const [colors, height, width] = M.content.shape;
  let bitmap;
  try { bitmap = await createImageBitmap(file); } catch { return say(`${file.name} is no picture that this browser reads.`); }
  const canvas = make("canvas", { width, height }), context = canvas.getContext("2d");
  context.fillStyle = "white";
  context.fillRect(0, 0, width, height);
  const scale = Math.min(width / bitmap.width, height / bitmap.height);
  context.drawImage(bitmap, (width - scale * bitmap.width) / 2, (height - scale * bitmap.height) / 2, scale * bitmap.width, scale * bitmap.height);
  const pixels = context.getImageData(0, 0, width, height).data, x = new Float32Array(colors * height * width), size = height * width;
  for (let i = 0; i < size; i++) {
    const rgb = [0, 1, 2].map((c) => pixels[4 * i + c] / 255), gray = 0.299 * rgb[0] + 0.587 * rgb[1] + 0.114 * rgb[2];
    if (colors === 3) rgb.forEach((v, c) => { x[c * size + i] = v; });
    else x[i] = M.content.ink ? 1 - gray : gray;
  }
  loadArray(x, -1);
  say(`Opened ${file.name}.`);
}
