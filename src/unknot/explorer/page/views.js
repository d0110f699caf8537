// What is computed from the current setting: analogies, a mix of two items, samples, the map, and the graph.

const VIEWS = { analogies: drawAnalogies, mix: drawMix, samples: drawSamples, map: drawMap, graph: () => {} };
let shownView = null, viewTimer = null;

function buildViews() {
  const tabs = [...document.querySelectorAll("[role=tab]")];
  for (const tab of tabs) {
    tab.onclick = () => showView(tab.dataset.view);
    tab.onkeydown = (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const next = tabs[(tabs.indexOf(tab) + step + tabs.length) % tabs.length];
      next.focus();
      showView(next.dataset.view);
    };
  }
  const factors = M.sites.filter((site) => site.labels && (isClasses(site) || site.kind === "direction"));
  for (const site of factors) $("analogy-site").append(make("option", { value: site.name }, site.name));
  $("analogy-site").onchange = drawAnalogies;
  if (!factors.length) $("analogy-choice").hidden = true;
  for (let i = 0; i < M.count; i++) $("mix-item").append(make("option", { value: i }, itemName(i)));
  $("mix-item").value = Math.min(1, M.count - 1);
  $("mix-item").onchange = drawMix;
  for (const site of M.sites) {
    const from = make("input", { type: "checkbox", value: site.name, checked: isClasses(site), onchange: drawMix });
    $("mix-sites").append(make("label", { className: "switch" }, from, ` ${site.name}`));
    const hold = make("input", { type: "checkbox", value: site.name, checked: isClasses(site), onchange: drawSamples });
    $("sample-sites").append(make("label", { className: "switch" }, hold, ` ${site.name}`));
  }
  $("sample-again").onclick = () => { sampleStart += 12; drawSamples(); };
  for (const site of M.sites) {
    const values = isClasses(site) ? [["", site.name]] : site.kind === "numbers" ? site.dimensions.map((_, d) => [`:${d}`, `${site.name}[${d}]`]) : [];
    for (const [end, text] of values) $("map-color").append(make("option", { value: `${M.sites.indexOf(site)}${end}` }, text));
  }
  $("map-color").onchange = drawMap;
  $("map-picture").addEventListener("click", chooseOnMap);
  buildGraph();
}

function showView(name) {
  selectTab(name);
  VIEWS[name]();
}

function selectTab(name) {
  shownView = name;
  for (const tab of document.querySelectorAll("[role=tab]")) {
    const chosen = tab.dataset.view === name;
    tab.setAttribute("aria-selected", String(chosen));
    tab.tabIndex = chosen ? 0 : -1;
    $(`view-${tab.dataset.view}`).hidden = !chosen;
  }
}

// After a pause, so that dragging stays fast.
function refreshView() {
  clearTimeout(viewTimer);
  viewTimer = setTimeout(() => { if (shownView && shownView !== "graph") VIEWS[shownView](); }, 150);
}

const itemName = (i) => (M.content.items.generated ? `sample ${i}` : `item ${M.content.items.rows[i]}`);

function cell(x, name, onclick) {
  return make("button", { type: "button", className: "cell", onclick, ariaLabel: name, title: name }, thumbnail(x));
}

// The setting of an item of the tray, and what is taken over when a cell is clicked.
const valuesOfItem = (i) => (recognize(M.content.items.x[i]) || { values: priorValues(i) }).values;

function priorValues(i) {
  const prior = M.content.prior, count = prior[M.sites[0].name].length;
  return Object.fromEntries(M.sites.map(({ name }) => [name, prior[name][i % count]]));
}

function take(values, x, index, text) {
  remember();
  if (x) { S.x = x; S.item = index; S.predicted = recognize(x) || { values, predictions: {} }; S.base = S.predicted.values; }
  S.values = values;
  refresh();
  say(text);
}

