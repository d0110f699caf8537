// The model of the page: its graphs, its variables and its items.

const $ = (id) => document.getElementById(id);

// An element with properties and children; text is set as text, never as markup.
function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in element) element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

async function unpack(text) {
  const raw = atob(text.trim()), packed = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) packed[i] = raw.charCodeAt(i);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

const M = { content: null, graphs: {}, sites: [], count: 0 };

async function loadModel() {
  const bytes = await unpack($("block").textContent);
  const content = JSON.parse($("content").textContent);
  M.content = content;
  for (const [name, graph] of Object.entries(content.graphs)) if (graph) M.graphs[name] = new Graph(graph, bytes);
  const array = (at) => at && rows(at, bytes);
  const items = content.items;
  items.x = array(items.x);
  items.map = array(items.map);
  items.novelty = array(items.novelty);
  for (const one of Object.values(items.predictions)) {
    one.probabilities = array(one.probabilities);
    one.sets = array(one.sets);
  }
  for (const name of Object.keys(content.prior)) content.prior[name] = array(content.prior[name]);
  M.sites = content.sites;
  M.count = items.x.length;
  const decode = M.graphs.decode || M.graphs.children;
  for (const site of M.sites) {
    const input = decode && decode.inputs.find((one) => one.name === site.name);
    site.shape = input ? input.shape : [site.size];
    site.index = Boolean(input && input.index);
  }
}

// An array of the block as one Float32Array for each of its first axis.
function rows({ start, kind, scale, shape }, bytes) {
  const each = sizeOf(shape.slice(1)), count = shape[0] * each;
  const view = kind === "byte" ? bytes.subarray(start, start + count)
    : new Float32Array(bytes.buffer.slice(bytes.byteOffset + start, bytes.byteOffset + start + 4 * count));
  return Array.from({ length: shape[0] }, (_, i) =>
    Float32Array.from(view.subarray(i * each, (i + 1) * each), (v) => v / scale));
}

// Runs a graph on several items, one by one if the graph is for one item. Returns for each output a list of arrays.
function runGraph(graph, inputs) {
  const count = Object.values(inputs)[0].length, one = graph.inputs.some((input) => input.one);
  const chunks = one ? inputs[graph.inputs[0].name].map((_, i) => [i]) : [Array.from({ length: count }, (_, i) => i)];
  const found = Object.fromEntries(graph.outputs.map(({ name }) => [name, []]));
  for (const chunk of chunks) {
    const feed = {};
    for (const { name, shape, index } of graph.inputs) {
      const size = sizeOf(shape), Kind = index ? Int32Array : Float32Array, data = new Kind(chunk.length * size);
      chunk.forEach((row, i) => data.set(inputs[name][row], i * size));
      feed[name] = tensor([chunk.length, ...shape], data);
    }
    for (const [name, { data }] of Object.entries(graph.run(feed))) {
      const size = data.length / chunk.length;
      chunk.forEach((_, i) => found[name].push(Float32Array.from(data.subarray(i * size, (i + 1) * size))));
    }
  }
  return found;
}

// The value and the prediction of every variable for one item.
function recognize(x) {
  const graph = M.graphs.predict;
  if (!graph) return null;
  const found = runGraph(graph, { [graph.inputs[0].name]: [x] }), made = { values: {}, predictions: {} };
  for (const site of M.sites) {
    made.values[site.name] = found[`${site.name}.value`][0];
    const shares = found[`${site.name}.prediction`][0];
    made.predictions[site.name] = site.weights ? reweighed(shares, site.weights) : shares;
  }
  return made;
}

function reweighed(shares, weights) {
  const weighted = shares.map((share, k) => share * weights[k]), total = weighted.reduce((a, b) => a + b, 0);
  return weighted.map((share) => share / total);
}

// Expected items at several settings, each an object from variable to values.
function decode(settings) {
  const graph = M.graphs.decode;
  if (!graph || !settings.length) return null;
  const inputs = {};
  for (const { name } of graph.inputs) inputs[name] = settings.map((values) => values[name]);
  return runGraph(graph, inputs).expected;
}

// A setting with one variable changed, and the variables that follow from it.
function changed(values, site, value) {
  const made = { ...values, [site.name]: value };
  if (site.children.length && M.graphs.children) {
    const inputs = {};
    for (const { name } of M.graphs.children.inputs) inputs[name] = [made[name]];
    const found = runGraph(M.graphs.children, inputs);
    for (const child of site.children) made[child] = found[`${child}.value`][0];
  }
  return made;
}

const isClasses = (site) => site.kind === "classes";
const bestOf = (values) => values.reduce((best, v, i) => (v > values[best] ? i : best), 0);
const classOf = (site, value) => (site.index ? value[0] : bestOf(value));

function classValue(site, k) {
  if (site.index) return Float32Array.of(k);
  return Float32Array.from({ length: site.size }, (_, i) => (i === k ? 1 : 0));
}
