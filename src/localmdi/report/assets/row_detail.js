// One row in detail: from the impurity at the start (the root) down to what is left (at the leaf).

const STEPS = 14;
const STEP_LETTERS = 24;

const moveWord = (value) => (value < 0 ? "raised" : "removed");

// What a value is, for the head of a column.
function valueTitle() {
  if (!rows.hasLevels) return rows.symbol ? `gain, ${rows.symbol}` : "gain";
  return `${rows.symbol || rows.quantity} removed`;
}

function summarySentence(row, ranked) {
  const sentence = element("p", { class: "sentence" });
  const largest = ranked[0];
  const value = rows.value(row, largest);
  const isKnown = Number.isFinite(value) && value !== 0;
  if (!rows.hasLevels) {
    if (isKnown) sentence.append("Largest gain: ", isolated(rows.names[largest]), `, ${rows.withUnit(rows.amount(value))}.`);
    return sentence;
  }
  const raised = ranked.filter((feature) => rows.value(row, feature) < 0);
  const sum = raised.reduce((total, feature) => total - rows.value(row, feature), 0);
  if (!hasValues(row)) {
    sentence.append("This row has no honest values: every tree has seen it, or all rows with its answer.");
    return sentence;
  }
  const start = rows.withUnit(rows.amount(rows.baseline[row]));
  if (rows.expected?.[row]) sentence.append("The answer of this row is not known: these values are expectations. ");
  sentence.append(`${rows.isLoss ? "When nothing is known" : "At the start"} the ${rows.quantity} is ${start}. `);
  if (isKnown) {
    const how = value < 0 ? "raised it most, by" : "removed most,";
    sentence.append(isolated(rows.names[largest]), ` ${how} ${rows.amount(Math.abs(value))}. `);
  }
  if (raised.length && value >= 0) {
    const which = raised.length === 1 ? "One feature" : countText(raised.length, "feature");
    sentence.append(`${which} ${rows.isLoss ? "made the forest worse" : "raised it"}, by ${rows.amount(sum)} in all. `);
  }
  const end = rows.isLoss ? "Left to the forest, which has not seen this row" : "Left at the end";
  sentence.append(`${end}: ${rows.withUnit(rows.amount(rows.residual[row]))}.`);
  return sentence;
}

// The largest values one by one, and the others as one sum.
function contributions(row, ranked) {
  const shown = ranked.slice(0, STEPS).filter((feature) => rows.value(row, feature) !== 0);
  const rest = ranked.filter((feature) => !shown.includes(feature));
  const steps = shown.map((feature) => ({ feature, change: rows.value(row, feature) || 0 }));
  const nOthers = rest.length + rows.nHidden;
  let others = rows.nHidden ? rows.hidden[row] : 0;
  for (const feature of rest) others += rows.value(row, feature) || 0;
  if (nOthers) steps.push({ name: countText(nOthers, "other feature"), change: others });
  return steps;
}

// Every step goes from one level of impurity to the next; gains all start at zero.
function detailSteps(row, ranked) {
  const steps = contributions(row, ranked);
  if (!rows.hasLevels) return steps.map((step) => ({ ...step, from: 0, to: step.change }));
  const total = steps.reduce((sum, step) => sum + step.change, 0);
  const gap = rows.baseline[row] - rows.residual[row] - total;
  const size = Math.max(Math.abs(rows.baseline[row]), Math.abs(rows.residual[row]));
  if (Math.abs(gap) > 1e-3 * size) steps.push({ name: "features not in this result", change: gap });
  walk(steps, rows.baseline[row]);
  // No uncertainty is below zero: where the way down would be, what raised it comes first.
  const lowest = Math.min(0, rows.residual[row]) - 1e-5 * size;
  if (steps.some((step) => step.to < lowest)) {
    steps.sort((a, b) => Number(a.change >= 0) - Number(b.change >= 0));
    walk(steps, rows.baseline[row]);
  }
  return steps;
}

function walk(steps, start) {
  let level = start;
  for (const step of steps) {
    step.from = level;
    level -= step.change;
    step.to = level;
  }
}

function bar({ from, to, change }, percent) {
  const low = Math.min(from, to);
  const node = element("span", { class: change < 0 ? "bar up" : "bar" });
  node.style.left = `${percent(low)}%`;
  node.style.width = `${percent(Math.max(from, to)) - percent(low)}%`;
  return node;
}

function stepItem(name, track, amount, total) {
  track.setAttribute("aria-hidden", "true");
  const item = element("li", { class: total ? "step total" : "step" });
  item.append(name, track, element("span", { class: "amount" }, ...amount));
  return item;
}

function stepName(row, step) {
  const name = element("span", { class: "name" });
  if (step.feature === undefined) {
    name.append(step.name);
    return name;
  }
  const cells = rows.cells[step.feature];
  name.append(isolated(rows.shortName(step.feature, STEP_LETTERS)));
  if (cells) name.append(element("span", { class: "own" }, " = ", cells.node(row)));
  name.title = cells ? `${rows.names[step.feature]} = ${cells.text(row)}` : rows.names[step.feature];
  return name;
}

