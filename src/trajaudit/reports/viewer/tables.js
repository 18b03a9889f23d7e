"use strict";
// A click on a column's header sorts by it: the largest number first, then the smallest; text from A to Z, then back.
// Undefined values and rows that are not ranked stay last.

function sortKey(row, column) {
  const cell = row.cells[column];
  const number = cell.dataset.number;
  return number === undefined ? cell.textContent.trim() : Number(number);
}

function sortBy(table, column, rising) {
  const rows = Array.from(table.tBodies[0].rows);
  const last = (row) => row.hasAttribute("data-incomplete") || sortKey(row, column) === "";
  rows.sort((a, b) => {
    if (last(a) !== last(b)) return last(a) - last(b);
    const [x, y] = [sortKey(a, column), sortKey(b, column)];
    if (typeof x !== typeof y) return typeof x === "number" ? -1 : 1;
    const order = typeof x === "number" ? x - y : x.localeCompare(y);
    return rising ? order : -order;
  });
  table.tBodies[0].append(...rows);
}

for (const table of document.querySelectorAll("table.sortable")) {
  Array.from(table.tHead.rows[0].cells).forEach((header, column) => {
    const button = el("button", { type: "button" }, header.textContent);
    header.replaceChildren(button);
    button.addEventListener("click", () => {
      const first = table.querySelector("td[data-number]") && !header.hasAttribute("data-text") ? "descending" : "ascending";
      const before = header.getAttribute("aria-sort");
      const now = before === null ? first : before === "ascending" ? "descending" : "ascending";
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      header.setAttribute("aria-sort", now);
      sortBy(table, column, now === "ascending");
    });
  });
}
