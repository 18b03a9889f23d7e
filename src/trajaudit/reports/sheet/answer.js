"use strict";
// What an answer is and when it is complete: no element of the page, no clock, no storage, so that it is tested alone.

function emptyAnswer() {
  return { annotator: "", present: null, locations: [], types: [], rationale: "" };
}

// A stored answer in the form that this page knows; anything that does not fit becomes an empty answer.
function readAnswer(text) {
  try {
    const stored = JSON.parse(text);
    const listed = Array.isArray(stored.locations) && Array.isArray(stored.types);
    const words = typeof stored.annotator === "string" && typeof stored.rationale === "string";
    return listed && words && [true, false, null].includes(stored.present) ? { ...emptyAnswer(), ...stored } : emptyAnswer();
  } catch {
    return emptyAnswer();
  }
}

function samePlace(a, b) {
  return a.step === b.step && a.component === b.component;
}

// A list with the item added where it was absent and left out where it was there.
function toggled(list, item, same = (a, b) => a === b) {
  return list.some((other) => same(other, item)) ? list.filter((other) => !same(other, item)) : [...list, item];
}

// The place that a step and a component name; the final answer as a whole belongs to no step.
function place(step, component) {
  return { step: component === "final_answer" ? null : step, component };
}

// What is missing, in words, in the order of the form.
function problems(answer) {
  const out = [];
  if (!answer.annotator.trim()) out.push("Your name is missing.");
  if (answer.present === null) out.push("Say whether a fault is present.");
  if (answer.present === true && !answer.types.length) out.push("Name at least one type.");
  if (answer.present === false && (answer.types.length || answer.locations.length)) {
    out.push("No fault is present, yet a type or a place is named.");
  }
  return out;
}

// The record that is saved: the answer, what it was given on, and when.
function recordOf(answer, sheet, saved) {
  const places = [...answer.locations].sort((a, b) => (a.step === null) - (b.step === null) || a.step - b.step);
  return {
    form: "annotation",
    version: 1,
    trajectory_id: sheet.trajectory.id,
    content_hash: sheet.content_hash,
    taxonomy: sheet.taxonomy.name,
    condition: sheet.condition,
    annotator: answer.annotator.trim(),
    present: answer.present,
    locations: places,
    types: sheet.taxonomy.types.map((type) => type.name).filter((name) => answer.types.includes(name)),
    rationale: answer.rationale.trim(),
    saved,
  };
}

function recordText(record) {
  return JSON.stringify(record, null, 2) + "\n";
}

function fileName(record) {
  const who = record.annotator.normalize("NFKD").replace(/[^A-Za-z0-9]+/g, "-").replace(/^-+|-+$/g, "") || "annotator";
  return "annotation-" + record.content_hash.slice(0, 12) + "-" + who + ".json";
}

// Where a sheet keeps its answer in the browser, so that a closed tab loses nothing.
function storageKey(contentHash, condition) {
  return "trajaudit/" + contentHash + "/" + condition;
}
