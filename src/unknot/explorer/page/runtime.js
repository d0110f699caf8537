"use strict";
// Runs the model's ONNX graphs on typed arrays. A tensor is {shape, data}; whole numbers are Int32Array, truth values
// Uint8Array, all others Float32Array. Every operator gets its inputs and its attributes, and returns its outputs.

const sizeOf = (shape) => shape.reduce((a, b) => a * b, 1);
const tensor = (shape, data) => ({ shape, data });
const axisOf = (axis, rank) => (axis < 0 ? axis + rank : axis);

function stridesOf(shape) {
  const strides = new Array(shape.length);
  let step = 1;
  for (let i = shape.length - 1; i >= 0; i--) { strides[i] = step; step *= shape[i]; }
  return strides;
}

function broadcastShape(...shapes) {
  const rank = Math.max(...shapes.map((s) => s.length));
  const out = new Array(rank).fill(1);
  for (const shape of shapes) {
    shape.forEach((n, i) => { const at = rank - shape.length + i; if (n !== 1) out[at] = n; });
  }
  return out;
}

// For each place of a larger shape, the place in a tensor that is broadcast to it; null if it is the same.
function placesIn(shape, larger) {
  const count = sizeOf(larger);
  if (sizeOf(shape) === count) return null;
  const places = new Int32Array(count);
  if (sizeOf(shape) === 1) return places;
  const offset = larger.length - shape.length, own = stridesOf(shape), all = stridesOf(larger);
  for (let i = 0; i < count; i++) {
    let rest = i, place = 0;
    for (let d = 0; d < larger.length; d++) {
      const at = Math.floor(rest / all[d]);
      rest -= at * all[d];
      if (d >= offset && shape[d - offset] !== 1) place += at * own[d - offset];
    }
    places[i] = place;
  }
  return places;
}

const unary = (f, Kind = null) => ([x]) => {
  const out = new (Kind || x.data.constructor)(x.data.length);
  for (let i = 0; i < out.length; i++) out[i] = f(x.data[i]);
  return [tensor(x.shape, out)];
};

const binary = (f, Kind = null) => ([a, b]) => {
  const shape = broadcastShape(a.shape, b.shape), pa = placesIn(a.shape, shape), pb = placesIn(b.shape, shape);
  const out = new (Kind || a.data.constructor)(sizeOf(shape));
  for (let i = 0; i < out.length; i++) out[i] = f(a.data[pa ? pa[i] : i], b.data[pb ? pb[i] : i]);
  return [tensor(shape, out)];
};

const several = (f) => (inputs) => inputs.slice(1).reduce((a, b) => binary(f)([a[0], b]), [inputs[0]]);

function erf(x) { // Abramowitz and Stegun's series and continued fraction, within 1e-12
  const a = Math.abs(x);
  if (a < 2.5) {
    let term = a, sum = a;
    for (let n = 1; n < 80 && Math.abs(term) > 1e-17 * Math.abs(sum); n++) {
      term *= (-a * a) / n;
      sum += term / (2 * n + 1);
    }
    return Math.sign(x) * sum * 2 / Math.sqrt(Math.PI);
  }
  let fraction = 0;
  for (let n = 60; n > 0; n--) fraction = n / 2 / (a + fraction);
  return Math.sign(x) * (1 - Math.exp(-a * a) / Math.sqrt(Math.PI) / (a + fraction));
}

function reduce(start, step, end = (value) => value) {
  return ([x, given], { axes, keepdims = 1, noop_with_empty_axes: noop = 0 }) => {
    const rank = x.shape.length;
    let chosen = given ? Array.from(given.data) : axes || [];
    if (!chosen.length) { if (noop) return [x]; chosen = x.shape.map((_, i) => i); }
    chosen = new Set(chosen.map((axis) => axisOf(axis, rank)));
    const kept = x.shape.map((n, i) => (chosen.has(i) ? 1 : n));
    const places = placesIn(kept, x.shape), total = new Float64Array(sizeOf(kept)).fill(start);
    for (let i = 0; i < x.data.length; i++) {
      const at = places ? places[i] : i;
      total[at] = step(total[at], x.data[i]);
    }
    const count = x.data.length / total.length, out = new x.data.constructor(total.length);
    for (let i = 0; i < out.length; i++) out[i] = end(total[i], count);
    return [tensor(keepdims ? kept : x.shape.filter((_, i) => !chosen.has(i)), out)];
  };
}

