"use strict";
// One trajectory, step by step, with what is known to be wrong in it and what each auditor said of it.

function part(name, body) {
  return el("div", { class: "part part-" + name }, el("h4", {}, name), body);
}

function actionBlock(action) {
  if (action.tool === undefined) return block(action.text);
  const call = el("div", { class: "call" }, el("bdi", { class: "tool" }, action.tool));
  for (const [name, value] of Object.entries(action.args)) {
    call.append(el("div", { class: "arg" }, el("bdi", { class: "arg-name" }, name), block(value)));
  }
  return call;
}

function faultMark(fault) {
  const where = fault.component ? " in the " + fault.component.replace("_", " ") : "";
  return el("p", { class: "fault-mark" }, "Labelled fault: ", el("bdi", {}, fault.type), where);
}

function pointers(trajectory, index) {
  const named = verdictsOf(trajectory).filter((verdict) => verdict.step === index);
  if (!named.length) return null;
  const names = named.map((verdict) => el("bdi", { class: "pointer" }, verdict.auditor));
  return el("p", { class: "pointers verdict-only" }, "Named by ", names);
}

function stepCard(trajectory, step) {
  const faults = state.blind || !trajectory.label ? [] : trajectory.label.faults.filter((f) => f.step === step.index);
  const tool = step.action && step.action.tool !== undefined ? step.action.tool : "";
  return el(
    "li",
    { class: "step" + (faults.length ? " faulty" : ""), id: "step-" + step.index, tabindex: "-1" },
    el("h3", {}, "Step " + step.index, tool && el("bdi", { class: "step-tool" }, tool), step.agent && el("bdi", { class: "agent" }, step.agent)),
    faults.map(faultMark),
    pointers(trajectory, step.index),
    step.thought === null ? null : part("thought", block(step.thought)),
    step.action === null ? null : part("action", actionBlock(step.action)),
    step.observation === null ? null : part("observation", block(step.observation)),
  );
}

function finalAnswer(trajectory) {
  const answer = trajectory.final_answer;
  return el(
    "section",
    { class: "step final" },
    el("h3", {}, "Final answer"),
    answer === null ? el("p", { class: "quiet" }, "None was given.") : block(answer),
  );
}

function labelLine(trajectory) {
  const label = trajectory.label;
  if (!label) return el("p", { class: "quiet" }, "No label is known.");
  const outcome = { true: "the outcome is right", false: "the outcome is wrong", null: "nobody knows the outcome" };
  const faults = label.faults.map((fault) => {
    const nowhere = fault.component === "final_answer" ? "final answer" : "step unknown";
    const where = fault.step === null ? nowhere : "step " + fault.step;
    return el("li", {}, el("bdi", {}, fault.type), ", " + where);
  });
  return el(
    "div",
    { class: "label" },
    el("p", {}, badge(stratumOf(trajectory), stratumOf(trajectory)), " " + (label.faulty ? "faulty" : "clean") + ", " + outcome[label.outcome_correct] + "; label by " + label.origin + "."),
    faults.length ? el("ul", {}, faults) : null,
    label.twin ? el("p", { class: "quiet" }, "Clean twin: ", el("bdi", {}, label.twin)) : null,
    trajectory.reference ? el("details", {}, el("summary", {}, "Reference answer"), block(trajectory.reference)) : null,
    trajectory.meta ? el("details", {}, el("summary", {}, "What the source says besides"), block(trajectory.meta)) : null,
  );
}

function stepLink(index) {
  const button = el("button", { type: "button", class: "step-link" }, "step " + index);
  return on(button, "click", () => {
    const target = document.getElementById("step-" + index);
    if (target === null) return;
    target.scrollIntoView({ block: "start" });
    target.focus({ preventScroll: true });
  });
}

function opinion(verdict, trajectory) {
  if (verdict.status !== "ok") return badge("none", verdict.status);
  const right = state.blind ? null : agrees(verdict, trajectory);
  const mark = right === null ? "" : right ? " ✓" : " ✗";
  const title = right === null ? null : right ? "agrees with the label" : "disagrees with the label";
  const said = badge((verdict.faulty ? "flagged" : "cleared") + (right === false ? " wrong" : ""), (verdict.faulty ? "faulty" : "clean") + mark);
  if (title) said.append(el("span", { class: "unseen-text" }, ", " + title));
  return said;
}

