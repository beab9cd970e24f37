"use strict";
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