// The numbers before, along and after an axis.
function around(shape, axis) {
  return [sizeOf(shape.slice(0, axis)), shape[axis], sizeOf(shape.slice(axis + 1))];
}

function softmax(log) {
  return ([x], { axis = -1 }) => {
    const [outer, n, inner] = around(x.shape, axisOf(axis, x.shape.length)), out = new Float32Array(x.data.length);
    for (let o = 0; o < outer; o++) for (let j = 0; j < inner; j++) {
      const at = (k) => (o * n + k) * inner + j;
      let most = -Infinity, total = 0;
      for (let k = 0; k < n; k++) most = Math.max(most, x.data[at(k)]);
      for (let k = 0; k < n; k++) total += Math.exp(x.data[at(k)] - most);
      for (let k = 0; k < n; k++) {
        const value = x.data[at(k)] - most;
        out[at(k)] = log ? value - Math.log(total) : Math.exp(value) / total;
      }
    }
    return [tensor(x.shape, out)];
  };
}

// c (m, n) += a (m, k) b (k, n); the inner loop runs along rows.
function multiply(a, b, c, m, k, n, ao = 0, bo = 0, co = 0) {
  for (let i = 0; i < m; i++) for (let p = 0; p < k; p++) {
    const factor = a[ao + i * k + p];
    if (factor === 0) continue;
    const from = bo + p * n, to = co + i * n;
    for (let j = 0; j < n; j++) c[to + j] += factor * b[from + j];
  }
}

function transposed(x, order) {
  const shape = order.map((d) => x.shape[d]), strides = stridesOf(x.shape), out = new x.data.constructor(x.data.length);
  const steps = order.map((d) => strides[d]), index = new Array(shape.length).fill(0);
  let from = 0;
  for (let i = 0; i < out.length; i++) {
    out[i] = x.data[from];
    for (let d = shape.length - 1; d >= 0; d--) {
      from += steps[d];
      if (++index[d] < shape[d]) break;
      from -= steps[d] * shape[d];
      index[d] = 0;
    }
  }
  return tensor(shape, out);
}

function gemm([a, b, c], { alpha = 1, beta = 1, transA = 0, transB = 0 }) {
  const left = transA ? transposed(a, [1, 0]) : a, [m, k] = left.shape, n = transB ? b.shape[0] : b.shape[1];
  const out = new Float32Array(m * n);
  if (transB) { // rows of both: dot products
    for (let i = 0; i < m; i++) for (let j = 0; j < n; j++) {
      let total = 0;
      for (let p = 0, l = i * k, r = j * k; p < k; p++) total += left.data[l + p] * b.data[r + p];
      out[i * n + j] = total;
    }
  } else multiply(left.data, b.data, out, m, k, n);
  const places = c && placesIn(c.shape, [m, n]);
  for (let i = 0; i < out.length; i++) out[i] = alpha * out[i] + (c ? beta * c.data[places ? places[i] : i] : 0);
  return [tensor([m, n], out)];
}

function matmul([a, b]) {
  const [one, two] = [a.shape.length === 1, b.shape.length === 1];
  const sa = one ? [1, ...a.shape] : a.shape, sb = two ? [...b.shape, 1] : b.shape;
  const [m, k] = sa.slice(-2), n = sb[sb.length - 1], lead = broadcastShape(sa.slice(0, -2), sb.slice(0, -2));
  const count = sizeOf(lead), pa = placesIn(sa.slice(0, -2), lead), pb = placesIn(sb.slice(0, -2), lead);
  const out = new Float32Array(count * m * n);
  for (let i = 0; i < count; i++) {
    multiply(a.data, b.data, out, m, k, n, (pa ? pa[i] : i) * m * k, (pb ? pb[i] : i) * k * n, i * m * n);
  }
  return [tensor([...lead, ...(one ? [] : [m]), ...(two ? [] : [n])], out)];
}

