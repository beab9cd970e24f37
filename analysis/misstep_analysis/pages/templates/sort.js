"use strict";
const FITS_A_PHONE = 3;
for (const table of document.querySelectorAll(".scroll > table")) {
  if (!table.tHead || table.closest(".papers")) continue;
  /** The cells of a row with the places of their columns, counted from the right: on the left a cell may go over rows. */
  const placed = row => {
    let place = 0;
    return [...row.cells].reverse().map(cell => [cell, place += cell.colSpan]);
  };
  const names = new Map();
  for (const row of table.tHead.rows) {
    for (const [head, place] of placed(row)) {
      const words = [...head.childNodes].map(node => node.textContent.trim()).filter(Boolean);
      names.set(place, [...names.get(place) ?? [], ...words]);
    }
  }
  if (Math.max(...names.keys()) <= FITS_A_PHONE) continue;
  table.classList.add("stacked");
  for (const body of table.tBodies) {
    for (const row of body.rows) {
      for (const [cell, place] of placed(row)) {
        if (cell.tagName === "TD" && cell.textContent.trim() && names.get(place)?.length) cell.dataset.label = names.get(place).join(" ");
      }
    }
  }
}
for (const table of document.querySelectorAll("table.sortable")) {
  const [heads] = table.tHead.rows;
  /** The number in a row's cell; `null` where it has none, so that such rows come last. */
  const key = (row, place) => {
    const cell = row.cells[row.cells[place].className === "kind" ? place + 1 : place];
    const order = cell.dataset.order ?? cell.textContent.trim().replaceAll(",", "");
    return order !== "" && Number.isFinite(Number(order)) ? Number(order) : null;
  };
  const sort = (place, down) => {
    for (const body of table.tBodies) {
      const rows = [...body.rows].filter(row => !row.classList.contains("group")).map(row => [key(row, place), row]);
      rows.sort(([a], [b]) => a === null || b === null ? (a === null) - (b === null) : down ? b - a : a - b);
      body.append(...rows.map(([, row]) => row));
    }
  };
  for (const header of heads.querySelectorAll("th.number")) {
    const button = document.createElement("button");
    button.type = "button";
    button.title = "Sort by this column";
    button.append(...header.childNodes);
    header.append(button);
    let place = 0;
    for (let before = header.previousElementSibling; before; before = before.previousElementSibling) place += before.colSpan;
    button.addEventListener("click", () => {
      const down = header.ariaSort !== "descending";
      for (const other of heads.cells) other.removeAttribute("aria-sort");
      header.ariaSort = down ? "descending" : "ascending";
      sort(place, down);
    });
  }
}