function scores(values) {
  const cells = values.map((value, i) => {
    const shade = Math.min(9, Math.floor(10 * value));
    return el("span", { class: "score shade-" + shade, title: "step " + i + ": " + value }, i);
  });
  return el("p", { class: "scores" }, "Step scores: ", cells);
}

function evidenceItem(item) {
  return el(
    "li",
    {},
    typeof item.step === "number" ? stepLink(item.step) : null,
    item.quote ? el("q", {}, item.quote) : null,
    item.note ? el("bdi", {}, " " + item.note) : null,
  );
}

function costLine(verdict) {
  const usage = verdict.usage;
  const tokens = [usage.prompt_tokens, usage.completion_tokens].map((n) => (n === null ? "unknown" : n.toLocaleString("en")));
  const time = verdict.latency_s;
  const seconds = time === null ? "time unknown" : time > 0 && time < 0.001 ? "<0.001 s" : Number(time.toPrecision(2)) + " s";
  const money = usage.usd === null ? "price unknown" : "US$ " + usage.usd;
  const words = [plural(usage.calls, "call"), tokens[0] + " + " + tokens[1] + " tokens", seconds, money];
  return el("p", { class: "quiet cost" }, words.join(" · "));
}

function verdictCard(verdict, trajectory) {
  const facts = [];
  if (typeof verdict.step === "number") facts.push(el("span", {}, "at ", stepLink(verdict.step)));
  if (verdict.types.length) facts.push(el("bdi", { class: "types" }, verdict.types.join(", ")));
  if (verdict.confidence !== null) facts.push(el("span", {}, "confidence " + verdict.confidence));
  if (verdict.score !== null) facts.push(el("span", {}, "score " + Number(verdict.score.toFixed(4))));
  for (const [sign, value] of Object.entries(verdict.uncertainty || {}))
    facts.push(el("span", {}, sign.replace(/_/g, " ") + " " + Number(value.toFixed(3))));
  return el(
    "article",
    { class: "verdict" },
    el("h3", {}, el("bdi", {}, verdict.auditor), opinion(verdict, trajectory)),
    facts.length ? el("p", { class: "facts" }, facts) : null,
    verdict.rationale ? el("p", { class: "rationale" }, verdict.rationale) : null,
    verdict.evidence.length ? el("ul", { class: "evidence" }, verdict.evidence.map(evidenceItem)) : null,
    verdict.step_scores ? scores(verdict.step_scores) : null,
    verdict.detail ? el("p", { class: "quiet" }, verdict.detail) : null,
    verdict.unseen ? el("p", { class: "quiet" }, plural(verdict.unseen.tokens, "token") + " did not fit its input.") : null,
    costLine(verdict),
  );
}

function drawTrajectory(trajectory) {
  const source = [trajectory.source.dataset, trajectory.source.domain, trajectory.source.model].filter(Boolean);
  const verdicts = verdictsOf(trajectory);
  const none = el("p", { class: "quiet" }, "No auditor has read this trajectory.");
  document.getElementById("trajectory").replaceChildren(
    el("h2", { id: "opened", tabindex: "-1" }, el("bdi", {}, trajectory.id)),
    el("p", { class: "quiet" }, "group ", el("bdi", {}, trajectory.group), " · ", source.map((text, i) => [i ? " · " : "", el("bdi", {}, text)]).flat()),
    state.blind ? el("p", { class: "label quiet" }, "The label is hidden.") : labelLine(trajectory),
    el("section", { class: "task" }, el("h3", {}, "Task"), block(trajectory.task)),
    el("ol", { class: "steps", start: "0" }, trajectory.steps.map((step) => stepCard(trajectory, step))),
    finalAnswer(trajectory),
  );
  document.getElementById("verdicts").replaceChildren(
    el("h2", {}, plural(verdicts.length, "verdict")),
    ...(verdicts.length ? verdicts.map((verdict) => verdictCard(verdict, trajectory)) : [none]),
  );
}
