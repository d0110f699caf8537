// The state of the page, and what happens when it changes.

const S = { item: -1, x: null, predicted: null, base: null, values: null };
const past = [];
let gesture = false, waiting = false, rowInputs = [];

const say = (text) => { $("status").textContent = text; };

function remember() {
  if (S.values) past.push({ ...S });
  if (past.length > 200) past.shift();
  $("undo").disabled = !past.length;
}

function endGesture() { gesture = false; }

function undo() {
  if (!past.length) return;
  Object.assign(S, past.pop());
  $("undo").disabled = !past.length;
  refresh();
  say("Undone.");
}

// Sets one variable; while a slider is dragged, only the start is remembered.
function set(site, value, dragging = false) {
  if (!gesture) remember();
  gesture = dragging;
  S.values = changed(S.values, site, value);
  schedule();
}

function resetSite(site) {
  remember();
  S.values = changed(S.values, site, S.base[site.name]);
  refresh();
}

function loadItem(index) {
  loadArray(M.content.items.x[index].slice(), index);
  say(`Loaded ${itemName(index)}.`);
}

// Loads an item; `seen` is the array that is recognized, if it is not the item itself.
function loadArray(x, index, seen = x) {
  remember();
  const fallback = { values: priorValues(Math.max(0, index)), predictions: {} };
  Object.assign(S, { x, item: index, predicted: recognize(seen) || fallback });
  S.base = S.predicted.values;
  S.values = S.base;
  refresh();
}

function schedule() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => { waiting = false; showSetting(); refreshView(); });
}

// Everything, at once.
function refresh() {
  gesture = false;
  showSetting();
  showRecognized();
  for (const button of document.querySelectorAll("#tray button")) button.setAttribute("aria-pressed", String(Number(button.dataset.item) === S.item));
  if (M.content.kind === "table") S.x.forEach((v, i) => { rowInputs[i].value = Number.isNaN(v) ? "" : rowInputs[i].tagName === "SELECT" ? v : Number(v.toPrecision(6)); });
  refreshView();
}

let before = { of: null, made: null }; // what the model makes of the item, while only the setting changes

function showSetting() {
  if (before.of !== S.base) before = { of: S.base, made: decode([S.base]) };
  const made = S.values === S.base ? before.made : decode([S.values]);
  paintStage(S.x, made && before.made[0], made && made[0]);
  for (const site of M.sites) CONTROLS.get(site.name).show(S.values[site.name]);
  $("python").textContent = pythonCall();
}

function showRecognized() {
  const { items, calibrated } = M.content, known = S.item >= 0;
  const facts = [known ? `${items.generated ? "Generated" : "Held-out"} ${itemName(S.item)}` : "Your item"];
  for (const site of M.sites) {
    const python = known && items.predictions[site.name], own = S.predicted.predictions[site.name];
    if (!isClasses(site)) { CONTROLS.get(site.name).recognized(null, ""); continue; }
    const shares = python ? python.probabilities[S.item] : own && probabilities(site, own);
    const source = python || !calibrated ? "Probabilities as predict_proba gives them." :
      "The model's own probabilities; predict_proba in Python also uses a predictor that is not in this page.";
    CONTROLS.get(site.name).recognized(shares || null, shares ? source : "");
    if (!shares) continue;
    const best = bestOf(shares), label = known && items.labels[site.name] && items.labels[site.name][S.item];
    facts.push(`${site.name}: ${site.classes[best]} (${(100 * shares[best]).toFixed(0)} %${label ? `, label ${label}` : ""})`);
    if (python && python.sets) {
      const members = site.classes.filter((_, k) => python.sets[S.item][k]);
      facts.push(`90 % set: ${members.join(", ")}`);
    }
  }
  if (known && items.novelty) facts.push(`novelty p-value ${short(items.novelty[S.item][0] ?? items.novelty[S.item])}`);
  $("recognized").textContent = facts.join(" · ");
}

// Of a yes-or-no factor with one number, both probabilities.
const probabilities = (site, own) => (own.length === 1 && site.classes.length === 2 ? Float32Array.of(1 - own[0], own[0]) : own);

// ---- the same in Python ---------------------------------------------------------------------------------------------

function pythonValue(site, value) {
  if (isClasses(site)) return site.python[classOf(site, value)];
  const numbers = Array.from(value, (v) => String(Number(v.toPrecision(7))));
  return `[${numbers.join(", ")}]`;
}

