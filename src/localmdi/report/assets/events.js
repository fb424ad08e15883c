// What happens when: one place for every event.

function fillSelects() {
  const option = (value, text) => element("option", { value }, text);
  const scope = byId("scope");
  scope.append(option("anywhere", "anything"), option("row", "row"));
  if (rows.target) scope.append(option("target", "target"));
  if (rows.prediction) scope.append(option("prediction", "prediction"));
  rows.names.forEach((name, feature) => {
    if (rows.cells[feature]) scope.append(option(feature, name));
    byId("feature").append(option(feature, name));
  });
  byId("wrong-label").hidden = !comparable();
}

function showRow(row, moves) {
  state.row = row;
  showDetail(row);
  markRow();
  if (!moves) return;
  const detail = byId("detail");
  detail.focus({ preventScroll: true });
  const box = detail.getBoundingClientRect();
  if (box.top < 0 || box.top > innerHeight * 0.6) {
    detail.scrollIntoView({ behavior: prefersStillness() ? "auto" : "smooth", block: "start" });
  }
}

// Rows have addresses, so that a link to one can be sent along with the file.
function openRow(row) {
  const hash = `#row-${rows.position[row]}`;
  if (location.hash === hash) showRow(row, true);
  else location.hash = hash;
}

const addressedNumber = () => /^#row-(\d+)$/.exec(location.hash)?.[1];

function rowOfAddress() {
  const number = addressedNumber();
  return number === undefined ? undefined : rows.index.get(Number(number));
}

// An address of a row that the page does not have: say so, above the row that is shown.
function sayUnknown() {
  const number = addressedNumber();
  if (number === undefined || rowOfAddress() !== undefined) return;
  const text = `Row ${number} is not on this page, which shows ${countText(rows.n, "row")}.`;
  const place = byId("detail");
  place.querySelectorAll("[role=alert]").forEach((old) => old.remove());
  place.prepend(element("p", { role: "alert", class: "notice" }, text));
  place.scrollIntoView({ block: "start" });
}

function turnPage(step) {
  state.page += step;
  showTable();
  const button = byId(step > 0 ? "next" : "previous");
  if (button.disabled) byId(step > 0 ? "previous" : "next").focus();
}

function moveBetweenRows(event) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const line = event.target.closest("tbody tr");
  if (!step || !line) return;
  const next = step > 0 ? line.nextElementSibling : line.previousElementSibling;
  if (!next) return;
  event.preventDefault();
  next.querySelector("button").focus();
}

function listen() {
  const refresh = () => {
    selectRows();
    showTable();
  };
  byId("tools").addEventListener("submit", (event) => event.preventDefault());
  byId("search").addEventListener("input", refresh);
  byId("scope").addEventListener("change", refresh);
  byId("wrong").addEventListener("change", refresh);
  byId("feature").addEventListener("change", (event) => {
    state.feature = Number(event.target.value);
    refresh();
  });
  byId("previous").addEventListener("click", () => turnPage(-1));
  byId("next").addEventListener("click", () => turnPage(1));
  byId("table").addEventListener("click", (event) => {
    const head = event.target.closest("[data-sort]");
    const line = event.target.closest("tbody tr[data-row]");
    if (head) sortBy(head.dataset.sort);
    else if (line) openRow(Number(line.dataset.row));
  });
  byId("table").addEventListener("keydown", moveBetweenRows);
  addEventListener("hashchange", () => {
    const row = rowOfAddress();
    if (row !== undefined) showRow(row, true);
    else sayUnknown();
  });
}

fillSelects();
selectRows();
showTable();
listen();
const addressed = rowOfAddress();
showRow(addressed ?? 0, addressed !== undefined);
sayUnknown();
drawCharts(openRow);