function einsum(inputs, { equation }) {
  const [left, right] = equation.replace(/\s/g, "").split("->"), terms = left.split(","), sizes = {};
  terms.forEach((term, i) => [...term].forEach((letter, d) => { sizes[letter] = inputs[i].shape[d]; }));
  const summed = [...new Set(left.replace(/,/g, ""))].filter((letter) => !right.includes(letter));
  const letters = [...right, ...summed], shape = letters.map((letter) => sizes[letter]);
  const steps = terms.map((term, i) => {
    const strides = stridesOf(inputs[i].shape);
    return letters.map((letter) => [...term].reduce((a, l, d) => a + (l === letter ? strides[d] : 0), 0));
  });
  const out = new Float32Array(sizeOf([...right].map((letter) => sizes[letter])));
  const inner = sizeOf(summed.map((letter) => sizes[letter])), index = new Array(letters.length).fill(0);
  const at = new Array(terms.length).fill(0);
  for (let i = 0; i < out.length * inner; i++) {
    let product = 1;
    for (let t = 0; t < at.length; t++) product *= inputs[t].data[at[t]];
    out[Math.floor(i / inner)] += product;
    for (let d = letters.length - 1; d >= 0; d--) {
      for (let t = 0; t < at.length; t++) at[t] += steps[t][d];
      if (++index[d] < shape[d]) break;
      for (let t = 0; t < at.length; t++) at[t] -= steps[t][d] * shape[d];
      index[d] = 0;
    }
  }
  return [tensor([...right].map((letter) => sizes[letter]), out)];
}

// Two spatial axes; one is taken as two, of which the first has size one.
function flatImage(x, w, attributes) {
  if (x.shape.length === 4) return [x, w, attributes];
  const pad = attributes.pads || [0, 0];
  return [
    tensor([x.shape[0], x.shape[1], 1, x.shape[2]], x.data), w && tensor([w.shape[0], w.shape[1], 1, w.shape[2]], w.data),
    { ...attributes, kernel_shape: attributes.kernel_shape && [1, ...attributes.kernel_shape],
      strides: [1, ...(attributes.strides || [1])], dilations: [1, ...(attributes.dilations || [1])],
      pads: [0, pad[0], 0, pad[1]], output_padding: [0, ...(attributes.output_padding || [0])] },
  ];
}

// Where columns of a kernel that starts at `shift` stay inside a row of `size` numbers.
function inside(size, count, stride, shift) {
  const first = Math.max(0, Math.ceil(-shift / stride));
  return [first, Math.min(count, Math.floor((size - 1 - shift) / stride) + 1)];
}

function conv([image, kernel, bias], given) {
  const [x, w, attributes] = flatImage(image, kernel, given);
  const { group = 1, strides: [sy, sx] = [1, 1], dilations: [dy, dx] = [1, 1], pads = [0, 0, 0, 0] } = attributes;
  const [items, colors, height, width] = x.shape, [outputs, part, kh, kw] = w.shape;
  const oh = Math.floor((height + pads[0] + pads[2] - dy * (kh - 1) - 1) / sy) + 1;
  const ow = Math.floor((width + pads[1] + pads[3] - dx * (kw - 1) - 1) / sx) + 1;
  const out = new Float32Array(items * outputs * oh * ow);
  for (let n = 0; n < items; n++) for (let o = 0; o < outputs; o++) {
    const base = (n * outputs + o) * oh * ow, start = Math.floor(o / (outputs / group)) * part;
    if (bias) out.fill(bias.data[o], base, base + oh * ow);
    for (let c = 0; c < part; c++) for (let i = 0; i < kh; i++) for (let j = 0; j < kw; j++) {
      const weight = w.data[((o * part + c) * kh + i) * kw + j];
      const up = i * dy - pads[0], across = j * dx - pads[1];
      const [left, right] = inside(width, ow, sx, across), [top, bottom] = inside(height, oh, sy, up);
      for (let y = top; y < bottom; y++) {
        const from = ((n * colors + start + c) * height + y * sy + up) * width + across, to = base + y * ow;
        for (let k = left; k < right; k++) out[to + k] += weight * x.data[from + k * sx];
      }
    }
  }
  return [tensor(image.shape.length === 4 ? [items, outputs, oh, ow] : [items, outputs, ow], out)];
}