function pythonCall() {
  const moved = M.sites.filter((site) => S.values[site.name].some((v, i) => v !== S.base[site.name][i]));
  const { generated, rows } = M.content.items, row = generated || S.item < 0 ? -1 : rows[S.item];
  if (row >= 0 && moved.length === 0) return `vae.reconstruct(x[${row}:${row + 1}])`;
  const direct = moved.filter((site) => !moved.some((other) => other.children.includes(site.name)));
  if (row >= 0 && direct.length === 1) {
    const [site] = direct, list = `[${pythonValue(site, S.values[site.name])}]`;
    const plain = /^[A-Za-z_]\w*$/.test(site.name);
    return `vae.vary(x[${row}:${row + 1}], ${plain ? `${site.name}=${list}` : `**{${JSON.stringify(site.name)}: ${list}}`})`;
  }
  const settings = M.sites.map((site) => `${JSON.stringify(site.name)}: ${pythonValue(site, S.values[site.name])}`);
  return `vae.sample(1, {${settings.join(", ")}}, mean=True)`;
}

async function copyPython() {
  const text = $("python").textContent;
  try { await navigator.clipboard.writeText(text); say("Copied."); } catch {
    getSelection().selectAllChildren($("python"));
    say("Select and copy the line.");
  }
}

// ---- building -------------------------------------------------------------------------------------------------------

const TRAY = 36;

function buildTray() {
  const step = Math.max(1, Math.floor(M.count / TRAY));
  for (let i = 0; i < M.count && $("tray").children.length < TRAY; i += step) {
    const labels = Object.entries(M.content.items.labels).filter(([, values]) => values[i] !== null).map(([name, values]) => `${name} ${values[i]}`);
    const name = [itemName(i), ...labels].join(", ");
    const text = M.content.kind === "image" ? undefined : `${itemName(i)}: ${labels.join(", ") || inWords(M.content.items.x[i])}`;
    const button = make("button", { type: "button", className: "cell", ariaLabel: name, title: name, onclick: () => loadItem(i) }, thumbnail(M.content.items.x[i], text));
    button.dataset.item = i;
    $("tray").append(button);
  }
  $("tray").classList.toggle("texts", M.content.kind !== "image");
}

function buildTable() {
  $("stage-table").hidden = false;
  $("stage").hidden = true;
  rowInputs = M.content.columns.map((column, i) => {
    const edit = (v) => { const x = S.x.slice(); x[i] = v; loadArray(x, -1); };
    const input = column.kind === "category" || column.kind === "binary"
      ? make("select", { ariaLabel: column.name, onchange: () => edit(input.value === "" ? NaN : Number(input.value)) },
        make("option", { value: "" }, "missing"), ...(column.classes.length ? column.classes : ["0", "1"]).map((name, k) => make("option", { value: k }, name)))
      : make("input", { type: "number", step: "any", ariaLabel: column.name, onchange: () => edit(input.value === "" ? NaN : Number(input.value)) });
    const row = $("row").tBodies[0].insertRow();
    row.append(make("th", { scope: "row" }, column.name), make("td", {}, input), make("td"), make("td"), make("td"));
    return input;
  });
}

async function start() {
  if (!("DecompressionStream" in window)) return say("This page needs a browser of 2023 or later.");
  await loadModel();
  const { kind, refused } = M.content;
  if (kind === "table") buildTable();
  if (kind === "words") { $("stage-words").hidden = false; $("stage").hidden = true; }
  if (kind === "numbers") { $("before").closest("figure").hidden = true; $("difference").closest("figure").hidden = true; }
  if (kind === "image") buildDrawing();
  buildControls();
  buildTray();
  buildViews();
  $("undo").onclick = undo;
  $("copy").onclick = copyPython;
  $("compare").onchange = () => document.body.classList.toggle("alone", !$("compare").checked);
  document.addEventListener("keydown", (event) => { if ((event.ctrlKey || event.metaKey) && event.key === "z" && event.target.type !== "number") { event.preventDefault(); undo(); } });
  loadItem(0);
  past.length = 0;
  $("undo").disabled = true;
  selectTab("analogies");
  refreshView(); // after the first picture
  const lost = Object.values(refused);
  say(lost.length ? lost.join(" ") : "Ready.");
  document.body.dataset.ready = "yes";
}

start().catch((error) => { $("status").textContent = `The page could not start: ${error.message}`; throw error; });
