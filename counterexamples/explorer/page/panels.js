/* What is said in words: the finding, the step, the properties, and what else could have happened. */

const isFinding = (at) => data.finding !== null && data.finding.kind === "violation"
  && data.loop === null && data.finding.step === at;
const isWrong = (at) => isFinding(at) || data.steps[at].judgements.some((j) => j.status === "false");

function drawFinding() {
  const found = data.finding, subject = data.subject ? ` on ${data.subject}` : "";
  const count = plural(data.steps.length - 1, "step");
  if (!found) {
    byId("finding").replaceChildren(
      el("h1", {}, `${data.title}${subject}`),
      el("p", { class: "where" }, `${data.meaning} ${count} taken, every property holds.`),
    );
    return;
  }
  const last = data.steps[found.step];
  const lines = [
    found.must && ["What must hold", prose(firstSentence(found.must))],
    last.call && data.loop === null && [`What happened in step ${found.step}`, [prose(last.sentence), happens(found.step)]],
    odd(found.step).length > 0 && ["To be noticed", el("ul", { class: "happens" }, odd(found.step).map((t) => el("li", {}, t)))],
  ].filter(Boolean);
  byId("finding").replaceChildren(
    el("h1", {}, el("span", { class: "wrong" }, found.kind === "violation" ? "✗ " : "● "), found.headline),
    el("p", { class: "where" }, `${data.title}${subject}, ${wrongAfter(found)}. ${data.meaning}`),
    el("div", { class: "why" },
      el("dl", {}, lines.map(([name, text]) => [el("dt", {}, name), el("dd", {}, text)]),
        el("dt", {}, found.kind === "violation" ? "Why it is false" : "What is seen there"),
        el("dd", {}, found.why.length ? el("ul", {}, found.why.map((w) => el("li", { class: "decisive" }, w))) : el("code", {}, found.part)),
        found.died.length > 0 && [el("dt", {}, "Why it dies"), el("dd", {}, el("ul", {}, found.died.map((w) => el("li", {}, w))))],
        found.words.map(([name, meaning]) => [el("dt", {}, el("code", {}, name)), el("dd", {}, prose(meaning))]),
        found.fair.length > 0 && [el("dt", {}, "Why the run is fair"), el("dd", {}, el("details", {},
          el("summary", {}, `each of ${plural(found.fair.length, "assumption")} is met`),
          el("ul", {}, found.fair.map((f) => el("li", {}, f)))))],
        found.known && [el("dt", {}, "Known as"), el("dd", {}, found.known)])),
    ...restsOn(found),
    ...alsoFalse(found),
  );
}

/* A way to another step, from where a step is named. */
function stepLink(at, text = at ? `step ${at}` : "the start") {
  const leave = (event) => {
    event.preventDefault();
    go(at);
    byId("now").focus();
  };
  return el("a", { href: `#step=${at}`, title: inFull(data.steps[at]), onclick: leave }, text);
}

/* What decides that the property is false, as it stood before the step, by the step that left it so. */
function restsOn(found) {
  if (!found.rests.length) return [];
  const steps = [...new Set(found.rests.map((r) => r.step))];
  return [aside("rests", `What decided it in step ${found.step}, and which step left it so`, steps.map((at) => [
    stepLink(at), found.rests.filter((r) => r.step === at).map((r) => el("li", {},
      el("code", {}, `${r.path} = `), el("code", { class: "new" }, r.value), cameIn(r.since), " ",
      r.meaning && el("small", {}, prose(r.meaning))))]))];
}

const cameIn = (since) => since.map(([name, at], i) =>
  [i ? ", " : " (", `${name} ${at ? "in" : "from"} `, stepLink(at), i + 1 === since.length && ")"]);

function alsoFalse(found) {
  if (!found.also.length) return [];
  return [aside("also", "Also false", found.also.map(([name, at]) => {
    const about = data.properties[name.startsWith("no-crash-") ? "no-crash" : name];
    return [stepLink(at), el("li", {}, el("strong", {}, name), about && [": ", prose(firstSentence(about.meaning))])];
  }))];
}

/* Under the finding: lines below a title, each with the step that it is about in front. */
function aside(kind, title, lines) {
  return el("section", { class: `aside ${kind}`, "aria-labelledby": `${kind}-title` }, el("h2", { id: `${kind}-title` }, title),
    el("dl", {}, lines.map(([step, items]) => [el("dt", {}, step), el("dd", {}, el("ul", {}, items))])));
}

function wrongAfter(found) {
  const last = data.steps.length - 1;
  if (data.loop === last) return `after ${plural(last, "step")} the run may stop for good`;
  if (data.loop !== null) return `a run of ${plural(data.steps.length - 1, "step")} that repeats from step ${data.loop + 1} on`;
  return `after ${plural(found.step, "step")}`;
}

function drawNotices() {
  byId("notices").replaceChildren(...(data.notices || []).map((text) => el("p", { class: "notice", role: "note" }, text)));
}

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
  const list = (pairs) => el("dl", {}, pairs.map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]));
  byId("about").replaceChildren(
    el("details", {}, el("summary", {}, "Sizes, what is on, and the decisions in force"), list(data.settings),
      data.decisions.length ? [el("h3", {}, "Decisions"), list(data.decisions)] : null,
      data.never.length ? el("p", { class: "muted" }, `Never possible in this scenario: ${data.never.join(", ")}.`) : null),
    data.finding && data.finding.engine ? el("p", { class: "muted" }, `Found by the engine '${data.finding.engine}'.`) : "",
  );
}
