/* What is said in words of a step: what it is and did, the properties, and what else could have happened. */

const isFinding = (at) => data.finding !== null && data.finding.kind === "violation"
  && data.loop === null && data.finding.step === at;
const isWrong = (at) => isFinding(at) || data.steps[at].judgements.some((j) => j.status === "false");

/* The step. Each part of it is drawn anew only where what it shows has changed. */
const PARTS = ["title", "sentence", "source", "steppable", "crash", "happens", "changes", "properties"];
const parts = {};

function drawFrame() {
  for (const name of PARTS) parts[name] = { box: el("div", { class: `part ${name}` }), key: null };
  parts.instead = choiceBox("instead");
  parts.next = choiceBox("next");
  parts.words = whenOpened(el("details", {}, el("summary", {}, "The picture at this step in words"), el("ul", {})), () => fillWords(now));
  byId("now").replaceChildren(...Object.values(parts).map((part) => part.box));
}

/* A part that is filled when a person opens it, and again at each step while it is open. */
function whenOpened(box, fill) {
  box.addEventListener("toggle", () => { if (box.open) fill(); });
  return { box, fill, key: null };
}

function part(name, shown, draw) {
  const key = JSON.stringify(shown), kept = parts[name];
  if (kept.key === key) return;
  kept.key = key;
  kept.box.replaceChildren(...[draw()].flat(Infinity).filter(Boolean));
  kept.box.hidden = !kept.box.hasChildNodes();
}

function drawNow(at) {
  const step = data.steps[at];
  const title = at === 0 ? "The start" : `Step ${at} of ${data.steps.length - 1}`;
  part("title", [title, step.actor], () => el("div", { class: "title" }, el("h2", {}, title), step.actor && el("span", { class: "tag" }, step.actor)));
  part("sentence", step.sentence, () => el("p", { class: "sentence" }, prose(step.sentence)));
  part("source", [step.call, step.source, step.place], () => sources(step));
  if (data.live) part("steppable", [data.following[at], nextCall(at)], () => steppable(at));
  part("crash", step.crash, () => step.crash && el("p", { class: "wrong" }, `✗ Here the modelled program dies: ${step.crash}.`));
  part("happens", telling(at), () => happened(at));
  part("changes", [step.changes, step.shown], () => changes(step));
  part("properties", step.judgements, () => properties(step));
  drawChoices("instead", at > 0 ? data.following[at - 1] : [], step.call, "taken", `What else could have happened instead of step ${at}`);
  drawChoices("next", data.following[at], nextCall(at), "taken next", data.live ? "What is blocked, and by what" : "What can happen next");
  if (parts.words.box.open) parts.words.fill();
}

const nextCall = (at) => (at + 1 < data.steps.length ? data.steps[at + 1].call : null);

/* Of a live page: the steps that can be taken, at hand. */
function steppable(at) {
  const next = nextCall(at);
  const can = data.following[at].filter((c) => c.enabled.length);
  return el("section", { class: "steppable", "aria-label": "What can happen next" }, el("h3", {}, "What can happen next: take a step"),
    can.length ? el("ul", { class: "choices" }, can.map((c) => el("li", {}, el("strong", {}, c.action),
      c.actor && el("small", {}, ` ${c.actor}`), enabled(c, next, "taken next"))))
      : el("p", { class: "muted" }, "Nothing."));
}

function sources(step) {
  if (!step.call) return null;
  return el("div", { class: "source" },
    el("code", {}, step.call),
    step.source && el("span", {}, "upstream: ", el("code", {}, step.source)),
    step.place && el("span", {}, "model: ", el("code", {}, step.place)));
}

let bars = [];

/* What each row of the picture shows at a step. */
function barsAt(at) {
  if (!bars.length) bars = barsOverTime();
  return bars[at];
}

function barsOverTime() {
  const found = data.steps.map(() => []);
  for (const band of data.bands) for (const line of band.rows) for (const segment of line.segments) {
    const { text, passing, odd, first } = segment, marked = new Map();
    for (const [at, mark] of segment.marks) marked.set(at, marked.has(at) ? `${marked.get(at)}; ${mark}` : mark);
    for (let at = first; at <= segment.last; at += 1) {
      found[at].push({ band: band.title, row: line.name, text, mark: marked.get(at) || "", passing, odd, since: first });
    }
  }
  return found;
}

