"use strict";
// The form beside the trajectory: every change is kept in the browser at once, and saved as a file when it is complete.

const SHEET = JSON.parse(document.getElementById("data").textContent);
const COMPONENT_KEYS = { t: "thought", a: "action", o: "observation", f: "final_answer" };
const state = { blind: true };
const KEY = storageKey(SHEET.content_hash, SHEET.condition);
const NAME_KEY = "trajaudit/annotator";
const form = document.getElementById("form");
let answer = emptyAnswer();
let current = 0;

function verdictsOf() {
  return [];
}

function keep(key, text) {
  try {
    localStorage.setItem(key, text);
  } catch {
    document.getElementById("kept").textContent = "This browser keeps nothing: save before you close the page.";
  }
}

function kept(key) {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

function change(part) {
  answer = { ...answer, ...part };
  document.getElementById("saved").hidden = true;
  document.getElementById("missing").replaceChildren();
  keep(KEY, JSON.stringify(answer));
  keep(NAME_KEY, answer.annotator);
  draw();
}

function placeText(spot) {
  const component = spot.component === null ? "" : spot.component.replace("_", " ");
  return spot.step === null ? component : "step " + spot.step + (component ? ", " + component : "");
}

function placeButton(step, component) {
  const spot = place(step, component);
  const text = component === null ? "the whole step" : component.replace("_", " ");
  const chosen = answer.locations.some((other) => samePlace(other, spot));
  const button = el("button", { type: "button", class: "place", "aria-pressed": String(chosen) }, text);
  return on(button, "click", () => change({ locations: toggled(answer.locations, spot, samePlace) }));
}

function drawPlaces() {
  for (const card of document.querySelectorAll("#trajectory .step")) {
    const step = card.classList.contains("final") ? null : Number(card.id.slice("step-".length));
    const known = step === null ? ["final_answer"] : [null, "thought", "action", "observation"];
    const focused = document.activeElement;
    const at = focused && card.contains(focused) ? Array.from(card.querySelectorAll(".place")).indexOf(focused) : -1;
    const bar = el("p", { class: "places" }, "A fault is here: ", known.map((component) => placeButton(step, component)));
    const old = card.querySelector(".places");
    if (old) old.replaceWith(bar);
    else card.append(bar);
    if (at >= 0) bar.querySelectorAll(".place")[at].focus();
    card.classList.toggle("current", step === current);
  }
}

function draw() {
  for (const input of form.elements.present) input.checked = answer.present === (input.value === "yes") && answer.present !== null;
  for (const input of form.querySelectorAll("[name=type]")) input.checked = answer.types.includes(input.value);
  for (const name of ["annotator", "rationale"]) {
    if (form.elements[name].value !== answer[name]) form.elements[name].value = answer[name];
  }
  const chosen = answer.locations.map((spot) => {
    const remove = el("button", { type: "button", "aria-label": "Remove " + placeText(spot) }, "×");
    on(remove, "click", () => change({ locations: toggled(answer.locations, spot, samePlace) }));
    return el("li", {}, placeText(spot) + " ", remove);
  });
  document.getElementById("places").replaceChildren(...(chosen.length ? chosen : [el("li", { class: "quiet" }, "none named")]));
  drawPlaces();
}

function save() {
  const missing = problems(answer);
  document.getElementById("missing").replaceChildren(...missing.map((text) => el("li", {}, text)));
  if (missing.length) return;
  const record = recordOf(answer, SHEET, new Date().toISOString());
  const text = recordText(record);
  const link = el("a", { href: URL.createObjectURL(new Blob([text], { type: "application/json" })), download: fileName(record) });
  link.click();
  keep(KEY + "/saved", record.saved);
  document.getElementById("record").value = text;
  document.getElementById("file").textContent = fileName(record);
  document.getElementById("saved").hidden = false;
}

function go(by) {
  current = Math.max(0, Math.min(SHEET.trajectory.steps.length - 1, current + by));
  drawPlaces();
  const card = document.getElementById("step-" + current);
  card.scrollIntoView({ block: "nearest" });
  card.focus({ preventScroll: true });
}

function pressed(key) {
  if (key === "y" || key === "n") change(key === "y" ? { present: true } : { present: false, types: [], locations: [] });
  else if (key === "j" || key === "k") go(key === "j" ? 1 : -1);
  else if (key === "w") change({ locations: toggled(answer.locations, place(current, null), samePlace) });
  else if (Object.hasOwn(COMPONENT_KEYS, key)) {
    change({ locations: toggled(answer.locations, place(current, COMPONENT_KEYS[key]), samePlace) });
  } else if (key >= "1" && key <= "9" && SHEET.taxonomy.types[key - 1]) {
    change({ types: toggled(answer.types, SHEET.taxonomy.types[key - 1].name) });
  } else if (key === "r") form.elements.rationale.focus();
  else if (key === "s") save();
  else return false;
  return true;
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = /^(INPUT|TEXTAREA)$/.test(event.target.tagName) && !/^(radio|checkbox)$/.test(event.target.type);
  if (typing && event.key === "Escape") event.target.blur();
  if (!typing && pressed(event.key)) event.preventDefault();
});

form.addEventListener("input", (event) => {
  const { name, value } = event.target;
  if (name === "present") pressed(value === "yes" ? "y" : "n");
  else if (name === "type") change({ types: toggled(answer.types, value) });
  else if (name === "annotator" || name === "rationale") change({ [name]: value });
});
form.addEventListener("submit", (event) => {
  event.preventDefault();
  save();
});
document.getElementById("clear").addEventListener("click", () => change({ ...emptyAnswer(), annotator: answer.annotator }));

const told = SHEET.trajectory;
document.getElementById("trajectory").replaceChildren(
  el("section", { class: "task" }, el("h3", {}, "Task"), block(told.task)),
  el("ol", { class: "steps", start: "0" }, told.steps.map((step) => stepCard(told, step))),
  finalAnswer(told),
);
answer = readAnswer(kept(KEY));
if (!answer.annotator) answer.annotator = kept(NAME_KEY) || "";
draw();
