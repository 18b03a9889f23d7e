"use strict";
// Every text of a trace or a model enters the page here, as text and never as markup. Characters that a reader would
// not see, or that would turn the reading direction around, are shown by their code point instead of taking effect.

const INVISIBLE = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\p{Surrogate}]/gu;

function addText(node, text) {
  let from = 0;
  for (const match of text.matchAll(INVISIBLE)) {
    node.append(document.createTextNode(text.slice(from, match.index)));
    const code = match[0].codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
    const mark = document.createElement("span");
    mark.className = "invisible";
    mark.textContent = "U+" + code;
    node.append(mark);
    from = match.index + match[0].length;
  }
  node.append(document.createTextNode(text.slice(from)));
}

// Make an element. `attributes` are written by this code, never taken from data, but for values of title and aria-label.
function el(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === true) node.setAttribute(name, "");
    else if (value !== false && value !== null) node.setAttribute(name, value);
  }
  for (const child of children.flat()) {
    if (child === null || child === undefined || child === false) continue;
    if (child instanceof Node) node.append(child);
    else addText(node, String(child));
  }
  return node;
}

function on(node, event, action) {
  node.addEventListener(event, action);
  return node;
}

// A JSON value as a reader wants it: a string as it is, something short on one line, the rest indented.
function shown(value) {
  if (typeof value === "string") return value;
  const line = JSON.stringify(value);
  return line.length <= 90 ? line : JSON.stringify(value, null, 2);
}

function block(value) {
  const text = shown(value);
  return el("pre", { class: "block", tabindex: text.length > 1200 ? "0" : null }, text);
}

function badge(kind, text) {
  return el("span", { class: "badge " + kind }, text);
}

function plural(n, one, many) {
  return n.toLocaleString("en") + " " + (n === 1 ? one : many || one + "s");
}
