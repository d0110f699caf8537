// One group of controls for each variable: buttons for classes, sliders for numbers, a sphere for directions.

const CONTROLS = new Map(); // by variable, what shows its current value
const MOST_BUTTONS = 14;
const SHOWN = 8; // sliders before "all dimensions"

function buildControls() {
  for (const site of M.sites) {
    const group = make("fieldset", { id: `site-${M.sites.indexOf(site)}` });
    group.append(make("legend", {}, site.name, make("span", { className: "soft" }, site.labels ? " · named factor" : " · learned")));
    const build = { classes: buildClasses, numbers: buildNumbers, direction: buildDirection, switches: buildSwitches };
    CONTROLS.set(site.name, build[site.kind](site, group));
    group.append(make("button", { type: "button", className: "small", onclick: () => resetSite(site) }, `Reset ${site.name}`));
    $("controls").append(group);
  }
}

function buildClasses(site, group) {
  const few = site.classes.length <= MOST_BUTTONS;
  const list = make("div", { className: few ? "classes" : "classes many", role: "group", ariaLabel: `Set ${site.name}` });
  const buttons = site.classes.map((name, k) => {
    const bar = make("span", { className: "bar" }), share = make("span", { className: "share" });
    const button = make("button", { type: "button", className: "class", onclick: () => set(site, classValue(site, k)) },
      make("span", {}, name), share, bar);
    list.append(button);
    return { button, bar, share };
  });
  const note = make("p", { className: "note" });
  group.append(list, note);
  return {
    show(value) {
      const current = classOf(site, value);
      buttons.forEach(({ button }, k) => button.setAttribute("aria-pressed", String(k === current)));
    },
    recognized(shares, text) {
      buttons.forEach(({ bar, share }, k) => {
        const percent = shares ? `${(100 * shares[k]).toFixed(shares[k] > 0.995 || shares[k] < 0.005 ? 1 : 0)} %` : "";
        share.textContent = percent;
        bar.style.width = shares ? `${100 * shares[k]}%` : "0";
      });
      note.textContent = text;
    },
  };
}

function slider(label, least, most, low, high, onInput) {
  const id = `slider-${document.querySelectorAll("input[type=range]").length}`;
  const input = make("input", { type: "range", min: least, max: most, step: (most - least) / 400, id });
  const output = make("output", { htmlFor: id }), band = make("span", { className: "band" });
  if (low !== null) {
    const at = (v) => Math.max(0, Math.min(100, 100 * (v - least) / (most - least)));
    band.style.left = `${at(low)}%`;
    band.style.width = `${at(high) - at(low)}%`;
    band.title = `range of ${M.content.rangeOf}: ${short(low)} to ${short(high)}`;
  }
  input.addEventListener("input", () => onInput(Number(input.value)));
  input.addEventListener("change", endGesture);
  const row = make("div", { className: "slider" }, make("label", { htmlFor: id }, label), make("span", { className: "track" }, band, input), output);
  return { row, show(v) { input.value = v; output.textContent = short(v); } };
}

function withEntry(value, d, v) {
  const made = Float32Array.from(value);
  made[d] = v;
  return made;
}

function buildNumbers(site, group) {
  const order = site.dimensions.map((_, d) => d).sort((a, b) => (site.dimensions[b].nats ?? 0) - (site.dimensions[a].nats ?? 0));
  const sliders = [], more = make("details", {}, make("summary", {}, "All dimensions"));
  let pad = null;
  if (order.length > 1) { pad = buildPad(site, order); group.append(pad.element); }
  order.forEach((d, place) => {
    const { low, high, least, most, nats } = site.dimensions[d];
    const name = site.size === 1 ? site.name : `${site.name}[${d}]`;
    const label = make("span", {}, name, nats == null ? "" : make("span", { className: "soft" }, ` ${Math.max(0, nats).toFixed(2)} nats`));
    sliders[d] = slider(label, least, most, low, high, (v) => set(site, withEntry(S.values[site.name], d, v), true));
    (place < SHOWN ? group : more).append(sliders[d].row);
  });
  if (order.length > SHOWN) group.append(more);
  group.append(make("p", { className: "note" }, `Bands: the range of ${M.content.rangeOf}.`));
  return { show(value) { sliders.forEach((one, d) => one.show(value[d])); if (pad) pad.show(value); }, recognized() {} };
}