/* What is told of a step, else what its drawing says of the step alone. */
function telling(at) {
  const told = data.steps[at].told;
  return told.length ? told : barsAt(at).filter((b) => b.mark || b.passing).map((b) => `${nameOf(b)}: ${b.text}${b.mark ? ` – ${b.mark}` : ""}`);
}

function happens(at) {
  const found = telling(at);
  return found.length ? el("ul", { class: "happens" }, found.map((t) => el("li", {}, prose(t)))) : null;
}

const since = (bar, at) => (bar.since < at ? `, since ${bar.since ? `step ${bar.since}` : "the start"}` : "");

/* What the drawing points out, with the step since which it stands. */
const odd = (at) => barsAt(at).filter((b) => b.odd).map((b) => `${b.band}, ${b.row}: ${b.text}${since(b, at)}${b.mark ? ` – ${b.mark}` : ""}`);

/* A row by its name, with that of its band where another band has a row of this name. */
function nameOf(bar) {
  const same = data.bands.filter((band) => band.rows.some((line) => line.name === bar.row));
  return same.length > 1 ? `${bar.row} (${bar.band})` : bar.row;
}

function happened(at) {
  const found = happens(at);
  return found && el("div", {}, el("h3", {}, "What happens in it"), found);
}

function changes(step) {
  const rows = step.changes.map((c) => el("li", {}, el("code", {}, c.path), ": ",
    el("code", { class: "old" }, c.old), " → ", el("code", { class: "new" }, c.new), el("small", {}, prose(c.meaning))));
  const shown = step.shown.map((c) => el("li", {}, el("code", {}, c.path), ": ",
    el("code", { class: "new" }, c.new), el("small", {}, prose(c.meaning))));
  const box = el("div", {}, el("h3", {}, "What it changed"));
  box.append(rows.length ? el("ul", { class: "changes" }, rows) : el("p", { class: "muted" }, "Nothing that is stored."));
  if (shown.length) {
    box.append(el("details", {}, el("summary", {}, `What it showed, for properties to judge (${shown.length})`),
      el("ul", { class: "changes" }, shown)));
  }
  return box;
}

const SIGNS = { holds: ["✓", "right"], false: ["✗", "wrong"], "not asked": ["–", "muted"] };

function properties(step) {
  if (!step.judgements.length) return null;
  const box = el("div", {}, el("h3", {}, "Properties"));
  for (const judged of step.judgements.filter((j) => j.status === "false")) box.append(falseProperty(judged));
  box.append(el("ul", { class: "judged" }, step.judgements.filter((j) => j.status !== "false").map((j) => {
    const [sign, kind] = SIGNS[j.status], about = data.properties[j.name];
    return el("li", { class: kind, title: about ? about.meaning : "" }, `${sign} ${j.name}`,
      j.status === "holds" ? el("span", { class: "unseen" }, " holds") : el("small", {}, ` not asked: it is ${j.note}`));
  })));
  return box;
}

function falseProperty(judged) {
  const about = data.properties[judged.name] || { meaning: "", place: "" };
  return el("div", { class: "false" },
    el("p", {}, el("strong", { class: "wrong" }, `✗ ${judged.name} is false. `), prose(about.meaning)),
    judged.note && el("p", { class: "decisive" }, judged.note),
    judged.parts.map(falsePart));
}

function falsePart(part) {
  return [
    part.why.map((w) => el("p", { class: "decisive" }, w)),
    el("p", {}, "This part of it is false: ", el("code", {}, part.text), " ", el("small", {}, part.place)),
    part.facts.length ? el("details", {}, el("summary", {}, `The values that it read (${part.facts.length})`),
      el("ul", { class: "facts" }, part.facts.map((f) => el("li", {}, el("code", {}, f))))) : null,
  ];
}

/* What each action can do, in a list that is filled while it is open. */
function choiceBox(name) {
  const box = el("details", { class: name }, el("summary", {}), el("ul", { class: "choices" }));
  return whenOpened(box, () => fillChoices(parts[name]));
}

