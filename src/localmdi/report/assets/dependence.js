// One feature in detail: its own values against its importance, as a chart, in words and as a table.

const GROUPS = 10;
const FEW_LEVELS = 12;
const MOST_TEXTS = 20;
let lastDependence = Promise.resolve();

// Groups of about as many rows, in the order of their numbers; equal numbers stay together.
function numberGroups(members, cells) {
  const sorted = [...members].sort((a, b) => cells.at(a) - cells.at(b));
  const levels = new Set(sorted.map((row) => cells.at(row)));
  const groups = [];
  sorted.forEach((row, i) => {
    const last = groups.at(-1);
    const isNew = i === 0 || cells.at(row) !== cells.at(sorted[i - 1]);
    const isDue = levels.size <= FEW_LEVELS || i >= (groups.length * sorted.length) / GROUPS;
    if (isNew && isDue) groups.push([row]);
    else last.push(row);
  });
  return groups.map((group) => {
    const [low, high] = [cells.text(group[0]), cells.text(group.at(-1))];
    return { name: low === high ? low : `${low} to ${high}`, members: group };
  });
}

// The most frequent texts; the others are one group.
function textGroups(members, cells) {
  const byText = new Map();
  for (const row of members) {
    const text = cells.text(row);
    if (!byText.has(text)) byText.set(text, []);
    byText.get(text).push(row);
  }
  const groups = [...byText].map(([name, group]) => ({ name, members: group }));
  groups.sort((a, b) => b.members.length - a.members.length);
  if (groups.length <= MOST_TEXTS) return groups;
  const others = groups.splice(MOST_TEXTS - 1);
  groups.push({ name: countText(others.length, "other value"), members: others.flatMap((one) => one.members) });
  return groups;
}

function dependenceGroups(feature) {
  const cells = rows.cells[feature];
  const known = [];
  const missing = [];
  for (let row = 0; row < rows.n; row += 1) {
    if (!Number.isFinite(rows.value(row, feature))) continue;
    (cells.at(row) === null ? missing : known).push(row);
  }
  const groups = cells.isNumber ? numberGroups(known, cells) : textGroups(known, cells);
  if (missing.length) groups.push({ name: "missing", members: missing, isMissing: true });
  for (const group of groups) {
    group.mean = group.members.reduce((sum, row) => sum + rows.value(row, feature), 0) / group.members.length;
  }
  return groups;
}

function dependenceData(feature, groups) {
  const cells = rows.cells[feature];
  const dot = (row, own) => ({ row, own, value: rows.value(row, feature), offset: 2 * ((row * 0.618034) % 1) - 1 });
  if (!cells.isNumber) {
    return {
      dots: groups.flatMap((group, i) => group.members.map((row) => dot(row, i))),
      means: groups.map((group, i) => ({ own: i, value: group.mean, offset: 0 })),
    };
  }
  const known = groups.filter((group) => !group.isMissing);
  const finite = (group) => group.members.filter((row) => Number.isFinite(cells.at(row)));
  return {
    dots: known.flatMap((group) => finite(group).map((row) => dot(row, cells.at(row)))),
    means: known
      .filter((group) => finite(group).length)
      .map((group) => {
        const inside = finite(group);
        return { own: inside.reduce((sum, row) => sum + cells.at(row), 0) / inside.length, value: group.mean };
      }),
  };
}

// Where the feature tells most and least: what the chart shows, in words.
function dependenceSentence(groups) {
  const [most, least] = [Math.max, Math.min].map((choose) => {
    const wanted = choose(...groups.map((group) => group.mean));
    return groups.find((group) => group.mean === wanted);
  });
  const told = (group) => [isolated(group.name), ` (mean ${rows.withUnit(rows.amount(group.mean))}, ${countText(group.members.length, "row")})`];
  if (groups.length < 2) return ["All rows have the value ", ...told(groups[0]), "."];
  return ["It told most in rows with the value ", ...told(most), ", least in rows with ", ...told(least), "."];
}

function dependenceTable(groups) {
  const head = element("tr", {});
  head.append(element("th", { scope: "col" }, "value"), element("th", { scope: "col", class: "number" }, "rows"));
  head.append(element("th", { scope: "col", class: "number" }, `mean ${valueTitle()}`));
  const body = element("tbody");
  for (const group of groups) {
    const line = element("tr", {}, element("th", { scope: "row" }, isolated(group.name)));
    line.append(element("td", { class: "number" }, group.members.length.toLocaleString("en")));
    line.append(element("td", { class: `number ${moveWord(group.mean)}` }, rows.amount(group.mean)));
    body.append(line);
  }
  return [element("thead", {}, head), body];
}

async function drawDependence(feature) {
  const groups = dependenceGroups(feature);
  const cells = rows.cells[feature];
  const spec = structuredClone(cells.isNumber ? content.charts.numbers : content.charts.texts);
  spec.params.find((one) => one.name === "names").value = groups.map((group) => shortName(group.name, 18));
  wrapTitles(spec, 40);
  spec.datasets = dependenceData(feature, groups);
  const { view } = await vegaEmbed(byId("dependence"), spec, { ...EMBED, renderer: "canvas" });
  views[2]?.finalize();
  views[2] = view;
  view.addEventListener("click", openClicked);
  paint(view);
}

// Charts are drawn one after the other, so that the last choice is the one that stays.
function showDependence() {
  const cells = rows.cells[state.feature];
  const groups = cells ? dependenceGroups(state.feature) : [];
  byId("dependence-feature").value = state.feature;
  byId("dependence").hidden = !groups.length;
  byId("dependence-table").replaceChildren(...(groups.length ? dependenceTable(groups) : []));
  const sentence = groups.length ? dependenceSentence(groups) : ["This page does not hold the rows' own values of this feature."];
  byId("dependence-text").replaceChildren(...sentence);
  const wanted = state.feature;
  if (groups.length) lastDependence = lastDependence.then(() => (wanted === state.feature ? drawDependence(wanted) : null));
  return lastDependence;
}