function drawAnalogies() {
  const grid = $("analogies");
  grid.replaceChildren();
  if (!M.graphs.decode) return;
  const site = M.sites.find((one) => one.name === $("analogy-site").value), start = Math.max(0, S.item);
  const others = Array.from({ length: Math.min(5, M.count) }, (_, i) => (start + 1 + i) % M.count);
  const items = [{ values: S.values, x: S.x, index: S.item }, ...others.map((i) => ({ values: valuesOfItem(i), x: M.content.items.x[i], index: i }))];
  const settings = settingsOf(site), columns = settings.length;
  grid.style.gridTemplateColumns = `repeat(${columns + 1}, minmax(${M.content.kind === "image" ? "2rem" : "7rem"}, 1fr))`;
  grid.append(make("span", { className: "head" }, "item"), ...settings.map(({ name }) => make("span", { className: "head" }, name)));
  const all = items.flatMap(({ values }) => settings.map(({ apply }) => apply(values))), made = decode(all);
  items.forEach((item, row) => {
    const title = item.index < 0 ? "your item" : itemName(item.index);
    grid.append(cell(item.x, title, () => take(item.values, item.x, item.index, `Loaded ${title}.`)));
    settings.forEach(({ name }, k) => {
      const at = row * columns + k, label = `${title} as ${name}`;
      grid.append(cell(made[at], label, () => take(all[at], item.x, item.index, `Set ${label}.`)));
    });
  });
}

// The values at which a row of analogies is shown: classes, lights from left to right, or seven places of the most informative dimension.
function settingsOf(site) {
  if (site && site.kind === "direction") {
    return [-75, -50, -25, 0, 25, 50, 75].map((degrees) => ({
      name: `${degrees}°`, apply: (values) => changed(values, site, direction(degrees, 0)),
    }));
  }
  if (site) return site.classes.slice(0, 20).map((name, k) => ({ name, apply: (values) => changed(values, site, classValue(site, k)) }));
  const numbers = M.sites.find((one) => one.kind === "numbers");
  if (!numbers) return [];
  const d = numbers.dimensions.reduce((best, one, i) => ((one.nats ?? 0) > (numbers.dimensions[best].nats ?? 0) ? i : best), 0);
  const { low, high } = numbers.dimensions[d];
  return Array.from({ length: 7 }, (_, i) => low + (high - low) * i / 6).map((v) => ({
    name: `${numbers.name}[${d}] ${short(v)}`, apply: (values) => changed(values, numbers, withEntry(values[numbers.name], d, v)),
  }));
}

function drawMix() {
  const place = $("mix-pictures"), other = Number($("mix-item").value);
  place.replaceChildren();
  if (!M.graphs.decode) return;
  const theirs = valuesOfItem(other), chosen = [...$("mix-sites").querySelectorAll("input:checked")].map((box) => box.value);
  let mixed = S.values;
  for (const site of M.sites) if (chosen.includes(site.name)) mixed = changed(mixed, site, theirs[site.name]);
  const made = decode([S.values, mixed]);
  const shown = (x, text, label) => make("figure", {}, thumbnail(x), make("figcaption", {}, text, label ? make("br") : "", label || ""));
  const use = make("button", { type: "button", onclick: () => { remember(); S.values = mixed; refresh(); say("Took the mix."); } }, "Use the mix");
  place.append(shown(made[0], "A: current setting"), shown(M.content.items.x[other], `B: ${itemName(other)}`),
    shown(made[1], chosen.length ? `A with ${chosen.join(", ")} of B` : "A", use));
}

let sampleStart = 0;

