// Rows most like a row: those that differ least in the features that matter.

const ALIKE = 3;
const OTHERWISE = 2;
const DIFFERENCES = 3;
// Numbers that are closer than a tenth of all ranks are not called different.
const CLOSE = 0.1;

const similarity = {};

function prepareSimilarity() {
  similarity.shades = rows.cells.map((cells) => shades(cells));
  similarity.weights = rows.names.map((_, feature) => {
    let sum = 0;
    for (let row = 0; row < rows.n; row += 1) sum += Math.abs(rows.value(row, feature)) || 0;
    return sum / rows.n;
  });
  const left = rows.hasLevels ? Array.from(rows.residual).filter(Number.isFinite).sort((a, b) => a - b) : [];
  similarity.isLeft = left.at(-1) > 1e-6 * rows.baseline?.find(Number.isFinite);
  similarity.littleLeft = left[Math.floor(left.length / 4)];
  similarity.muchLeft = left[Math.floor(left.length / 2)];
}

function differenceOf(a, b, feature) {
  const cells = rows.cells[feature];
  if (!cells) return 0;
  const [x, y] = [cells.at(a), cells.at(b)];
  if (x === null || y === null) return x === y ? 0 : 1;
  const shade = similarity.shades[feature];
  return shade ? Math.abs(shade(a) - shade(b)) : Number(x !== y);
}

function nearest(row, accept, n) {
  const found = [];
  for (let other = 0; other < rows.n; other += 1) {
    if (other === row || !accept(other)) continue;
    const distance = similarity.weights.reduce((sum, weight, feature) => sum + weight * differenceOf(row, other, feature), 0);
    found.push({ other, distance });
  }
  found.sort((a, b) => a.distance - b.distance || a.other - b.other);
  return found.slice(0, n).map(({ other }) => other);
}

function differences(row, other) {
  const found = rows.names.map((_, feature) => ({ feature, difference: differenceOf(row, other, feature) }));
  const size = ({ feature, difference }) => similarity.weights[feature] * difference;
  return found.filter(({ difference }) => difference > CLOSE).sort((a, b) => size(b) - size(a));
}

function similarLine(row, other) {
  const item = element("li", {}, element("a", { href: `#row-${rows.position[other]}` }, "Row ", isolated(rows.label.text(other))));
  const about = [];
  if (rows.target) about.push(`target ${rows.target.text(other)}`);
  if (rows.prediction) about.push(`predicted ${rows.prediction.text(other)}`);
  if (similarity.isLeft) about.push(`${rows.withUnit(rows.amount(rows.residual[other]))} left`);
  if (about.length) item.append(" (", isolated(about.join(", ")), ")");
  const found = differences(row, other);
  item.append(found.length ? "; it has " : "; no feature that matters differs much");
  found.slice(0, DIFFERENCES).forEach(({ feature }, i) => {
    const cells = rows.cells[feature];
    item.append(i ? ", " : "", isolated(`${rows.shortName(feature, STEP_LETTERS)} = ${cells.text(other)}`));
    item.append(" instead of ", isolated(cells.text(row)));
  });
  if (found.length > DIFFERENCES) item.append(`, and ${countText(found.length - DIFFERENCES, "smaller difference")}`);
  return item;
}

// What would have to be otherwise: the nearest rows that are predicted otherwise, or better known.
function contrast(row) {
  if (rows.prediction && !rows.predictsNumbers) {
    const own = rows.prediction.at(row);
    return ["Most alike, but predicted otherwise", (other) => rows.prediction.at(other) !== own];
  }
  if (rows.hasLevels && rows.residual[row] > similarity.muchLeft) {
    return ["Most alike, but better known", (other) => rows.residual[other] <= similarity.littleLeft];
  }
  return null;
}

function similarRows(row) {
  if (rows.n < 3 || !rows.cells.some(Boolean)) return null;
  if (!similarity.weights) prepareSimilarity();
  const place = element("section", { class: "similar" });
  const list = (title, found) => {
    if (!found.length) return;
    place.append(element("h4", {}, title), element("ul", {}, ...found.map((other) => similarLine(row, other))));
  };
  const alike = nearest(row, () => true, ALIKE);
  list("Rows most like this one", alike);
  const wanted = contrast(row);
  if (wanted) list(wanted[0], nearest(row, (other) => !alike.includes(other) && wanted[1](other), OTHERWISE));
  return place;
}

// What pairs of features told in this row, the largest first.
function rowPairs(row) {
  if (!rows.pairs) return null;
  const order = rows.pairs.names.map((_, pair) => pair).filter((pair) => rows.pairValue(row, pair));
  order.sort((a, b) => Math.abs(rows.pairValue(row, b)) - Math.abs(rows.pairValue(row, a)));
  if (!order.length) return null;
  const items = order.slice(0, STEPS / 2).map((pair) => {
    const value = rows.pairValue(row, pair);
    return element("li", {}, element("span", { class: moveWord(value) }, rows.amount(value)), " ", isolated(rows.pairs.names[pair]));
  });
  const title = rows.symbol ? `Pairs of features in this row, in ${rows.symbol}` : "Pairs of features in this row";
  return element("section", { class: "similar" }, element("h4", {}, title), element("ul", { class: "row-pairs" }, ...items));
}
