"use strict";
// What is shown follows from the address alone: #t/<id> opens a trajectory, #t lists them, anything else is the results.

const byId = new Map();
DATA.trajectories.forEach((trajectory, n) => {
  trajectory.n = n;
  byId.set(wellFormed(trajectory.id), trajectory);
});

function wellFormed(text) {
  return text.replace(/\p{Surrogate}/gu, "\ufffd");
}

function addressOf(trajectory) {
  return "#t/" + encodeURIComponent(wellFormed(trajectory.id));
}

function named(address) {
  try {
    return byId.get(decodeURIComponent(address.slice(3))) || null;
  } catch {
    return null;
  }
}

function open(trajectory, focus) {
  state.open = trajectory;
  document.body.dataset.open = trajectory ? "yes" : "no";
  markOpen();
  if (!trajectory) return;
  drawTrajectory(trajectory);
  if (focus) document.getElementById("opened").focus({ preventScroll: true });
}

function route(event) {
  const address = location.hash;
  const viewing = address === "#t" || address.startsWith("#t/");
  document.body.dataset.view = viewing ? "trajectories" : "results";
  for (const tab of document.querySelectorAll("nav a")) {
    const current = (tab.getAttribute("href") === "#t") === viewing;
    if (current) tab.setAttribute("aria-current", "page");
    else tab.removeAttribute("aria-current");
  }
  if (!viewing) return;
  const wide = matchMedia("(min-width: 60rem)").matches;
  const trajectory = named(address) || (wide && address === "#t" ? state.open || state.matches[0] || null : null);
  open(trajectory, event !== undefined && address.startsWith("#t/"));
  scrollTo(0, 0);
}

function move(by) {
  const at = state.matches.indexOf(state.open);
  const to = at === -1 ? (by > 0 ? 0 : state.matches.length - 1) : at + by;
  if (to < 0 || to >= state.matches.length) return;
  while (state.built <= to) buildMore();
  location.hash = addressOf(state.matches[to]);
  const link = list.querySelector('a[data-n="' + state.matches[to].n + '"]');
  link.scrollIntoView({ block: "nearest" });
}

function setBlind(blind) {
  state.blind = blind;
  document.getElementById("blind").checked = blind;
  for (const name of LABEL_FILTERS) filters[name].disabled = blind;
  applyFilters();
  if (state.open) open(state.open, false);
}

const KEYS = {
  j: () => move(1),
  k: () => move(-1),
  b: () => setBlind(!state.blind),
  "/": () => filters.search.focus(),
  Escape: () => (location.hash = "#t"),
};

document.addEventListener("keydown", (event) => {
  if (document.body.dataset.view !== "trajectories" || event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) && event.target.type !== "checkbox";
  if (typing && event.key === "Escape") event.target.blur();
  if (typing || !Object.hasOwn(KEYS, event.key)) return;
  event.preventDefault();
  KEYS[event.key]();
});

document.getElementById("filters").addEventListener("input", applyFilters);
document.getElementById("filters").addEventListener("submit", (event) => event.preventDefault());
document.getElementById("filters").addEventListener("reset", () => setTimeout(applyFilters));
document.getElementById("blind").addEventListener("change", (event) => setBlind(event.target.checked));
document.getElementById("hide-verdicts").addEventListener("change", (event) => {
  document.body.dataset.verdicts = event.target.checked ? "hidden" : "shown";
});
document.getElementById("more").addEventListener("click", buildMore);
document.getElementById("next").addEventListener("click", () => move(1));
document.getElementById("previous").addEventListener("click", () => move(-1));
addEventListener("hashchange", route);

fillFilters();
setBlind(document.getElementById("blind").checked);
route();