// Draws from the prior; classes that are held choose among draws with these classes, so the others suit them.
function drawSamples() {
  const grid = $("samples"), held = [...$("sample-sites").querySelectorAll("input:checked")].map((box) => box.value);
  grid.replaceChildren();
  if (!M.graphs.decode) return;
  const count = M.content.prior[M.sites[0].name].length, fixed = M.sites.filter((site) => held.includes(site.name));
  const suits = (values) => fixed.every((site) => !isClasses(site) || classOf(site, values[site.name]) === classOf(site, S.values[site.name]));
  const draws = Array.from({ length: count }, (_, i) => priorValues(i)), suited = draws.filter(suits);
  const from = suited.length ? suited : draws;
  const chosen = Array.from({ length: Math.min(12, from.length) }, (_, i) => {
    const values = { ...from[(sampleStart + i) % from.length] };
    for (const site of fixed) values[site.name] = S.values[site.name];
    return values;
  });
  decode(chosen).forEach((x, i) => grid.append(cell(x, `sample ${i + 1}`, () => take(chosen[i], x, -1, "Took the sample."))));
}

// ---- the map ------------------------------------------------------------------------------------------------------

const PALETTE = ["#1f77b4", "#d65d0e", "#2c8a2c", "#c22b2b", "#8a5bc0", "#8c564b", "#d05aa8", "#6f6f6f", "#8f8f12", "#128fa1"];
const colorOf = (k) => (k < 10 ? PALETTE[k] : `hsl(${(k * 137.5) % 360} 60% 45%)`);

function drawMap() {
  const canvas = $("map-picture"), context = canvas.getContext("2d"), size = canvas.width;
  const [place, dimension] = $("map-color").value.split(":"), site = M.sites[Number(place)], items = M.content.items;
  const legend = $("map-legend");
  context.clearRect(0, 0, size, size);
  legend.replaceChildren();
  if (!site) return;
  if (!M.codes) M.codes = items.x.map((_, i) => valuesOfItem(i));
  const numbers = dimension === undefined ? null : M.codes.map((values) => values[site.name][Number(dimension)]);
  const low = numbers && Math.min(...numbers), high = numbers && Math.max(...numbers), used = new Set();
  items.map.forEach(([x, y], i) => {
    const label = !numbers && items.labels[site.name] ? site.classes.indexOf(items.labels[site.name][i]) : -1;
    const k = numbers ? null : label >= 0 ? label : classOf(site, M.codes[i][site.name]);
    if (!numbers) used.add(k);
    context.fillStyle = numbers ? `hsl(${240 - 240 * (numbers[i] - low) / (high - low || 1)} 65% 50%)` : colorOf(k);
    context.beginPath();
    context.arc(12 + (size - 24) * x, 12 + (size - 24) * y, i === S.item ? 9 : 5, 0, 7);
    context.fill();
    if (i === S.item) { context.strokeStyle = getComputedStyle(document.documentElement).getPropertyValue("--ink"); context.lineWidth = 2; context.stroke(); }
  });
  if (numbers) legend.textContent = `blue ${short(low)} to red ${short(high)}`;
  for (const k of [...used].sort((a, b) => a - b)) {
    const dot = make("span", { className: "dot" });
    dot.style.background = colorOf(k);
    legend.append(make("span", {}, dot, site.classes[k]), " ");
  }
}

function chooseOnMap(event) {
  const box = event.currentTarget.getBoundingClientRect(), at = [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
  const far = M.content.items.map.map(([x, y]) => Math.hypot(x - at[0], y - at[1]));
  loadItem(far.indexOf(Math.min(...far)));
}

// ---- the graph as a menu ------------------------------------------------------------------------------------------

function buildGraph() {
  const picture = document.querySelector("#graph-picture svg");
  if (!picture) return;
  picture.removeAttribute("height");
  for (const group of picture.querySelectorAll("g")) {
    const title = [...group.children].find((one) => one.tagName === "title");
    const site = title && M.sites.findIndex((one) => title.textContent.startsWith(`${one.name}: `));
    if (!title || site < 0) continue;
    group.setAttribute("tabindex", "0");
    group.setAttribute("role", "button");
    group.setAttribute("aria-label", `Controls of ${M.sites[site].name}`);
    const go = () => { $(`site-${site}`).scrollIntoView({ block: "center" }); ($(`site-${site}`).querySelector("button, input") || group).focus(); };
    group.addEventListener("click", go);
    group.addEventListener("keydown", (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); go(); } });
  }
}
