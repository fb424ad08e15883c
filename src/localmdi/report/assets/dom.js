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

function numberText(number, digits = 4) {
  if (Number.isNaN(number)) return "missing";
  if (!Number.isFinite(number)) return number > 0 ? "∞" : "−∞";
  if (Number.isInteger(number)) return String(number).replace("-", "−");
  return String(Number(number.toPrecision(digits))).replace("-", "−");
}

// Importances share one number of decimals, so that they line up: as many as 3.322 bits needs.
function decimalsFor(largest) {
  if (!(largest > 0)) return 3;
  const digits = largest < 1 ? 2 : 3;
  return Math.min(9, Math.max(0, digits - Math.floor(Math.log10(largest))));
}

function amountText(number, decimals) {
  if (!Number.isFinite(number)) return "–";
  const text = number.toFixed(decimals);
  return (Number(text) === 0 ? text.replace("-", "") : text).replace("-", "−");
}

const countText = (n, noun) => `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`;

const prefersStillness = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