function drawChoices(name, list, taken, word, title) {
  const kept = parts[name];
  Object.assign(kept, { list, taken, word });
  kept.box.hidden = !list.length;
  if (kept.box.firstChild.textContent !== title) kept.box.firstChild.textContent = title;
  if (kept.box.open) kept.fill();
}

/* The actions are the same ones in every state: an entry is made anew only where it says something else. */
function fillChoices({ box, list, taken, word }) {
  const rows = box.lastChild;
  list.forEach((choice, i) => {
    const key = JSON.stringify([choice, choice.enabled.includes(taken) && taken, word]), old = rows.children[i];
    if (old && old.key === key) return;
    const made = choiceRow(choice, taken, word);
    made.key = key;
    if (old) old.replaceWith(made);
    else rows.append(made);
  });
  while (rows.children.length > list.length) rows.lastChild.remove();
}

function choiceRow(c, taken, word) {
  return el("li", {},
    el("strong", {}, c.action), c.actor && el("small", {}, ` ${c.actor}`),
    c.tried < c.total && el("small", {}, ` (${c.tried} of ${c.total} argument combinations looked at)`),
    enabled(c, taken, word), blocked(c));
}

function enabled(choice, taken, word) {
  if (!choice.enabled.length) return null;
  const can = data.live && word !== "taken";
  return el("div", { class: "calls" }, choice.enabled.map((call) => el(can ? "button" : "span", {
    class: call === taken ? "taken" : "", type: can && "button", onclick: can && (() => take(call)),
  }, call === taken ? `${call} ← ${word}` : call)), choice.more > 0 && el("small", {}, `and ${choice.more} more`));
}

function blocked(choice) {
  const all = !choice.enabled.length;
  return el("ul", { class: "blocked" }, choice.blocked.map((b) => el("li", {},
    el("small", {}, all && choice.blocked.length === 1 ? "blocked: " : `blocked in ${b.count} of ${choice.tried} ways, such as ${b.example}: `),
    el("code", {}, b.text), el("small", {}, ` is false${b.why.length ? `: ${b.why.join("; ")}` : ""} (${b.place})`))));
}

function fillWords(at) {
  parts.words.box.lastChild.replaceChildren(...barsAt(at).map((b) => el("li", {},
    `${b.band}, ${b.row}: ${b.text}${b.passing ? "" : since(b, at)}${b.mark ? ` – ${b.mark}` : ""}`)));
}

const inFull = (step) => [step.sentence, ...step.told].join(" ");

const stepButtons = [];

function drawSteps() {
  stepButtons.length = 0;
  const items = data.steps.map((step, at) => {
    const button = el("button", { type: "button", class: isWrong(at) ? "bad" : "", onclick: () => go(at) },
      el("span", { class: "number" }, isWrong(at) ? `${isFinding(at) ? "✗" : "!"}${at}` : `${at}`),
      el("span", { class: "text" }, step.actor && el("span", { class: "actor" }, `${step.actor}: `), prose(inFull(step))));
    stepButtons.push(button);
    return el("li", {}, button);
  });
  const repeats = data.loop !== null
    ? el("p", { class: "wrong" }, data.loop === data.steps.length - 1 ? "↺ Here the run may stop for good: nothing has to happen any more."
      : `↺ From here it goes on as after step ${data.loop}, again and again.`) : null;
  byId("steps").replaceChildren(...[el("h2", { id: "steps-title" }, "All steps"), el("ol", {}, items), repeats].filter(Boolean));
}

let marked = [];

function markStep(at) {
  for (const element of marked) element.removeAttribute("aria-current");
  marked = [stepButtons[at], timeline.ticks[at]];
  for (const element of marked) element.setAttribute("aria-current", "step");
}

function drawAbout() {
  byId("about").replaceChildren(...[
    data.never.length ? el("p", { class: "muted" }, `Never possible in this scenario: ${data.never.join(", ")}.`) : null,
    data.finding && data.finding.engine ? el("p", { class: "muted" }, `Found by the engine '${data.finding.engine}'.`) : null,
  ].filter(Boolean));
}