function convTranspose([image, kernel, bias], given) {
  const [x, w, attributes] = flatImage(image, kernel, given);
  const { group = 1, strides: [sy, sx] = [1, 1], dilations: [dy, dx] = [1, 1], pads = [0, 0, 0, 0] } = attributes;
  const extra = attributes.output_padding || [0, 0], [items, colors, height, width] = x.shape, [, part, kh, kw] = w.shape;
  const outputs = part * group, each = colors / group;
  const oh = (height - 1) * sy + dy * (kh - 1) + 1 + extra[0] - pads[0] - pads[2];
  const ow = (width - 1) * sx + dx * (kw - 1) + 1 + extra[1] - pads[1] - pads[3];
  const out = new Float32Array(items * outputs * oh * ow);
  for (let n = 0; n < items; n++) for (let o = 0; o < outputs; o++) {
    const base = (n * outputs + o) * oh * ow, start = Math.floor(o / part) * each;
    if (bias) out.fill(bias.data[o], base, base + oh * ow);
    for (let c = start; c < start + each; c++) for (let i = 0; i < kh; i++) for (let j = 0; j < kw; j++) {
      const weight = w.data[((c * part) + (o % part)) * kh * kw + i * kw + j];
      const up = i * dy - pads[0], across = j * dx - pads[1];
      const [left, right] = inside(ow, width, sx, across), [top, bottom] = inside(oh, height, sy, up);
      for (let y = top; y < bottom; y++) {
        const from = ((n * colors + c) * height + y) * width, to = base + (y * sy + up) * ow + across;
        for (let k = left; k < right; k++) out[to + k * sx] += weight * x.data[from + k];
      }
    }
  }
  return [tensor(image.shape.length === 4 ? [items, outputs, oh, ow] : [items, outputs, ow], out)];
}

function pool(start, step, end) {
  return ([image], given) => {
    const [x, , attributes] = flatImage(image, null, given);
    const { kernel_shape: [kh, kw], strides: [sy, sx] = [1, 1], pads = [0, 0, 0, 0], ceil_mode: ceil = 0 } = attributes;
    const [items, colors, height, width] = x.shape, round = ceil ? Math.ceil : Math.floor;
    const places = (size, kernel, stride, before, after) => {
      const count = round((size + before + after - kernel) / stride) + 1; // no window starts in the padding after
      return ceil && (count - 1) * stride >= size + before ? count - 1 : count;
    };
    const oh = places(height, kh, sy, pads[0], pads[2]), ow = places(width, kw, sx, pads[1], pads[3]);
    const out = new Float32Array(items * colors * oh * ow);
    for (let p = 0; p < items * colors; p++) for (let y = 0; y < oh; y++) for (let k = 0; k < ow; k++) {
      let value = start, count = 0;
      for (let i = 0; i < kh; i++) for (let j = 0; j < kw; j++) {
        const row = y * sy + i - pads[0], column = k * sx + j - pads[1];
        if (row < 0 || column < 0 || row >= height || column >= width) continue;
        value = step(value, x.data[(p * height + row) * width + column]);
        count++;
      }
      out[(p * oh + y) * ow + k] = end(value, given.count_include_pad ? kh * kw : count);
    }
    return [tensor(image.shape.length === 4 ? [items, colors, oh, ow] : [items, colors, ow], out)];
  };
}

