"use strict";
(() => {
  const BATCH = 100;
  const byId = (id) => document.getElementById(id);
  const data = (id) => JSON.parse(byId(id).textContent);
  const rows = data("data-rows").map((row, index) => ({
    plan: 0, namespace: "", state: "", step: "", seconds: null, warnings: 0, ...row, index,
  }));
  const plans = data("data-plans");
  const codes = data("data-codes");
  const chunks = new Map();
  const several = plans.length > 1;

  const COLUMNS = [
    { key: "name", title: "Unit", value: (row) => row.name },
    { key: "namespace", title: "Namespace", value: (row) => row.namespace, minor: true },
    ...(several ? [{ key: "plan", title: "Plan", value: (row) => plans[row.plan], minor: true }] : []),
    { key: "state", title: "State", value: (row) => row.state, tight: true },
    { key: "outcome", title: "Outcome", value: (row) => row.outcome },
    { key: "step", title: "Last completed step", value: (row) => row.step, minor: true },
    { key: "seconds", title: "Took", value: (row) => row.seconds, number: true, minor: true,
      text: (row) => (row.seconds === null ? "" : `${row.seconds.toFixed(1)} s`) },
    { key: "warnings", title: "Warnings", value: (row) => row.warnings, number: true, minor: true },
  ];

  const TIGHT = new Set(["No.", "Step", "State", "Begun", "Took", "Verdict"]);

  let shown = [];
  let drawn = 0;
  let order = { key: "", down: false };

  /* Text only ever becomes text: every node is made here, and nothing parses markup. */
  function make(tag, attributes = {}, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    node.append(...children.filter((child) => child !== null && child !== undefined));
    return node;
  }

  function detailOf(row) {
    const size = Number(byId("data-details-0").dataset.size);
    const number = Math.floor(row.index / size);
    if (!chunks.has(number)) chunks.set(number, data(`data-details-${number}`));
    return chunks.get(number)[row.index % size];
  }

  const FILTERS = { plan: (row) => plans[row.plan], namespace: (row) => row.namespace, state: (row) => row.state,
    outcome: (row) => row.outcome };

  function fillFilters() {
    for (const [id, value] of Object.entries(FILTERS)) {
      const found = new Map();
      for (const row of rows) found.set(value(row), (found.get(value(row)) || 0) + 1);
      const options = [...found].sort(([one], [other]) => (one < other ? -1 : 1));
      byId(id).append(make("option", { value: "*" }, "all"),
        ...options.map(([name, count]) => make("option", { value: `=${name}` }, `${name || "(cluster)"} (${count})`)));
    }
    byId("plan-filter").hidden = !several;
  }

  function fits(row, words) {
    for (const [id, value] of Object.entries(FILTERS)) {
      const chosen = byId(id).value;
      if (chosen !== "*" && chosen !== `=${value(row)}`) return false;
    }
    const text = `${row.id} ${row.outcome} ${row.state} ${row.step}`.toLowerCase();
    return words.every((word) => text.includes(word));
  }

  function compare(one, other) {
    const column = COLUMNS.find((item) => item.key === order.key);
    if (!column) return one.index - other.index;
    const a = column.value(one);
    const b = column.value(other);
    const sign = order.down ? -1 : 1;
    if (a === b) return one.index - other.index;
    if (a === null) return 1;
    if (b === null) return -1;
    return a < b ? -sign : sign;
  }

  function refresh() {
    const words = byId("search").value.toLowerCase().split(/\s+/).filter(Boolean);
    shown = rows.filter((row) => fits(row, words)).sort(compare);
    drawn = 0;
    byId("rows").replaceChildren();
    drawMore(BATCH);
  }

  function drawMore(number) {
    const next = shown.slice(drawn, drawn + number);
    byId("rows").append(...next.map(drawRow));
    drawn += next.length;
    const left = shown.length - drawn;
    byId("more").hidden = left === 0;
    byId("more").textContent = `Show ${Math.min(BATCH, left)} more of ${left}`;
    byId("count").textContent = `${shown.length} of ${rows.length} units fit, ${drawn} shown`;
  }

  function drawRow(row) {
    const detail = `detail-${row.index}`;
    const button = make("button", { type: "button", "aria-expanded": "false", "aria-controls": detail }, row.name);
    button.setAttribute("aria-label", `${row.name}, details of ${row.id}`);
    const line = make("tr", { "data-unit": row.id });
    for (const column of COLUMNS) {
      const content = column.key === "name" ? button : cellText(column, row);
      line.append(make("td", { class: cssOf(column) }, content));
    }
    button.addEventListener("click", () => toggle(row, line, button, detail));
    return line;
  }

  const cssOf = (column) => `${column.minor ? "minor" : ""} ${column.number ? "right" : ""} ${column.tight ? "tight" : ""}`.trim();

  function cellText(column, row) {
    const text = column.text ? column.text(row) : String(column.value(row) ?? "");
    return column.key === "state" ? make("span", { class: `state s-${row.state}` }, text) : text;
  }

  const visibleColumns = () => [...byId("columns").children].filter((head) => head.offsetParent !== null).length;

  function toggle(row, line, button, id) {
    if (button.getAttribute("aria-expanded") === "true") {
      byId(id).remove();
      button.setAttribute("aria-expanded", "false");
      return;
    }
    const cell = make("td", { colspan: visibleColumns() }, ...detailNodes(row, detailOf(row)));
    line.after(make("tr", { class: "detail", id }, cell));
    button.setAttribute("aria-expanded", "true");
  }

  function detailNodes(row, detail) {
    const facts = [["unit", row.id], ...(several ? [["plan", plans[row.plan]]] : []), ...(detail.facts || [])];
    return [
      factList(facts.map(([label, value]) => [label, explained(label, value)])),
      ...titled("Reasons: why it is not automatic", findings(detail.reasons)),
      ...titled("Warnings", findings(detail.warnings)),
      ...titled("Before and after the cutover", comparisons(detail.comparisons)),
      ...titled("Steps", steps(detail.steps)),
      ...titled("Changes (+ added, - removed)", changes(detail.changes)),
      ...titled("Not checked by this run", list(detail.notChecked)),
      ...titled("Pins: what must still hold", grid(["Object", "Fact"], (detail.pins || []).map((pin) => [pin.object, pin.fact]))),
      ...titled("Imputations: values that the predecessor states elsewhere", grid(["Field", "Value", "From", "Rule", "In"],
        (detail.imputations || []).map((item) => [item.field, item.value, item.source, item.rule, item.object]))),
      ...titled("After the pin expires (its pods roll)", list(detail.afterExpiry)),
      ...titled("Secrets referenced (never read)", list(detail.secrets)),
    ];
  }

  function explained(label, value) {
    const known = (label === "outcome" || label === "code") && Object.hasOwn(codes, value) ? codes[value] : null;
    return known ? `${value}: ${known.summary}` : value;
  }

  const titled = (title, content) => (content ? [make("h4", {}, title), content] : []);
  const factList = (pairs) => make("dl", { class: "facts" },
    ...pairs.map(([label, value]) => make("div", {}, make("dt", {}, label), make("dd", {}, value))));
  const list = (items) => (items && items.length ? make("ul", {}, ...items.map((item) => make("li", {}, item))) : null);

  function findings(items) {
    if (!items || !items.length) return null;
    return make("ul", { class: "findings" }, ...items.map((item) => {
      const known = Object.hasOwn(codes, item.code) ? codes[item.code] : { advice: "" };
      return make("li", {}, make("strong", {}, item.code), ` ${item.object}${item.field ? ` ${item.field}` : ""}: ${item.message}`,
        make("div", { class: "quiet" }, item.advice || known.advice));
    }));
  }

  function grid(titles, lines) {
    if (!lines.length) return null;
    const head = make("thead", {}, make("tr", {}, ...titles.map((title) => make("th", { scope: "col" }, title))));
    const body = make("tbody", {}, ...lines.map((line) => make("tr", {},
      ...line.map((cell, index) => make("td", { "data-label": titles[index], class: TIGHT.has(titles[index]) ? "tight" : "" }, cell)))));
    return make("table", { class: "stack" }, head, body);
  }

  function comparisons(items) {
    const lines = (items || []).map((item) => [item.label, item.before || "not read", item.after || "not read",
      make("span", { class: item.verdict }, item.verdict)]);
    return grid(["Fact", "Before", "After", "Verdict"], lines);
  }

  function steps(items) {
    const lines = (items || []).map((item, index) => [String(index + 1), item.name, item.state, item.started || "",
      item.seconds === undefined || item.seconds === null ? "" : `${item.seconds.toFixed(2)} s`,
      make("div", {}, item.text, ...(item.requests || []).map((text) => make("div", { class: "quiet" }, text)))]);
    return grid(["No.", "Step", "State", "Begun", "Took", "What"], lines);
  }

  function changes(items) {
    if (!items || !items.length) return null;
    return make("div", {}, ...items.flatMap((item) => [
      make("div", {}, make("strong", {}, item.object), ` (${item.how})`),
      make("pre", { tabindex: "0", role: "region", "aria-label": `Changes of ${item.object}` },
        ...item.lines.map(([mark, text]) =>
          make("span", { class: mark === "+" ? "plus" : mark === "-" ? "minus" : "" }, `${mark} ${text}`))),
    ]));
  }

  function drawColumns() {
    byId("columns").replaceChildren(...COLUMNS.map((column) => {
      const current = order.key === column.key;
      const button = make("button", { type: "button", "data-key": column.key },
        `${column.title}${current ? (order.down ? " ▼" : " ▲") : ""}`);
      button.addEventListener("click", () => {
        order = { key: column.key, down: order.key === column.key && !order.down };
        drawColumns();
        refresh();
        document.querySelector(`#columns button[data-key="${column.key}"]`).focus();
      });
      const sorted = current ? (order.down ? "descending" : "ascending") : "none";
      return make("th", { scope: "col", "aria-sort": sorted, class: cssOf(column) }, button);
    }));
  }

  byId("filters").addEventListener("submit", (event) => event.preventDefault());
  byId("search").addEventListener("input", refresh);
  for (const id of Object.keys(FILTERS)) byId(id).addEventListener("change", refresh);
  byId("clear").addEventListener("click", () => {
    byId("filters").reset();
    refresh();
  });
  byId("more").addEventListener("click", () => drawMore(BATCH));
  // A phone that is turned, or a window that is narrowed, hides columns; details then span those that are left.
  window.addEventListener("resize", () => {
    const columns = visibleColumns();
    for (const cell of document.querySelectorAll("#rows > tr.detail > td")) cell.colSpan = columns;
  });
  window.addEventListener("beforeprint", () => {
    for (const details of document.querySelectorAll("details")) details.open = true;
    drawMore(shown.length);
  });
  fillFilters();
  drawColumns();
  refresh();
})();
