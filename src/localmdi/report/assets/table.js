// The table of rows: search, sort, pages.

const PAGE_SIZE = 25;
const NAME_LETTERS = 20;
const state = { order: [], page: 0, sort: "position", descending: false, feature: 0, row: 0 };

// Whether "prediction and target differ" means something: of labels it does, and of whole numbers;
// others hardly ever agree.
function comparable() {
  const { prediction, target } = rows;
  if (!prediction || !target || prediction.isNumber !== target.isNumber) return false;
  const isLabel = (level) => typeof level === "string" || Number.isInteger(level);
  return [prediction, target].every((one) => one.levels !== null && one.levels.every(isLabel));
}

const mostOf = Array.from({ length: rows.n }, (_, row) => rows.ranked(row)[0]);

function tableColumns() {
  const { symbol, target, prediction } = rows;
  const inUnit = symbol ? ` (${symbol})` : "";
  const own = (name, cells) => ({
    key: name,
    title: name,
    number: cells.isNumber,
    value: (row) => cells.at(row),
    node: (row) => cells.node(row),
  });
  const columns = [
    {
      key: "position",
      title: "row",
      value: (row) => rows.position[row],
      node: (row) => element("button", { type: "button" }, isolated(rows.label.text(row))),
    },
  ];
  if (target) columns.push(own("target", target));
  if (prediction) columns.push({ ...own("prediction", prediction), marks: comparable() });
  if (rows.hasLevels) {
    columns.push({
      key: "residual",
      title: `${rows.honest ? "really left" : "left at leaf"}${inUnit}`,
      number: true,
      value: (row) => rows.residual[row],
      node: (row) => rows.amount(rows.residual[row]),
    });
  }
  columns.push({
    key: "feature",
    title: [isolated(rows.shortName(state.feature, NAME_LETTERS)), ` (${valueTitle()})`],
    number: true,
    value: (row) => rows.value(row, state.feature),
    node: (row) => {
      const value = rows.value(row, state.feature);
      return element("span", { class: moveWord(value) }, rows.amount(value));
    },
  });
  columns.push({
    key: "most",
    title: "largest effect",
    class: "most",
    value: (row) => rows.names[mostOf[row]],
    node: (row) => isolated(rows.shortName(mostOf[row], NAME_LETTERS)),
  });
  return columns;
}

// Missing values come last in both directions.
function compare(a, b, descending) {
  const gone = (value) => value === null || Number.isNaN(value);
  if (gone(a) || gone(b)) return Number(gone(a)) - Number(gone(b));
  const numbers = typeof a === "number" && typeof b === "number";
  const order = numbers ? a - b : String(a).localeCompare(String(b), undefined, { numeric: true });
  return descending ? -order : order;
}

function searchTexts(scope, row) {
  if (scope === "row") return [rows.label.text(row)];
  if (scope === "target" || scope === "prediction") return [rows[scope].text(row)];
  if (scope !== "anywhere") return [rows.cells[Number(scope)].text(row)];
  return [rows.label, rows.target, rows.prediction, ...rows.cells].filter(Boolean).map((one) => one.text(row));
}

// In one column a number must be equal: "1" is not to find 10. Text matches in part.
function found(row, query, scope) {
  const number = scope !== "anywhere" && query !== "" && !Number.isNaN(Number(query));
  return searchTexts(scope, row).some((text) => {
    const plain = text.replace("−", "-").toLowerCase();
    return number && !Number.isNaN(Number(plain)) ? Number(plain) === Number(query) : plain.includes(query);
  });
}

function selectRows() {
  const query = byId("search").value.trim().replace("−", "-").toLowerCase();
  const scope = byId("scope").value;
  const onlyWrong = byId("wrong").checked;
  const sorted = tableColumns().find((one) => one.key === state.sort);
  state.order = Array.from({ length: rows.n }, (_, row) => row)
    .filter((row) => (!onlyWrong || rows.differs(row)) && (!query || found(row, query, scope)))
    .sort((a, b) => compare(sorted.value(a), sorted.value(b), state.descending) || a - b);
  state.page = 0;
}

function headCell(one) {
  const active = state.sort === one.key;
  const direction = state.descending ? "descending" : "ascending";
  const classes = [one.number ? "number" : "", one.class ?? ""].join(" ").trim();
  const attributes = { scope: "col", class: classes || null, "aria-sort": active ? direction : "none" };
  const button = element("button", { type: "button", "data-sort": one.key }, ...[one.title].flat());
  return element("th", attributes, button);
}

function bodyRow(row, columns) {
  const line = element("tr", { "data-row": row, "aria-current": row === state.row ? "true" : null });
  columns.forEach((one, i) => {
    const classes = [one.number ? "number" : "", one.class ?? ""];
    if (one.marks && rows.differs(row)) classes.push("differs-cell");
    const attributes = { class: classes.join(" ").trim() || null, scope: i ? null : "row" };
    line.append(element(i ? "td" : "th", attributes, one.node(row)));
  });
  return line;
}

function showTable() {
  const columns = tableColumns();
  const nPages = Math.max(1, Math.ceil(state.order.length / PAGE_SIZE));
  const first = state.page * PAGE_SIZE;
  const table = byId("table");
  table.tHead.replaceChildren(element("tr", {}, ...columns.map(headCell)));
  const visible = state.order.slice(first, first + PAGE_SIZE);
  const lines = visible.map((row) => bodyRow(row, columns));
  if (!lines.length) {
    const cell = element("td", { colspan: columns.length, class: "nothing" }, "No row matches. Clear the search to see all rows.");
    lines.push(element("tr", {}, cell));
  }
  table.tBodies[0].replaceChildren(...lines);
  const count = state.order.length.toLocaleString("en");
  byId("status").textContent = state.order.length === rows.n ? countText(rows.n, "row") : `${count} of ${countText(rows.n, "row")}`;
  byId("page").textContent = `Page ${state.page + 1} of ${nPages}`;
  byId("previous").disabled = state.page === 0;
  byId("next").disabled = state.page + 1 >= nPages;
}

function sortBy(key) {
  // The first click shows what one looks for: large numbers first, text from A.
  const numeric = tableColumns().find((one) => one.key === key).number;
  state.descending = state.sort === key ? !state.descending : Boolean(numeric);
  state.sort = key;
  selectRows();
  showTable();
  byId("table").querySelector(`[data-sort="${key}"]`).focus();
}

function markRow() {
  for (const line of byId("table").tBodies[0].rows) {
    if (Number(line.dataset.row) === state.row) line.setAttribute("aria-current", "true");
    else line.removeAttribute("aria-current");
  }
}