function normalized([x, scale, bias, mean, variance], { epsilon = 1e-5 }) {
  const [, channels, inner] = [0, x.shape[1], sizeOf(x.shape.slice(2))], out = new Float32Array(x.data.length);
  for (let i = 0; i < out.length; i++) {
    const c = Math.floor(i / inner) % channels;
    out[i] = (x.data[i] - mean.data[c]) / Math.sqrt(variance.data[c] + epsilon) * scale.data[c] + bias.data[c];
  }
  return [tensor(x.shape, out)];
}

function layerNormalized([x, scale, bias], { axis = -1, epsilon = 1e-5 }) {
  const inner = sizeOf(x.shape.slice(axisOf(axis, x.shape.length))), out = new Float32Array(x.data.length);
  for (let o = 0; o < out.length; o += inner) {
    let mean = 0, variance = 0;
    for (let i = 0; i < inner; i++) mean += x.data[o + i] / inner;
    for (let i = 0; i < inner; i++) variance += (x.data[o + i] - mean) ** 2 / inner;
    for (let i = 0; i < inner; i++) {
      out[o + i] = (x.data[o + i] - mean) / Math.sqrt(variance + epsilon) * scale.data[i] + (bias ? bias.data[i] : 0);
    }
  }
  return [tensor(x.shape, out)];
}

function gather([x, index], { axis = 0 }) {
  const at = axisOf(axis, x.shape.length), [outer, n, inner] = around(x.shape, at), count = index.data.length;
  const out = new x.data.constructor(outer * count * inner);
  for (let o = 0; o < outer; o++) for (let i = 0; i < count; i++) {
    const from = (o * n + axisOf(index.data[i], n)) * inner;
    out.set(x.data.subarray(from, from + inner), (o * count + i) * inner);
  }
  return [tensor([...x.shape.slice(0, at), ...index.shape, ...x.shape.slice(at + 1)], out)];
}

function gatherElements([x, index], { axis = 0 }) {
  const at = axisOf(axis, x.shape.length), own = stridesOf(x.shape), places = stridesOf(index.shape);
  const out = new x.data.constructor(index.data.length);
  for (let i = 0; i < out.length; i++) {
    let rest = i, from = 0;
    for (let d = 0; d < places.length; d++) {
      const place = Math.floor(rest / places[d]);
      rest -= place * places[d];
      from += own[d] * (d === at ? axisOf(index.data[i], x.shape[d]) : place);
    }
    out[i] = x.data[from];
  }
  return [tensor(index.shape, out)];
}

function gatherND([x, index], { batch_dims: b = 0 }) {
  const depth = index.shape[index.shape.length - 1], inner = sizeOf(x.shape.slice(b + depth));
  const own = stridesOf(x.shape), count = index.data.length / depth, out = new x.data.constructor(count * inner);
  const batches = sizeOf(x.shape.slice(0, b)), each = count / batches, step = x.data.length / batches;
  for (let i = 0; i < count; i++) {
    let from = Math.floor(i / each) * step;
    for (let d = 0; d < depth; d++) from += own[b + d] * axisOf(index.data[i * depth + d], x.shape[b + d]);
    out.set(x.data.subarray(from, from + inner), i * inner);
  }
  return [tensor([...index.shape.slice(0, -1), ...x.shape.slice(b + depth)], out)];
}

const REDUCTIONS = { none: (a, b) => b, add: (a, b) => a + b, mul: (a, b) => a * b, max: Math.max, min: Math.min };

function scatterND([x, index, updates], { reduction = "none" }) {
  const joined = REDUCTIONS[reduction];
  const depth = index.shape[index.shape.length - 1], inner = sizeOf(x.shape.slice(depth)), own = stridesOf(x.shape);
  const out = x.data.slice();
  for (let i = 0; i < index.data.length / depth; i++) {
    let to = 0;
    for (let d = 0; d < depth; d++) to += own[d] * axisOf(index.data[i * depth + d], x.shape[d]);
    for (let j = 0; j < inner; j++) out[to + j] = joined(out[to + j], updates.data[i * inner + j]);
  }
  return [tensor(x.shape, out)];
}

