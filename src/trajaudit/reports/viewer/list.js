"use strict";
// The list of trajectories and its filters. Rows are built a page at a time, so that thousands cost nothing to load.

const DATA = JSON.parse(document.getElementById("data").textContent);
const PAGE = 200;
const LABEL_FILTERS = ["stratum", "type", "verdict"];
const state = { matches: [], built: 0, open: null, blind: false };

const list = document.getElementById("list");
const counter = document.getElementById("counter");
const filters = document.getElementById("filters").elements;

function stratumOf(trajectory) {
  return trajectory.stratum || "unlabelled";
}

function verdictsOf(trajectory) {
  return DATA.verdicts[trajectory.n] || [];
}

// True, false, or null where either side has no opinion.
function agrees(verdict, trajectory) {
  return verdict.status === "ok" && trajectory.label ? verdict.faulty === trajectory.label.faulty : null;
}

function otherStep(verdict, trajectory) {
  const faults = trajectory.label ? trajectory.label.faults.filter((fault) => fault.step !== null) : [];
  return typeof verdict.step === "number" && faults.length > 0 && !faults.some((fault) => fault.step === verdict.step);
}

const CONDITIONS = {
  wrong: (verdict, trajectory) => agrees(verdict, trajectory) === false,
  right: (verdict, trajectory) => agrees(verdict, trajectory) === true,
  step: otherStep,
};

function optionsFor(select, values) {
  for (const value of values) select.append(el("option", { value }, value));
}

function fillFilters() {
  const strata = new Set(DATA.trajectories.map(stratumOf));
  const types = new Set(DATA.trajectories.flatMap((t) => (t.label ? t.label.faults.map((fault) => fault.type) : [])));
  const statuses = new Set(Object.values(DATA.verdicts).flatMap((verdicts) => verdicts.map((v) => v.status)));
  optionsFor(filters.stratum, ["clean", "silent", "loud", "unknown", "unlabelled"].filter((name) => strata.has(name)));
  optionsFor(filters.type, Array.from(types).sort());
  optionsFor(filters.auditor, DATA.auditors);
  optionsFor(filters.status, Array.from(statuses).sort());
}

function passes(trajectory) {
  const label = trajectory.label;
  const text = filters.search.value.trim().toLowerCase();
  if (text && !(trajectory.id + "\n" + trajectory.task).toLowerCase().includes(text)) return false;
  if (!state.blind) {
    if (filters.stratum.value && stratumOf(trajectory) !== filters.stratum.value) return false;
    if (filters.type.value && !(label && label.faults.some((fault) => fault.type === filters.type.value))) return false;
  }
  const condition = state.blind ? null : CONDITIONS[filters.verdict.value];
  if (!filters.auditor.value && !filters.status.value && !condition) return true;
  return verdictsOf(trajectory).some(
    (verdict) =>
      (!filters.auditor.value || verdict.auditor === filters.auditor.value) &&
      (!filters.status.value || verdict.status === filters.status.value) &&
      (!condition || condition(verdict, trajectory)),
  );
}

function tally(trajectory) {
  const wrong = verdictsOf(trajectory).filter((verdict) => agrees(verdict, trajectory) === false).length;
  const given = verdictsOf(trajectory).filter((verdict) => agrees(verdict, trajectory) !== null).length;
  return given ? (wrong ? wrong + " of " + given + " wrong" : "all " + given + " right") : "";
}

function row(trajectory) {
  const head = el(
    "span",
    { class: "row-head" },
    el("bdi", { class: "row-id" }, trajectory.id),
    state.blind ? null : badge(stratumOf(trajectory), stratumOf(trajectory)),
  );
  const link = el("a", { class: "row", href: addressOf(trajectory), "data-n": String(trajectory.n) }, head);
  link.append(el("bdi", { class: "row-task" }, trajectory.task.slice(0, 140)));
  if (!state.blind && tally(trajectory)) link.append(el("span", { class: "row-tally" }, tally(trajectory)));
  return el("li", {}, link);
}

function buildMore() {
  const next = state.matches.slice(state.built, state.built + PAGE);
  list.append(...next.map(row));
  state.built += next.length;
  document.getElementById("more").hidden = state.built >= state.matches.length;
  markOpen();
}

function applyFilters() {
  state.matches = DATA.trajectories.filter(passes);
  state.built = 0;
  list.replaceChildren();
  counter.textContent = plural(state.matches.length, "trajectory", "trajectories") + " of " + DATA.trajectories.length.toLocaleString("en");
  buildMore();
}

function markOpen() {
  for (const link of list.querySelectorAll("a.row")) {
    const current = state.open !== null && link.dataset.n === String(state.open.n);
    if (current) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
}
