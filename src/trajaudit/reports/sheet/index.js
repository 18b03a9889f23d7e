"use strict";
// Which sheets have an answer in this browser. Some browsers give every file its own storage: then nothing is marked.

for (const row of document.querySelectorAll("tr[data-hash]")) {
  let words = "";
  try {
    const key = storageKey(row.dataset.hash, document.body.dataset.condition);
    const begun = readAnswer(localStorage.getItem(key)).present !== null;
    words = localStorage.getItem(key + "/saved") ? "saved" : begun ? "begun" : "";
  } catch {
    words = "";
  }
  row.lastElementChild.textContent = words;
}