function concat(inputs, { axis }) {
  const at = axisOf(axis, inputs[0].shape.length), shape = inputs[0].shape.slice();
  shape[at] = inputs.reduce((total, x) => total + x.shape[at], 0);
  const out = new inputs[0].data.constructor(sizeOf(shape)), [outer, n, inner] = around(shape, at);
  let done = 0;
  for (const x of inputs) {
    const length = x.shape[at] * inner;
    for (let o = 0; o < outer; o++) out.set(x.data.subarray(o * length, (o + 1) * length), o * n * inner + done);
    done += length;
  }
  return [tensor(shape, out)];
}

function sliced(x, starts, ends, axes, steps) {
  const first = x.shape.map(() => 0), step = x.shape.map(() => 1), shape = x.shape.slice();
  axes.forEach((axis, i) => {
    const d = axisOf(axis, x.shape.length), n = x.shape[d], by = steps ? steps[i] : 1;
    const clip = (v) => Math.min(Math.max(v < 0 ? v + n : v, by < 0 ? -1 : 0), by < 0 ? n - 1 : n);
    const end = by < 0 && ends[i] < -n ? -1 : clip(ends[i]);
    first[d] = clip(starts[i]);
    step[d] = by;
    shape[d] = Math.max(0, Math.ceil((end - first[d]) / by));
  });
  const own = stridesOf(x.shape), places = stridesOf(shape), out = new x.data.constructor(sizeOf(shape));
  for (let i = 0; i < out.length; i++) {
    let rest = i, from = 0;
    for (let d = 0; d < places.length; d++) {
      const place = Math.floor(rest / places[d]);
      rest -= place * places[d];
      from += own[d] * (first[d] + place * step[d]);
    }
    out[i] = x.data[from];
  }
  return tensor(shape, out);
}

function split([x, sizes], { axis = 0, num_outputs: count }, outputs) {
  const d = axisOf(axis, x.shape.length), n = x.shape[d], equal = Math.ceil(n / (count || outputs));
  const widths = sizes ? Array.from(sizes.data) : Array.from({ length: outputs }, (_, i) => Math.min(equal, n - i * equal));
  let start = 0;
  return widths.map((width) => sliced(x, [start], [(start += width)], [d]));
}

function reshape([x, target], { allowzero = 0 }) {
  const shape = Array.from(target.data, (n, i) => (n === 0 && !allowzero ? x.shape[i] : n)), open = shape.indexOf(-1);
  if (open >= 0) { shape[open] = 1; shape[open] = x.data.length / sizeOf(shape); }
  return [tensor(shape, x.data)];
}

function unsqueeze([x, axes], attributes) {
  const given = axes ? Array.from(axes.data) : attributes.axes, rank = x.shape.length + given.length;
  const fresh = new Set(given.map((axis) => axisOf(axis, rank))), own = x.shape.slice();
  return [tensor(Array.from({ length: rank }, (_, i) => (fresh.has(i) ? 1 : own.shift())), x.data)];
}

function squeeze([x, axes], attributes) {
  const given = axes ? Array.from(axes.data) : attributes.axes, rank = x.shape.length;
  const gone = new Set((given || []).map((axis) => axisOf(axis, rank)));
  return [tensor(x.shape.filter((n, i) => !(given ? gone.has(i) : n === 1)), x.data)];
}

function expand([x, target]) {
  const shape = broadcastShape(x.shape, Array.from(target.data)), places = placesIn(x.shape, shape);
  return [tensor(shape, places ? x.data.constructor.from(places, (place) => x.data[place]) : x.data)];
}

function where([condition, a, b]) {
  const shape = broadcastShape(condition.shape, a.shape, b.shape);
  const [pc, pa, pb] = [condition, a, b].map((x) => placesIn(x.shape, shape)), out = new a.data.constructor(sizeOf(shape));
  for (let i = 0; i < out.length; i++) {
    out[i] = condition.data[pc ? pc[i] : i] ? a.data[pa ? pa[i] : i] : b.data[pb ? pb[i] : i];
  }
  return [tensor(shape, out)];
}