function stepLine(row, step, percent) {
  const track = element("span", { class: "track" });
  if (rows.hasLevels) {
    const link = element("span", { class: "link" });
    link.style.left = `${percent(step.from)}%`;
    track.append(link);
  }
  track.append(bar(step, percent));
  const error = step.feature === undefined ? NaN : rows.error(row, step.feature);
  const amount = [element("span", { class: moveWord(step.change) }, rows.amount(step.change))];
  if (Number.isFinite(error)) amount.push(element("small", {}, ` ± ${rows.amount(error)}`));
  if (rows.direction) amount.push(pushArrow(step.feature === undefined ? 0 : rows.push(row, step.feature)));
  return stepItem(stepName(row, step), track, amount, false);
}

function pushWords(push) {
  if (rows.ofClasses) return push > 0 ? "towards the predicted class" : "away from the predicted class";
  return push > 0 ? "raised the prediction" : "lowered the prediction";
}

// An arrow of its own width, so that the numbers stay in line.
function pushArrow(push) {
  if (!push) return element("span", { class: "push" });
  const words = pushWords(push);
  return element("span", { class: "push", role: "img", "aria-label": words, title: words }, push > 0 ? "↑" : "↓");
}

function levelLine(text, level, percent) {
  const track = element("span", { class: "track" }, bar({ from: level, to: 0, change: level }, percent));
  return stepItem(element("span", { class: "name" }, text), track, [rows.amount(level), rows.direction ? pushArrow(0) : ""], true);
}

function waterfall(row, ranked) {
  const steps = detailSteps(row, ranked);
  const ends = rows.hasLevels ? [rows.baseline[row], rows.residual[row]] : [];
  const levels = [0, ...ends, ...steps.map((step) => step.to)];
  const low = Math.min(...levels);
  const range = Math.max(...levels) - low || 1;
  const percent = (level) => ((level - low) / range) * 100;
  const lines = steps.map((step) => stepLine(row, step, percent));
  if (rows.hasLevels) {
    lines.unshift(levelLine(rows.isLoss ? "nothing known" : "at the start", rows.baseline[row], percent));
    lines.push(levelLine(rows.isLoss ? "left to the forest" : "left at the end", rows.residual[row], percent));
  }
  const what = rows.hasLevels ? "From the start to what is left" : "Gain of each feature";
  const label = rows.symbol ? `${what}, in ${rows.symbol}` : what;
  return element("ol", { class: "waterfall", "aria-label": label }, ...lines);
}

function legend() {
  const key = (name, text) => element("span", {}, element("i", { class: `${name}-key` }), text);
  const keys = rows.hasLevels
    ? [
        key("removed", `removed ${rows.quantity}`),
        key("raised", rows.isLoss ? "made the forest worse" : "raised it"),
        key("total", rows.symbol ? `level, in ${rows.symbol}` : "level"),
      ]
    : [key("removed", rows.symbol ? `gain, in ${rows.symbol}` : "gain"), key("raised", "negative")];
  if (rows.direction) keys.push(element("span", {}, `↑ ${pushWords(1)}`), element("span", {}, `↓ ${pushWords(-1)}`));
  return element("p", { class: "scale", "aria-hidden": "true" }, ...keys);
}

function allFeatures(row, ranked) {
  const body = element("tbody");
  for (const feature of ranked) {
    const cells = rows.cells[feature];
    const value = rows.value(row, feature);
    body.append(
      element(
        "tr",
        {},
        element("th", { scope: "row" }, isolated(rows.names[feature])),
        element("td", {}, cells ? cells.node(row) : ""),
        element("td", { class: `number ${moveWord(value)}` }, rows.amount(value, 2), rows.direction ? pushArrow(rows.push(row, feature)) : ""),
      ),
    );
  }
  const head = element("tr", {});
  head.append(element("th", { scope: "col" }, "feature"), element("th", { scope: "col" }, "value"));
  head.append(element("th", { scope: "col", class: "number" }, valueTitle()));
  const table = element("table", { class: "plain" }, element("thead", {}, head), body);
  const region = { class: "scroll", role: "region", tabindex: "0", "aria-label": "All features of this row" };
  const summary = element("summary", {}, ranked.length === 1 ? "The one feature of this row" : `All ${ranked.length} features of this row`);
  return element("details", {}, summary, element("div", region, table));
}

function detailHeader(row) {
  const header = element("header", {}, element("h3", {}, "Row ", isolated(rows.label.text(row))));
  const list = element("dl", {});
  for (const [name, cells] of [["target", rows.target], ["prediction", rows.prediction]]) {
    if (!cells) continue;
    const wrong = name === "prediction" && comparable() && rows.differs(row);
    const value = element("dd", { class: wrong ? "differs-cell" : null }, cells.node(row));
    if (name === "prediction" && Number.isFinite(rows.sure?.[row])) value.append(` (${percentText(rows.sure[row])} sure)`);
    list.append(element("div", {}, element("dt", {}, name), value));
  }
  header.append(list);
  return header;
}

const hasValues = (row) => !rows.hasLevels || Number.isFinite(rows.baseline[row]);

function showDetail(row) {
  const ranked = rows.ranked(row);
  const place = byId("detail");
  place.replaceChildren(
    detailHeader(row),
    summarySentence(row, ranked),
    ...(hasValues(row) ? [legend(), waterfall(row, ranked)] : []),
    ...[similarRows(row), rowPairs(row)].filter(Boolean),
    allFeatures(row, ranked),
  );
  place.scrollTop = 0;
  const back = element("a", { href: "#rows" }, "Back to the rows");
  place.append(element("p", { class: "detail-nav" }, back));
}
