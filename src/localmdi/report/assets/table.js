// The table of rows: filters, order, pages, and the same as a file.

const PAGE_SIZE = 25;
const NAME_LETTERS = 20;
// `label` is the number of the chosen class, −1 for all; `filters` hold beside what is searched for.
const state = { order: [], page: 0, sort: "position", descending: false, feature: 0, row: 0, label: -1, filters: [] };

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
      title: `left${inUnit}`,
      number: true,
      power: rows.powerMark,
      value: (row) => rows.residual[row],
      node: (row) => rows.bareAmount(rows.residual[row]),
    });
  }
  columns.push({
    key: "feature",
    title: [isolated(rows.shortName(state.feature, NAME_LETTERS)), ` (${valueTitle()})`],
    number: true,
    power: rows.powerMark,
    value: (row) => rows.value(row, state.feature),
    node: (row) => {
      const value = rows.value(row, state.feature);
      const amount = element("span", { class: moveWord(value) }, rows.bareAmount(value));
      if (rows.direction) amount.append(pushArrow(rows.push(row, state.feature)));
      return amount;
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
  if (scope === "left") return [rows.amount(rows.residual[row])];
  if (scope === "sure") return [percentText(rows.sure[row])];
  if (scope === "segment") return [rows.segments.rules[rows.segments.code[row]]];
  if (scope === "target" || scope === "prediction") return [rows[scope].text(row)];
  if (scope !== "anywhere") return [rows.cells[Number(scope)].text(row)];
  return [rows.label, rows.target, rows.prediction, ...rows.cells].filter(Boolean).map((one) => one.text(row));
}

// What a column holds as a number; NaN for text.
function numberIn(scope, row) {
  if (scope === "left") return rows.residual[row];
  if (scope === "sure") return 100 * rows.sure[row];
  if (scope === "segment") return NaN;
  const cells = { row: rows.label, target: rows.target, prediction: rows.prediction }[scope] ?? rows.cells[Number(scope)];
  return cells.isNumber ? (cells.at(row) ?? NaN) : NaN;
}

const NUMBER = "-?(?:\\d+\\.?\\d*|\\.\\d+)(?:e[-+]?\\d+)?";
const RANGE = new RegExp(`^(${NUMBER})\\s*\\.\\.\\s*(${NUMBER})$`);
const LIMIT = new RegExp(`^(<=|>=|<|>|≤|≥)\\s*(${NUMBER})$`);

// "> 50" and "20..40" compare numbers; null for any other text.
function comparison(query) {
  const range = RANGE.exec(query);
  if (range) return (number) => number >= Number(range[1]) && number <= Number(range[2]);
  const limit = LIMIT.exec(query);
  if (!limit) return null;
  const than = Number(limit[2]);
  return {
    "<": (number) => number < than,
    ">": (number) => number > than,
    "<=": (number) => number <= than,
    ">=": (number) => number >= than,
    "≤": (number) => number <= than,
    "≥": (number) => number >= than,
  }[limit[1]];
}

// In one column a number must be equal: "1" is not to find 10. Text matches in part.
function found(row, query, scope) {
  const compares = scope === "anywhere" ? null : comparison(query);
  if (compares) return compares(numberIn(scope, row));
  // The whole rule of a segment means this one, and not another that begins in the same way.
  const isRule = scope === "segment" && rows.segments.rules.some((rule) => asQuery(rule) === query);
  if (isRule) return asQuery(searchTexts(scope, row)[0]) === query;
  const number = scope !== "anywhere" && query !== "" && !Number.isNaN(Number(query));
  return searchTexts(scope, row).some((text) => {
    const plain = text.replace("−", "-").toLowerCase();
    // Thousands are set apart on the page, and hardly in what is searched for.
    const joined = /^-?[\d,.]+$/.test(plain) ? plain.replaceAll(",", "") : plain;
    if (number && !Number.isNaN(Number(joined))) return Number(joined) === Number(query);
    return plain.includes(query) || joined.includes(query);
  });
}

const asQuery = (text) => text.trim().replaceAll("−", "-").toLowerCase();

function selectRows() {
  const filters = [...state.filters, { scope: byId("scope").value, query: byId("search").value }]
    .map(({ scope, query }) => ({ scope, query: asQuery(query) }))
    .filter(({ query }) => query);
  const onlyWrong = byId("wrong").checked;
  const sorted = tableColumns().find((one) => one.key === state.sort);
  state.order = Array.from({ length: rows.n }, (_, row) => row)
    .filter((row) => (!onlyWrong || rows.differs(row)) && filters.every(({ scope, query }) => found(row, query, scope)))
    .sort((a, b) => compare(sorted.value(a), sorted.value(b), state.descending) || a - b);
  state.page = 0;
}

function headCell(one) {
  const active = state.sort === one.key;
  const direction = state.descending ? "descending" : "ascending";
  const classes = [one.number ? "number" : "", one.class ?? ""].join(" ").trim();
  const attributes = { scope: "col", class: classes || null, "aria-sort": active ? direction : "none" };
  const button = element("button", { type: "button", "data-sort": one.key }, ...[one.title].flat(), one.power ? ` ${one.power}` : "");
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
    const cell = element("td", { colspan: columns.length, class: "nothing" }, "No row matches. Clear the search and the filters to see all rows.");
    lines.push(element("tr", {}, cell));
  }
  table.tBodies[0].replaceChildren(...lines);
  const count = state.order.length.toLocaleString("en");
  byId("status").textContent = state.order.length === rows.n ? countText(rows.n, "row") : `${count} of ${countText(rows.n, "row")}`;
  byId("page").textContent = `Page ${state.page + 1} of ${nPages}`;
  byId("previous").disabled = state.page === 0;
  byId("next").disabled = state.page + 1 >= nPages;
}

// Filters that were kept, each with a button that removes it.
function showFilters() {
  const titles = new Map([...byId("scope").options].map((one) => [one.value, one.text]));
  const chips = state.filters.map(({ scope, query }, i) => {
    const text = `${titles.get(scope)}: ${query}`;
    const button = element("button", { type: "button", "data-filter": i, "aria-label": `Remove the filter ${text}` }, "×");
    return element("li", {}, isolated(text), " ", button);
  });
  byId("filters").replaceChildren(...chips);
}

// A cell that a spreadsheet program would calculate gets an apostrophe, as with --safe-csv.
const FORMULA = /^\s*[=+@\-\t\r\uff1d\uff0b\uff0d\uff20]/;

function csvCell(value) {
  if (value === null || Number.isNaN(value)) return "";
  if (typeof value === "number") return String(value);
  const text = FORMULA.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

// All rows that the filters leave, in the order of the table.
function tableAsText() {
  const columns = tableColumns().map((one) => ({ ...one, title: [one.title].flat().map((part) => part.textContent ?? part).join("") }));
  columns[0].value = (row) => rows.label.at(row);
  const own = rows.cells[state.feature];
  if (own) columns.push({ title: `${rows.names[state.feature]} (own value)`, value: (row) => own.at(row) });
  const lines = state.order.map((row) => columns.map((one) => csvCell(one.value(row))).join(","));
  return [columns.map((one) => csvCell(one.title)).join(","), ...lines, ""].join("\r\n");
}

function download() {
  // The mark in front tells spreadsheet programs that the text is UTF-8.
  const file = new Blob(["\ufeff", tableAsText()], { type: "text/csv" });
  const link = element("a", { href: URL.createObjectURL(file), download: "rows.csv" });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
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