function extreme(better) {
  return ([x], { axis = 0, keepdims = 1 }) => {
    const d = axisOf(axis, x.shape.length), [outer, n, inner] = around(x.shape, d), out = new Int32Array(outer * inner);
    for (let o = 0; o < outer; o++) for (let j = 0; j < inner; j++) {
      let best = 0;
      for (let k = 1; k < n; k++) if (better(x.data[(o * n + k) * inner + j], x.data[(o * n + best) * inner + j])) best = k;
      out[o * inner + j] = best;
    }
    return [tensor(keepdims ? x.shape.map((m, i) => (i === d ? 1 : m)) : x.shape.filter((_, i) => i !== d), out)];
  };
}

function cast([x], { to }) {
  if (to === 9) return unary((v) => (v ? 1 : 0), Uint8Array)([x]);
  if ([2, 3, 4, 5, 6, 7, 12, 13].includes(to)) return unary(Math.trunc, Int32Array)([x]);
  return [tensor(x.shape, x.data instanceof Float32Array ? x.data : Float32Array.from(x.data))];
}

function clip([x, low, high]) {
  const from = low ? low.data[0] : -Infinity, to = high ? high.data[0] : Infinity;
  return unary((v) => (v < from ? from : v > to ? to : v))([x]); // NaN stays NaN
}

function logSumExp(inputs, attributes) {
  const most = OPERATORS.ReduceMax(inputs, { ...attributes, keepdims: 1 })[0];
  const shifted = unary(Math.exp)(binary((a, b) => a - b)([inputs[0], most]));
  const total = OPERATORS.ReduceSum([shifted[0], ...inputs.slice(1)], attributes)[0];
  const out = Float32Array.from(total.data, (v, i) => Math.log(v) + most.data[i]);
  return [tensor(total.shape, out)];
}

