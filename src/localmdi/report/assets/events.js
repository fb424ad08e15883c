// What happens when: one place for every event.

function fillSelects() {
  const option = (value, text) => element("option", { value }, text);
  const scope = byId("scope");
  scope.append(option("anywhere", "anything"), option("row", "row"));
  if (rows.target) scope.append(option("target", "target"));
  if (rows.prediction) scope.append(option("prediction", "prediction"));
  if (rows.sure) scope.append(option("sure", "sure of the prediction (%)"));
  if (rows.hasLevels) scope.append(option("left", rows.symbol ? `what is left (${rows.symbol})` : "what is left"));
  if (rows.segments) scope.append(option("segment", "group of rows"));
  rows.names.forEach((name, feature) => {
    if (rows.cells[feature]) scope.append(option(feature, name));
    byId("feature").append(option(feature, name));
    byId("dependence-feature").append(option(feature, name));
  });
  rows.classes?.labels.forEach((label, i) => byId("class").append(option(i, label)));
  byId("dependence-card").hidden = !rows.cells.some(Boolean);
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
  const hash = addressOf(row);
  if (location.hash === hash) showRow(row, true);
  else location.hash = hash;
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
  keepAddress();
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

function refresh() {
  selectRows();
  showTable();
  keepAddress();
}

// The feature of the table and of its own card is one.
function chooseFeature(feature) {
  state.feature = feature;
  byId("feature").value = feature;
  refresh();
  if (rows.cells.some(Boolean)) showDependence();
}

function keepFilter() {
  const search = byId("search");
  const query = search.value.trim();
  if (!query) return;
  state.filters.push({ scope: byId("scope").value, query });
  search.value = "";
  showFilters();
  refresh();
  search.focus();
}

function removeFilter(event) {
  const button = event.target.closest("[data-filter]");
  if (!button) return;
  state.filters.splice(Number(button.dataset.filter), 1);
  showFilters();
  refresh();
  byId("search").focus();
}

// The rows of a segment take the place of those of another.
function showSegment(event) {
  const button = event.target.closest("[data-segment]");
  if (!button) return;
  const others = state.filters.filter(({ scope }) => scope !== "segment");
  state.filters = [...others, { scope: "segment", query: rows.segments.rules[Number(button.dataset.segment)] }];
  showFilters();
  refresh();
  byId("rows").scrollIntoView({ behavior: prefersStillness() ? "auto" : "smooth", block: "start" });
  byId("search").focus({ preventScroll: true });
}

function listen() {
  byId("segments")?.addEventListener("click", showSegment);
  byId("tools").addEventListener("submit", (event) => {
    event.preventDefault();
    keepFilter();
  });
  byId("filters").addEventListener("click", removeFilter);
  byId("download").addEventListener("click", download);
  byId("class")?.addEventListener("change", (event) => {
    state.label = Number(event.target.value);
    showClass();
    keepAddress();
  });
  byId("dependence-feature").addEventListener("change", (event) => chooseFeature(Number(event.target.value)));
  byId("search").addEventListener("input", refresh);
  byId("scope").addEventListener("change", refresh);
  byId("wrong").addEventListener("change", refresh);
  byId("feature").addEventListener("change", (event) => chooseFeature(Number(event.target.value)));
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
    if (location.hash !== addressOf(state.row) && location.hash.includes("&")) showView();
    if (row === undefined) {
      sayUnknown();
      return;
    }
    showRow(row, true);
    keepAddress();
  });
}

function showView() {
  const before = [state.feature, state.label];
  readView();
  showFilters();
  showTable();
  if (state.feature !== before[0] && views.length > 2) showDependence();
  if (state.label !== before[1] && views.length > 1) showClass();
}

fillSelects();
selectRows();
showView();
listen();
const addressed = rowOfAddress();
showRow(addressed ?? 0, addressed !== undefined);
sayUnknown();
drawCharts();