// Two dimensions at once, for the pointer; the sliders do the same by keyboard.
function buildPad(site, order) {
  const canvas = make("canvas", { className: "pad", width: 220, height: 220, ariaHidden: "true" });
  const choose = (start, label) => make("select", { ariaLabel: label, onchange: () => show(S.values[site.name]) },
    ...site.dimensions.map((_, d) => make("option", { value: d, selected: d === start }, `${site.name}[${d}]`)));
  const across = choose(order[0], `Dimension of ${site.name} across the pad`), up = choose(order[1], `Dimension of ${site.name} up the pad`);
  const ends = (select) => site.dimensions[Number(select.value)];
  function show(value) {
    const context = canvas.getContext("2d"), style = getComputedStyle(document.documentElement);
    const [a, b] = [ends(across), ends(up)], size = canvas.width;
    const px = (v) => size * (v - a.least) / (a.most - a.least), py = (v) => size - size * (v - b.least) / (b.most - b.least);
    context.clearRect(0, 0, size, size);
    context.fillStyle = style.getPropertyValue("--band");
    context.fillRect(px(a.low), py(b.high), px(a.high) - px(a.low), py(b.low) - py(b.high));
    context.fillStyle = style.getPropertyValue("--accent");
    context.beginPath();
    context.arc(px(value[across.value]), py(value[up.value]), 8, 0, 7);
    context.fill();
  }
  dragged(canvas, (x, y) => {
    const [a, b] = [ends(across), ends(up)];
    const moved = withEntry(S.values[site.name], across.value, a.least + x * (a.most - a.least));
    set(site, withEntry(moved, up.value, b.most - y * (b.most - b.least)), true);
  });
  const axes = make("span", { className: "axes" }, "across ", across, " up ", up);
  return { element: make("div", { className: "pad-row" }, canvas, axes), show };
}

// Calls back with the pointer's place from 0 to 1 while it is pressed.
function dragged(canvas, onPlace) {
  const place = (event) => {
    const box = canvas.getBoundingClientRect(), clip = (v) => Math.max(0, Math.min(1, v));
    onPlace(clip((event.clientX - box.left) / box.width), clip((event.clientY - box.top) / box.height), event);
  };
  canvas.addEventListener("pointerdown", (event) => { canvas.setPointerCapture(event.pointerId); place(event); event.preventDefault(); });
  canvas.addEventListener("pointermove", (event) => { if (canvas.hasPointerCapture(event.pointerId)) place(event); });
  canvas.addEventListener("pointerup", endGesture);
}

// A unit vector by degrees: x to the right, y up, z towards the reader.
function direction(azimuth, elevation) {
  const [a, e] = [azimuth, elevation].map((degrees) => degrees * Math.PI / 180);
  return Float32Array.of(Math.sin(a) * Math.cos(e), Math.sin(e), Math.cos(a) * Math.cos(e));
}

function buildDirection(site, group) {
  const canvas = make("canvas", { className: "pad", width: 200, height: 200, ariaHidden: "true" });
  const angles = ([x, y, z]) => [Math.atan2(x, z) * 180 / Math.PI, Math.asin(Math.max(-1, Math.min(1, y))) * 180 / Math.PI];
  const sideways = slider(`${site.name}, degrees to the right`, -180, 180, null, null, (v) => set(site, direction(v, angles(S.values[site.name])[1]), true));
  const upwards = slider(`${site.name}, degrees up`, -90, 90, null, null, (v) => set(site, direction(angles(S.values[site.name])[0], v), true));
  dragged(canvas, (x, y) => {
    let [a, b] = [2 * x - 1, 1 - 2 * y];
    const length = Math.hypot(a, b);
    if (length > 0.999) { a *= 0.999 / length; b *= 0.999 / length; }
    set(site, Float32Array.of(a, b, Math.sqrt(1 - a * a - b * b)), true);
  });
  group.append(make("div", { className: "pad-row" }, canvas), sideways.row, upwards.row);
  return {
    recognized() {},
    show(value) {
      const context = canvas.getContext("2d"), style = getComputedStyle(document.documentElement), [a, e] = angles(value);
      context.clearRect(0, 0, 200, 200);
      context.strokeStyle = style.getPropertyValue("--soft");
      context.beginPath();
      context.arc(100, 100, 98, 0, 7);
      for (const r of [33, 66]) { context.moveTo(100 + 98, 100); context.ellipse(100, 100, 98, r, 0, 0, 7); context.moveTo(100 + r, 100); context.ellipse(100, 100, r, 98, 0, 0, 7); }
      context.stroke();
      context.fillStyle = style.getPropertyValue(value[2] < 0 ? "--soft" : "--accent");
      context.beginPath();
      context.arc(100 + 98 * value[0], 100 - 98 * value[1], 8, 0, 7);
      context.fill();
      sideways.show(a);
      upwards.show(e);
    },
  };
}

function buildSwitches(site, group) {
  const boxes = Array.from({ length: site.size }, (_, d) => {
    const box = make("input", { type: "checkbox", onchange: () => { set(site, withEntry(S.values[site.name], d, box.checked ? 1 : 0)); } });
    group.append(make("label", { className: "switch" }, box, ` ${site.name}[${d}]`));
    return box;
  });
  return { show(value) { boxes.forEach((box, d) => { box.checked = value[d] > 0.5; }); }, recognized() {} };
}
