"use strict";
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  const key = (row, index) => {
    const cell = row.cells[index];
    const order = cell.dataset.order ?? cell.textContent.trim().replaceAll(",", "");
    return order !== "" && Number.isFinite(Number(order)) ? Number(order) : order;
  };
  const compare = (a, b) => typeof a === typeof b ? (a < b ? -1 : a > b ? 1 : 0) : typeof a === "number" ? -1 : 1;
  for (const header of table.tHead.rows[0].querySelectorAll("th.number")) {
    const button = document.createElement("button");
    button.type = "button";
    button.title = "Sort by this column";
    button.append(...header.childNodes);
    header.append(button);
    let place = 0;
    for (let before = header.previousElementSibling; before; before = before.previousElementSibling) place += before.colSpan;
    button.addEventListener("click", () => {
      const down = header.ariaSort !== "descending";
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      header.ariaSort = down ? "descending" : "ascending";
      const rows = [...body.rows].sort((a, b) => compare(key(a, place), key(b, place)));
      body.append(...(down ? rows.reverse() : rows));
    });
  }
}