// One operator a line: the exporter reads their names from here.
const OPERATORS = {
  Abs: unary(Math.abs),
  Add: binary((a, b) => a + b),
  And: binary((a, b) => a && b),
  ArgMax: extreme((a, b) => a > b),
  ArgMin: extreme((a, b) => a < b),
  AveragePool: pool(0, (a, b) => a + b, (total, count) => total / count),
  BatchNormalization: normalized,
  Cast: cast,
  Ceil: unary(Math.ceil),
  Clip: clip,
  Concat: concat,
  ConstantOfShape: ([s], { value }) => [tensor(Array.from(s.data), new Float32Array(sizeOf(Array.from(s.data))).fill(value ? value[0] : 0))],
  Conv: conv,
  ConvTranspose: convTranspose,
  Cos: unary(Math.cos),
  Div: ([a, b]) => binary(a.data instanceof Int32Array ? (p, q) => Math.trunc(p / q) : (p, q) => p / q)([a, b]),
  Einsum: einsum,
  Elu: ([x], { alpha = 1 }) => unary((v) => (v < 0 ? alpha * Math.expm1(v) : v))([x]),
  Equal: binary((a, b) => (a === b ? 1 : 0), Uint8Array),
  Erf: unary(erf),
  Exp: unary(Math.exp),
  Expand: expand,
  Flatten: ([x], { axis = 1 }) => [tensor([sizeOf(x.shape.slice(0, axis)), sizeOf(x.shape.slice(axis))], x.data)],
  Floor: unary(Math.floor),
  Gather: gather,
  GatherElements: gatherElements,
  GatherND: gatherND,
  Gelu: unary((v) => 0.5 * v * (1 + erf(v / Math.SQRT2))),
  Gemm: gemm,
  Greater: binary((a, b) => (a > b ? 1 : 0), Uint8Array),
  GreaterOrEqual: binary((a, b) => (a >= b ? 1 : 0), Uint8Array),
  Identity: ([x]) => [x],
  IsInf: unary((v) => (Math.abs(v) === Infinity ? 1 : 0), Uint8Array),
  IsNaN: unary((v) => (v !== v ? 1 : 0), Uint8Array),
  LayerNormalization: layerNormalized,
  LeakyRelu: ([x], { alpha = 0.01 }) => unary((v) => (v < 0 ? alpha * v : v))([x]),
  Less: binary((a, b) => (a < b ? 1 : 0), Uint8Array),
  LessOrEqual: binary((a, b) => (a <= b ? 1 : 0), Uint8Array),
  Log: unary(Math.log),
  LogSoftmax: softmax(true),
  MatMul: matmul,
  Max: several((a, b) => (a > b || a !== a ? a : b)),
  MaxPool: pool(-Infinity, Math.max, (value) => value),
  Min: several((a, b) => (a < b || a !== a ? a : b)),
  Mul: binary((a, b) => a * b),
  Neg: unary((v) => -v),
  Not: unary((v) => (v ? 0 : 1)),
  Or: binary((a, b) => a || b),
  Pow: binary(Math.pow),
  Reciprocal: unary((v) => 1 / v),
  ReduceL2: reduce(0, (a, b) => a + b * b, Math.sqrt),
  ReduceLogSumExp: logSumExp,
  ReduceMax: reduce(-Infinity, Math.max),
  ReduceMean: reduce(0, (a, b) => a + b, (total, count) => total / count),
  ReduceMin: reduce(Infinity, Math.min),
  ReduceProd: reduce(1, (a, b) => a * b),
  ReduceSum: reduce(0, (a, b) => a + b),
  Relu: unary((v) => (v < 0 ? 0 : v)),
  Reshape: reshape,
  ScatterND: scatterND,
  Shape: ([x], { start = 0, end }) => [tensor([x.shape.slice(start, end).length], Int32Array.from(x.shape.slice(start, end)))],
  Sigmoid: unary((v) => 1 / (1 + Math.exp(-v))),
  Sign: unary(Math.sign),
  Sin: unary(Math.sin),
  Slice: ([x, s, e, a, t]) => [sliced(x, s.data, e.data, a ? Array.from(a.data) : Array.from(s.data, (_, i) => i), t && t.data)],
  Softmax: softmax(false),
  Softplus: unary((v) => Math.max(v, 0) + Math.log1p(Math.exp(-Math.abs(v)))),
  Split: split,
  Sqrt: unary(Math.sqrt),
  Squeeze: squeeze,
  Sub: binary((a, b) => a - b),
  Tanh: unary(Math.tanh),
  Transpose: ([x], { perm }) => [transposed(x, perm || x.shape.map((_, i) => x.shape.length - 1 - i))],
  Unsqueeze: unsqueeze,
  Where: where,
};

const KINDS = { float: Float32Array, int: Int32Array, bool: Uint8Array };

// A graph {inputs, outputs, constants, nodes} with its constants in one block of bytes.
class Graph {
  constructor(graph, bytes) {
    this.inputs = graph.inputs;
    this.outputs = graph.outputs;
    this.nodes = graph.nodes;
    this.constants = graph.constants.map(([name, kind, shape, start]) => {
      const Kind = KINDS[kind], length = sizeOf(shape) * Kind.BYTES_PER_ELEMENT;
      return [name, tensor(shape, new Kind(bytes.buffer.slice(bytes.byteOffset + start, bytes.byteOffset + start + length)))];
    });
  }

  // Inputs and outputs by name.
  run(inputs) {
    const values = new Map(this.constants);
    for (const { name, id } of this.inputs) values.set(id, inputs[name]);
    for (const [operator, from, to, attributes] of this.nodes) {
      const made = OPERATORS[operator](from.map((id) => (id < 0 ? undefined : values.get(id))), attributes, to.length);
      to.forEach((id, i) => values.set(id, made[i]));
    }
    return Object.fromEntries(this.outputs.map(({ name, id }) => [name, values.get(id)]));
  }
}
