// Elements and numbers as text. User text only ever becomes text nodes: nothing here parses HTML.

const byId = (id) => document.getElementById(id);

function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value);
  }
  node.append(...children.filter((child) => child !== null));
  return node;
}

const isolated = (text) => element("bdi", {}, text);

// Whole numbers may be years or names of the rows: in a column of these they stay as they are.
function numberText(number, digits = 4, isWhole = true) {
  if (Number.isNaN(number)) return "missing";
  if (!Number.isFinite(number)) return number > 0 ? "∞" : "−∞";
  const size = Math.abs(number);
  if (isWhole && Number.isInteger(number) && size < 1e15) return String(number).replace("-", "−");
  if (number !== 0 && (size >= 1e12 || size < 1e-4)) return powerText(number, digits);
  if (size >= 10 ** (digits - 1)) return Math.round(number).toLocaleString("en").replace("-", "−");
  return Number(number.toPrecision(digits)).toLocaleString("en", { maximumSignificantDigits: digits }).replace("-", "−");
}

// Very large and very small numbers: 7.79 × 10⁹.
function powerText(number, digits = 3) {
  const [factor, power] = number.toExponential(digits - 1).split("e");
  const raised = Array.from(String(Number(power)), (sign) => (sign === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(sign)]));
  return `${Number(factor)} × 10${raised.join("")}`.replace("-", "−");
}

// Long names are cut in the middle: what tells them apart is often their end.
function shortName(name, letters) {
  if (name.length <= letters) return name;
  const tail = Math.floor((letters - 1) / 2);
  return `${name.slice(0, letters - 1 - tail)}…${name.slice(name.length - tail)}`;
}

// Of names that would look alike, the part in which they differ.
function shortNames(names, letters) {
  const short = names.map((name) => shortName(name, letters));
  const alike = new Map();
  short.forEach((text, i) => alike.set(text, [...(alike.get(text) ?? []), i]));
  for (const members of alike.values()) {
    if (members.length < 2) continue;
    const full = members.map((i) => names[i]);
    const shared = (letter) => {
      let n = 0;
      while (n < Math.min(...full.map((name) => name.length)) && full.every((name) => letter(name, n) === letter(full[0], n))) n += 1;
      return n;
    };
    const start = shared((name, n) => name[n]);
    const end = shared((name, n) => name[name.length - 1 - n]);
    for (const i of members) {
      const own = shortName(names[i].slice(start, Math.max(start, names[i].length - end)), letters - 2);
      const room = Math.max(0, letters - own.length - 2);
      const head = room < start ? `${names[i].slice(0, room)}…` : names[i].slice(0, start);
      short[i] = `${head}${own}${end ? "…" : ""}`;
    }
  }
  return short;
}

// Importances share one number of decimals, so that they line up: as many as 3.322 bits needs.
function decimalsFor(largest) {
  if (!(largest > 0)) return 3;
  const digits = largest < 1 ? 2 : 3;
  return Math.min(9, Math.max(0, digits - Math.floor(Math.log10(largest))));
}

function amountText(number, decimals) {
  if (!Number.isFinite(number)) return "–";
  const places = { minimumFractionDigits: decimals, maximumFractionDigits: decimals };
  const text = Math.abs(number).toLocaleString("en", places);
  return number < 0 && /[1-9]/.test(text) ? `−${text}` : text;
}

// Very large and very small importances share one power of ten too: 0.62 × 10⁹ beside 3.34 × 10⁹.
function sharedPower(largest) {
  if (!(largest > 0) || (largest >= 1e-3 && largest < 1e7)) return 0;
  return 3 * Math.floor(Math.log10(largest) / 3);
}

const percentText = (share) => `${Math.round(100 * share)}%`;

const countText = (n, noun) => `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`;

const prefersStillness = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
