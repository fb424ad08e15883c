// The rows of the report, unpacked: the other side of row_data.py and json_columns.py.

const content = JSON.parse(byId("report-data").textContent);

const ARRAYS = new Map([
  ["u1", Uint8Array],
  ["u2", Uint16Array],
  ["u4", Uint32Array],
  ["i2", Int16Array],
  ["f4", Float32Array],
  ["f8", Float64Array],
]);

function unpack(packed) {
  const text = atob(packed.data);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i += 1) bytes[i] = text.charCodeAt(i);
  return new (ARRAYS.get(packed.type))(bytes.buffer);
}

// A column answers with a number, a text, or null for a missing value.
class Column {
  constructor(encoded) {
    this.isNumber = encoded.kind === "number";
    this.levels = encoded.levels ?? null;
    this.entries = unpack(encoded.levels ? encoded.codes : encoded.array);
    this.isWhole = encoded.whole !== false;
  }

  at(row) {
    const entry = this.entries[row];
    if (this.levels) return entry < this.levels.length ? this.levels[entry] : null;
    return Number.isNaN(entry) ? null : entry;
  }

  text(row) {
    const value = this.at(row);
    if (value === null) return "missing";
    return this.isNumber ? numberText(value, 5, this.isWhole) : value;
  }

  node(row) {
    if (this.at(row) === null) return element("span", { class: "missing" }, "missing");
    return isolated(this.text(row));
  }
}

const column = (encoded) => (encoded ? new Column(encoded) : null);

class Rows {
  constructor(packed) {
    this.symbol = packed.symbol;
    this.quantity = packed.quantity;
    // "loss" is the account: how surprising the row's answer was, and still is to the forest.
    this.isLoss = packed.measure === "loss";
    this.expected = packed.expected ? unpack(packed.expected) : null;
    this.names = packed.names;
    this.position = unpack(packed.position);
    this.n = this.position.length;
    this.label = column(packed.label);
    this.prediction = column(packed.prediction);
    this.target = column(packed.target);
    this.cells = packed.cells ? packed.cells.map(column) : packed.names.map(() => null);
    // Levels at root and leaf; null where values are gains, which do not lead from one to the other.
    this.baseline = packed.baseline ? unpack(packed.baseline) : null;
    this.residual = packed.residual ? unpack(packed.residual) : null;
    this.direction = packed.direction ? unpack(packed.direction) : null;
    this.ofClasses = packed.of_classes;
    // The share of the predicted class; null where it is not known.
    this.sure = packed.sure ? unpack(packed.sure) : null;
    this.classes = packed.classes;
    this.pairs = packed.pairs;
    this.pairSteps = packed.pairs ? unpack(packed.pairs.values.steps) : null;
    // The rule that holds for each row, of those that the card of segments lists.
    this.segments = packed.segments ? { rules: packed.segments.rules, code: unpack(packed.segments.code) } : null;
    this.nHidden = packed.n_hidden;
    this.hidden = packed.hidden ? unpack(packed.hidden) : null;
    this.scale = packed.values.scale;
    this.steps = unpack(packed.values.steps);
    this.errors = packed.errors;
    this.errorSteps = packed.errors ? unpack(packed.errors.steps) : null;
    this.index = new Map(Array.from(this.position, (position, row) => [position, row]));
    // What is left of an account may be more than what was there, and not a number.
    const sizes = this.hasLevels ? [...this.baseline, ...this.residual] : this.scale.map((scale) => 32767 * scale);
    const largest = sizes.reduce((a, b) => Math.max(a, Math.abs(b) || 0), 0);
    this.power = sharedPower(largest);
    this.decimals = decimalsFor(largest / 10 ** this.power);
  }

  value(row, feature) {
    const step = this.steps[feature * this.n + row];
    return step === -32768 ? NaN : step * this.scale[feature];
  }

  pairValue(row, pair) {
    const step = this.pairSteps[pair * this.n + row];
    return step === -32768 ? 0 : step * this.pairs.values.scale[pair];
  }

  error(row, feature) {
    if (!this.errorSteps) return NaN;
    const step = this.errorSteps[feature * this.n + row];
    if (step < 2) return step === 1 ? 0 : NaN;
    return Math.exp(this.errors.low + (step - 2) * this.errors.width);
  }

  // A name of at most so many letters, unlike the others.
  shortName(feature, letters) {
    this.short ??= new Map();
    if (!this.short.has(letters)) this.short.set(letters, shortNames(this.names, letters));
    return this.short.get(letters)[feature];
  }

  // 1: the feature pushed towards what is predicted, -1: away from it, 0: neither or not known.
  push(row, feature) {
    const at = feature * this.n + row;
    return this.direction ? ((this.direction[at >> 2] >> (2 * (at & 3))) & 3) - 1 : 0;
  }

  get hasLevels() {
    return this.baseline !== null && this.residual !== null;
  }

  // `more` decimals where there is room for them.
  amount(number, more = 0) {
    const text = amountText(number / 10 ** this.power, this.decimals + more);
    return this.power && Number.isFinite(number) ? `${text} × ${powerText(10 ** this.power).slice(4)}` : text;
  }

  // The same in a table, whose head names the power of ten once.
  bareAmount(number) {
    return amountText(number / 10 ** this.power, this.decimals);
  }

  get powerMark() {
    return this.power ? `× ${powerText(10 ** this.power).slice(4)}` : "";
  }

  // A unit without a symbol, variance say, is named once and not behind every number.
  withUnit(text) {
    return this.symbol ? `${text} ${this.symbol}` : text;
  }

  // Features of a row, those with the largest values first.
  ranked(row) {
    const order = this.names.map((_, feature) => feature);
    const size = order.map((feature) => Math.abs(this.value(row, feature)) || 0);
    return order.sort((a, b) => size[b] - size[a] || a - b);
  }

  get predictsNumbers() {
    return this.prediction !== null && this.prediction.isNumber && !this.ofClasses;
  }

  // Classes of long names are cut.
  isOfClass(row, label) {
    const text = this.target.text(row);
    return text === label || (label.endsWith("…") && text.startsWith(label.slice(0, -1)));
  }

  differs(row) {
    if (!this.prediction || !this.target) return false;
    return this.prediction.at(row) !== this.target.at(row);
  }
}

const rows = new Rows(content.rows);
