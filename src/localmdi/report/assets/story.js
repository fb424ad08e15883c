// One row's story: from the root's impurity down to what is left at the leaf.

const STEPS = 14;

const moveWord = (value) => (value < 0 ? "raised" : "removed");

function storySentence(row, ranked) {
  const unit = rows.unit;
  const largest = ranked[0];
  const value = rows.value(row, largest);
  const raised = ranked.filter((feature) => rows.value(row, feature) < 0);
  const sum = raised.reduce((total, feature) => total - rows.value(row, feature), 0);
  const sentence = element("p", { class: "sentence" });
  const begins = rows.amount(rows.baseline[row]);
  sentence.append(`At the root there are ${begins} ${unit} of ${rows.quantity}. `);
  if (Number.isFinite(value) && value !== 0) {
    const how = value < 0 ? "raised it most, by" : "removed most,";
    const amount = rows.amount(Math.abs(value));
    sentence.append(isolated(rows.names[largest]), ` ${how} ${amount}. `);
  }
  if (raised.length && value >= 0) {
    const which = raised.length === 1 ? "One feature raised it" : `${raised.length} features raised it`;
    sentence.append(`${which}, by ${rows.amount(sum)} in all. `);
  }
  sentence.append(`${rows.amount(rows.residual[row])} ${unit} are left at the leaf.`);
  return sentence;
}

// Every step goes from one level of uncertainty to the next.
function storySteps(row, ranked) {
  const shown = ranked.slice(0, STEPS).filter((feature) => rows.value(row, feature) !== 0);
  const rest = ranked.filter((feature) => !shown.includes(feature));
  const steps = shown.map((feature) => ({ feature, change: rows.value(row, feature) || 0 }));
  const nOthers = rest.length + rows.nHidden;
  let others = rows.nHidden ? rows.hidden[row] : 0;
  for (const feature of rest) others += rows.value(row, feature) || 0;
  if (nOthers) steps.push({ name: `${nOthers} other feature${nOthers > 1 ? "s" : ""}`, change: others });
  const total = steps.reduce((sum, step) => sum + step.change, 0);
  const gap = rows.baseline[row] - rows.residual[row] - total;
  const size = Math.max(Math.abs(rows.baseline[row]), Math.abs(rows.residual[row]));
  if (Math.abs(gap) > 1e-3 * size) steps.push({ name: "features not in this result", change: gap });
  let level = rows.baseline[row];
  for (const step of steps) {
    step.from = level;
    level -= step.change;
    step.to = level;
  }
  return steps;
}

function bar(from, to, percent) {
  const low = Math.min(from, to);
  const node = element("span", { class: to > from ? "bar up" : "bar" });
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
  name.append(isolated(rows.names[step.feature]));
  if (cells) name.append(element("span", { class: "own" }, " = ", cells.node(row)));
  name.title = name.textContent;
  return name;
}

function waterfall(row, ranked) {
  const steps = storySteps(row, ranked);
  const levels = [0, rows.baseline[row], rows.residual[row], ...steps.map((step) => step.to)];
  const low = Math.min(...levels);
  const range = Math.max(...levels) - low || 1;
  const percent = (level) => ((level - low) / range) * 100;
  const list = element("ol", { class: "waterfall", "aria-label": `From root to leaf, in ${rows.unit}` });
  const total = (text, level) => {
    const track = element("span", { class: "track" }, bar(level, 0, percent));
    const name = element("span", { class: "name" }, text);
    list.append(stepItem(name, track, [rows.amount(level)], true));
  };
  total("at the root", rows.baseline[row]);
  for (const step of steps) {
    const link = element("span", { class: "link" });
    link.style.left = `${percent(step.from)}%`;
    const track = element("span", { class: "track" }, link, bar(step.from, step.to, percent));
    const error = step.feature === undefined ? NaN : rows.error(row, step.feature);
    const amount = [element("span", { class: moveWord(step.change) }, rows.amount(step.change))];
    if (Number.isFinite(error)) amount.push(element("small", {}, ` ± ${amountText(error, rows.decimals)}`));
    list.append(stepItem(stepName(row, step), track, amount, false));
  }
  total("left at the leaf", rows.residual[row]);
  return list;
}

function legend() {
  const key = (name, text) => element("span", {}, element("i", { class: `${name}-key` }), text);
  return element(
    "p",
    { class: "scale", "aria-hidden": "true" },
    key("removed", `removed ${rows.quantity}`),
    key("raised", "raised it"),
    key("total", rows.unit === rows.quantity ? "level" : `level, in ${rows.unit}`),
  );
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
        element("td", { class: `number ${moveWord(value)}` }, amountText(value, rows.decimals + 2)),
      ),
    );
  }
  const head = element("tr", {});
  head.append(element("th", { scope: "col" }, "feature"), element("th", { scope: "col" }, "value"));
  head.append(element("th", { scope: "col", class: "number" }, `${rows.unit} removed`));
  const table = element("table", { class: "plain" }, element("thead", {}, head), body);
  const region = { class: "scroll", role: "region", tabindex: "0", "aria-label": "All features of this row" };
  const summary = element("summary", {}, `All ${ranked.length} features of this row`);
  return element("details", {}, summary, element("div", region, table));
}

function storyHeader(row) {
  const header = element("header", {}, element("h3", {}, "Row ", isolated(rows.label.text(row))));
  const list = element("dl", {});
  for (const [name, cells] of [["target", rows.target], ["prediction", rows.prediction]]) {
    if (!cells) continue;
    const wrong = name === "prediction" && comparable() && rows.differs(row);
    const value = element("dd", { class: wrong ? "differs-cell" : null }, cells.node(row));
    list.append(element("div", {}, element("dt", {}, name), value));
  }
  header.append(list);
  return header;
}

function tellStory(row) {
  const ranked = rows.ranked(row);
  const place = byId("story");
  place.replaceChildren(
    storyHeader(row),
    storySentence(row, ranked),
    legend(),
    waterfall(row, ranked),
    allFeatures(row, ranked),
  );
  place.scrollTop = 0;
  const back = element("a", { href: "#rows" }, "Back to the rows");
  place.append(element("p", { class: "story-nav" }, back));
}
