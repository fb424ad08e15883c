// The address of a view: which row, which filters, order, feature and class. It can be sent along
// with the file; what is as it was at first is left out.

const addressedNumber = () => /^#row-(\d+)(?:&|$)/.exec(location.hash)?.[1];

function rowOfAddress() {
  const number = addressedNumber();
  return number === undefined ? undefined : rows.index.get(Number(number));
}

function viewParts() {
  const parts = new URLSearchParams();
  const query = byId("search").value.trim();
  if (query) parts.set("find", query);
  if (query && byId("scope").value !== "anywhere") parts.set("in", byId("scope").value);
  for (const { scope, query: wanted } of state.filters) parts.append("where", `${scope}~${wanted}`);
  if (byId("wrong").checked) parts.set("wrong", "1");
  if (state.sort !== "position" || state.descending) parts.set("sort", (state.descending ? "-" : "") + state.sort);
  if (state.feature) parts.set("feature", state.feature);
  if (state.label >= 0) parts.set("class", state.label);
  if (state.page) parts.set("page", state.page + 1);
  return parts.toString();
}

function addressOf(row) {
  const parts = viewParts();
  return `#row-${rows.position[row]}${parts ? `&${parts}` : ""}`;
}

// A change of the view is no step of the browser's history; a chosen row is.
function keepAddress() {
  const parts = viewParts();
  const address = parts || rowOfAddress() !== undefined ? addressOf(state.row) : location.pathname;
  history.replaceState(null, "", address);
}

const hasOption = (select, value) => [...select.options].some((one) => one.value === value);

// Anybody may write an address: what is not on the page is passed over.
function readView() {
  const cut = location.hash.indexOf("&");
  if (addressedNumber() === undefined || cut < 0) return;
  const parts = new URLSearchParams(location.hash.slice(cut + 1));
  const scope = (value) => (hasOption(byId("scope"), value) ? value : "anywhere");
  byId("search").value = parts.get("find") ?? "";
  byId("scope").value = scope(parts.get("in"));
  byId("wrong").checked = parts.get("wrong") === "1" && comparable();
  state.filters = parts.getAll("where").map((text) => {
    const at = text.indexOf("~");
    return { scope: scope(text.slice(0, at)), query: text.slice(at + 1) };
  });
  const sort = parts.get("sort") ?? "position";
  const key = sort.replace(/^-/, "");
  const isColumn = tableColumns().some((one) => one.key === key);
  state.sort = isColumn ? key : "position";
  state.descending = isColumn && sort.startsWith("-");
  const feature = Number(parts.get("feature") ?? 0);
  state.feature = Number.isInteger(feature) && feature >= 0 && feature < rows.names.length ? feature : 0;
  const label = Number(parts.get("class") ?? -1);
  state.label = rows.classes && Number.isInteger(label) && label < rows.classes.labels.length ? Math.max(-1, label) : -1;
  byId("feature").value = state.feature;
  if (rows.classes) byId("class").value = state.label;
  selectRows();
  const nPages = Math.max(1, Math.ceil(state.order.length / PAGE_SIZE));
  const page = Number(parts.get("page") ?? 1);
  state.page = Number.isInteger(page) ? Math.min(nPages, Math.max(1, page)) - 1 : 0;
}
