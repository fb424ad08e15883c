// The two Vega charts: dots for the beeswarm, colours from the style sheet, tips as text.

const COLOURS = ["card", "ink", "muted", "line", "removed", "raised", "low", "high", "none"];
const views = [];

// Rank of each value among the distinct ones, from 0 to 1: outliers do not wash out the colours.
function shades(cells) {
  if (!cells || !cells.isNumber) return null;
  const known = [];
  for (let row = 0; row < rows.n; row += 1) if (cells.at(row) !== null) known.push(cells.at(row));
  const levels = [...new Set(known)].sort((a, b) => a - b);
  const shade = new Map(levels.map((level, i) => [level, i / Math.max(1, levels.length - 1)]));
  return (row) => (cells.at(row) === null ? null : shade.get(cells.at(row)));
}

// Dots that would lie on each other move up and down by turns.
function dots(nFeatures) {
  const found = [];
  let low = 0;
  let high = 0;
  for (let f = 0; f < nFeatures; f += 1) {
    for (let row = 0; row < rows.n; row += 1) {
      low = Math.min(low, rows.value(row, f) || 0);
      high = Math.max(high, rows.value(row, f) || 0);
    }
  }
  const width = (high - low) / 160 || 1;
  for (let f = 0; f < nFeatures; f += 1) {
    const shade = shades(rows.cells[f]);
    const bins = new Map();
    for (let row = 0; row < rows.n; row += 1) {
      const value = rows.value(row, f);
      if (!Number.isFinite(value)) continue;
      const bin = Math.round(value / width);
      if (!bins.has(bin)) bins.set(bin, []);
      bins.get(bin).push(row);
    }
    const fullest = Math.max(12, ...[...bins.values()].map((members) => members.length));
    for (const members of bins.values()) {
      members.forEach((row, i) => {
        const side = i % 2 ? 1 : -1;
        const offset = (side * Math.ceil(i / 2) * 2) / fullest;
        const value = rows.value(row, f);
        found.push({ rank: f, row, value, offset, shade: shade?.(row) ?? -1 });
      });
    }
  }
  return found;
}

function paint(view) {
  const style = getComputedStyle(document.documentElement);
  for (const name of COLOURS) view.signal(name, style.getPropertyValue(`--${name}`).trim());
  view.runAsync();
}

function valueText(value) {
  if (!rows.hasLevels) return `gain ${rows.withUnit(rows.amount(value))}`;
  const verb = value < 0 ? "raised by" : "removed";
  return `${verb} ${rows.withUnit(rows.amount(Math.abs(value)))}`;
}

function tipText(datum) {
  const name = rows.names[datum.rank];
  if (datum.row === undefined) {
    const noise = datum.noise ? "\nnot distinguishable from noise" : "";
    return `${name}\n${rows.withUnit(numberText(datum.value))}${noise}`;
  }
  const cells = rows.cells[datum.rank];
  const own = cells ? ` = ${cells.text(datum.row)}` : "";
  return `Row ${rows.label.text(datum.row)}\n${name}${own}\n${valueText(datum.value)}`;
}

function showTip(handler, event, item) {
  const tip = byId("tip");
  const datum = item && item.datum && item.datum.rank !== undefined ? item.datum : null;
  tip.hidden = !datum;
  if (!datum) return;
  tip.textContent = tipText(datum);
  const left = Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8);
  tip.style.left = `${Math.max(8, left)}px`;
  tip.style.top = `${Math.min(event.clientY + 14, innerHeight - tip.offsetHeight - 8)}px`;
}

async function drawChart(id, spec, options) {
  const place = byId(id);
  const limit = spec.params.find((parameter) => parameter.name === "limit");
  limit.value = Math.round(Math.min(180, place.clientWidth * 0.36));
  const labels = spec.params.find((parameter) => parameter.name === "names");
  labels.value = shortNames(rows.names.slice(0, labels.value.length), Math.floor(limit.value / 7));
  // `ast` evaluates expressions without eval, which the page's security policy forbids.
  const embedded = await vegaEmbed(place, spec, {
    mode: "vega-lite",
    actions: false,
    ast: true,
    defaultStyle: false,
    tooltip: showTip,
    ...options,
  });
  views.push(embedded.view);
  paint(embedded.view);
  return embedded.view;
}

async function drawCharts(openRow) {
  await drawChart("bar", content.charts.bar, { renderer: "svg" });
  const spec = content.charts.beeswarm;
  spec.datasets = { dots: dots(spec.params.find((one) => one.name === "names").value.length) };
  const view = await drawChart("beeswarm", spec, { renderer: "canvas" });
  view.addEventListener("click", (_, item) => {
    if (item && item.datum && item.datum.row !== undefined) openRow(item.datum.row);
  });
  const repaint = () => views.forEach(paint);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);
  matchMedia("print").addEventListener("change", repaint);
}
