// The Vega charts: bars, dots for the beeswarm, colours from the style sheet, tips as text.

const COLOURS = ["card", "ink", "muted", "line", "removed", "raised", "low", "high", "none"];
const views = [];
const SHORTEST_NAME = 8;

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
function dots(nFeatures, accept = () => true) {
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
      if (!Number.isFinite(value) || !accept(row)) continue;
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
  if (datum.own !== undefined) return tipText({ row: datum.row, rank: state.feature, value: datum.value });
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
  const datum = item && item.datum && (item.datum.rank ?? item.datum.row) !== undefined ? item.datum : null;
  tip.hidden = !datum;
  if (!datum) return;
  tip.textContent = tipText(datum);
  const left = Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8);
  tip.style.left = `${Math.max(8, left)}px`;
  tip.style.top = `${Math.min(event.clientY + 14, innerHeight - tip.offsetHeight - 8)}px`;
}

// `ast` evaluates expressions without eval, which the page's security policy forbids.
const EMBED = { mode: "vega-lite", actions: false, ast: true, defaultStyle: false, tooltip: showTip };

// The titles of axes that would not fit stand in two lines.
function wrapTitles(spec, letters) {
  for (const { encoding } of spec.layer) {
    for (const channel of ["x", "y"]) {
      const axis = encoding?.[channel]?.axis;
      if (typeof axis?.title !== "string" || axis.title.length <= letters) continue;
      const middle = axis.title.indexOf(" ", axis.title.length / 2 - 4);
      if (middle > 0) axis.title = [axis.title.slice(0, middle), axis.title.slice(middle + 1)];
    }
  }
}

// Names as long as the axis has room for, so that the chart itself cuts none of them.
function fittingNames(names, room, font) {
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = `italic 12px ${font}`;
  for (let letters = 60; letters > SHORTEST_NAME; letters -= 1) {
    const short = shortNames(names, letters);
    if (short.every((text) => pen.measureText(text).width <= room)) return short;
  }
  return shortNames(names, SHORTEST_NAME);
}

async function drawChart(id, spec, options) {
  const place = byId(id);
  wrapTitles(spec, place.clientWidth / 12);
  const limit = spec.params.find((parameter) => parameter.name === "limit");
  limit.value = Math.round(Math.min(180, place.clientWidth * 0.36));
  const labels = spec.params.find((parameter) => parameter.name === "names");
  labels.value = fittingNames(rows.names.slice(0, labels.value.length), limit.value, spec.config.font);
  const embedded = await vegaEmbed(place, spec, { ...EMBED, ...options });
  views.push(embedded.view);
  paint(embedded.view);
  return embedded.view;
}

function openClicked(_, item) {
  if (item && item.datum && item.datum.row !== undefined) openRow(item.datum.row);
}

const nCharted = () => content.charts.bar.datasets.bars.length;

// What the bars measure: those of one class may be of another measure than those of all.
function showMeasure() {
  if (rows.classes) byId("bar-measure").textContent = `Shown: ${rows.classes.measures[Number(state.label >= 0)]}.`;
}

// Bars and dots of one class, or of all.
function showClass() {
  const label = state.label < 0 ? null : rows.classes.labels[state.label];
  const bars = content.charts.bar.datasets.bars;
  const own = label === null ? bars : rows.classes.values[state.label].map((value, rank) => ({ rank, value, low: value, high: value }));
  views[0].data("bars", own).runAsync();
  showMeasure();
  if (rows.target && rows.classes) {
    const accept = (row) => label === null || rows.isOfClass(row, label);
    views[1].data("dots", dots(nCharted(), accept)).runAsync();
  }
}

async function drawCharts() {
  const bars = await drawChart("bar", content.charts.bar, { renderer: "svg" });
  bars.addEventListener("click", (_, item) => {
    if (item && item.datum && item.datum.rank !== undefined) chooseFeature(item.datum.rank);
  });
  const spec = content.charts.beeswarm;
  spec.datasets = { dots: dots(nCharted()) };
  const view = await drawChart("beeswarm", spec, { renderer: "canvas" });
  view.addEventListener("click", openClicked);
  if (state.label >= 0) showClass();
  else showMeasure();
  if (rows.cells.some(Boolean)) await showDependence();
  const repaint = () => views.forEach(paint);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);
  matchMedia("print").addEventListener("change", repaint);
}
