"use strict";
/* Elements are made here and nowhere else, always from text: nothing of a trace is ever read as HTML. */

function el(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on") && typeof value === "function") made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false && child !== "") made.append(child);
  }
  return made;
}

/* A text in which ``this`` is code. */
function prose(text) {
  return text.split("``").map((part, i) => (i % 2 ? el("code", {}, part) : part));
}

const firstSentence = (text) => (/^.*?[.!?](?=\s|$)/.exec(text) || [text])[0];

const byId = (id) => document.getElementById(id);
const plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;

let data = JSON.parse(byId("data").textContent);
