/* What went wrong: the finding, what it rests on, what it was found under. Drawn once for a walk. */

function drawFinding() {
  const found = data.finding, subject = data.subject ? ` on ${data.subject}` : "";
  const count = plural(data.steps.length - 1, "step");
  if (!found) {
    byId("finding").replaceChildren(
      el("h1", {}, `${data.title}${subject}`),
      el("p", { class: "where" }, `${data.meaning} ${count} taken, every property holds.`),
      el("div", { class: "quiet" }, takenUnder(), wordsUsed()),
    );
    return;
  }
  const last = data.steps[found.step];
  const asides = [restsOn(found), alsoFalse(found), toBlame(found)].filter(Boolean);
  const lines = [
    found.must && ["What must hold", prose(firstSentence(found.must))],
    last.call && data.loop === null && [`In step ${found.step}`, [prose(last.sentence), happens(found.step)]],
    odd(found.step).length > 0 && ["To be noticed", el("ul", { class: "happens" }, odd(found.step).map((t) => el("li", {}, t)))],
  ].filter(Boolean);
  byId("finding").replaceChildren(
    el("h1", {}, el("span", { class: "wrong" }, found.kind === "violation" ? "✗ " : "● "), found.headline),
    el("p", { class: "where" }, `${data.title}${subject}, ${wrongAfter(found)}. ${data.meaning}`),
    el("div", { class: "quiet" }, takenUnder(), wordsUsed()),
    el("div", { class: asides.length ? "cause" : "" }, el("div", { class: "why" },
      el("dl", {}, lines.map(([name, text]) => [el("dt", {}, name), el("dd", {}, text)]),
        el("dt", {}, found.kind === "violation" ? "Why it is false" : "What is seen there"),
        el("dd", {}, found.why.length ? el("ul", {}, found.why.map((w) => el("li", { class: "decisive" }, w))) : el("code", {}, found.part)),
        found.died.length > 0 && [el("dt", {}, "Why it dies"), el("dd", {}, el("ul", {}, found.died.map((w) => el("li", {}, w))))],
        found.words.map(([name, meaning]) => [el("dt", {}, el("code", {}, name)), el("dd", {}, prose(meaning))]),
        found.fair.length > 0 && [el("dt", {}, "Why the run is fair"), el("dd", {}, el("details", {},
          el("summary", {}, `each of ${plural(found.fair.length, "assumption")} is met`),
          el("ul", {}, found.fair.map((f) => el("li", {}, f)))))],
        found.known && [el("dt", {}, "Known as"), el("dd", {}, found.known)])),
      asides.length > 0 && el("div", { class: "asides" }, asides)),
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
  if (!found.rests.length) return null;
  const steps = [...new Set(found.rests.map((r) => r.step))];
  return aside("rests", `What decided it in step ${found.step}, and which step left it so`, steps.map((at) => [
    stepLink(at), found.rests.filter((r) => r.step === at).map((r) => el("li", {},
      el("code", {}, `${r.path} = `), el("code", { class: "new" }, r.value), cameIn(r.since), " ",
      r.meaning && el("small", {}, prose(r.meaning))))]));
}

const cameIn = (since) => since.map(([name, at], i) =>
  [i ? ", " : " (", `${name} ${at ? "in" : "from"} `, stepLink(at), i + 1 === since.length && ")"]);

/* The decisions with another answer under which the same steps do not end so: a line each, opened what they mean. */
function toBlame(found) {
  if (!found.blamed.length) return null;
  const names = [...new Set(found.blamed.map((b) => b.name))];
  return aside("blame", "Which decision is to blame", names.map((name) => {
    const about = data.decisions.find((d) => d.name === name), answers = found.blamed.filter((b) => b.name === name);
    return [el("code", {}, name), el("li", {}, el("details", {},
      el("summary", {}, answers.map((b, i) => [i ? "; with " : "With ", named(b.instead), ": ", comesTo(b)])),
      el("div", {}, prose(firstSentence(about.meaning))),
      [answers[0].chosen, ...answers.map((b) => b.instead)].map((a) => el("div", {}, answered(a)))))];
  }));
}

function comesTo(blamed) {
  if (blamed.ends) return `the same steps do not get so far: ${blamed.ends}`;
  return `the same steps do not violate it${blamed.dies ? `, and the program dies: ${blamed.dies}` : ""}`;
}

/* An alternative of a decision: its name and the releases that have it; with what it does. */
const named = (answer) => [el("code", { class: "new" }, answer.name), answer.when && el("small", {}, `, ${answer.when}`)];
const answered = (answer) => [named(answer), answer.meaning && [": ", prose(answer.meaning)]];

/* One quiet line of what the walk is taken under; opened, every size, switch and decision with its meaning. */
function takenUnder() {
  const sizes = data.settings.filter((s) => s.size).map((s) => `${s.name} ${s.value}`);
  const other = data.decisions.filter((d) => d.newest).length;
  const than = other ? `, ${other} answered otherwise than in ${data.newest}` : "";
  const summary = [sizes.join(", "), data.decisions.length && `${plural(data.decisions.length, "decision")}${than}`].filter(Boolean);
  if (!summary.length) return null;
  return el("details", { class: "under" }, el("summary", {}, summary.join("; ")),
    data.settings.length > 0 && [el("h3", {}, "Sizes and switches"), listed(data.settings.map((s) => [s.name,
      [el("code", { class: "new" }, s.value), el("small", {}, " ", prose(s.meaning))]]))],
    data.decisions.length > 0 && [el("h3", {}, "Decisions"), listed(data.decisions.map((d) => [d.name, [
      el("div", {}, prose(d.meaning)), el("div", {}, answered(d.chosen)),
      d.newest && el("div", { class: "newest" }, `In ${data.newest}: `, answered(d.newest))]]))]);
}

/* The words of the system that the page uses, told to who asks. */
function wordsUsed() {
  if (!data.glossary.length) return null;
  return el("details", { class: "under glossary" }, el("summary", {}, `What ${plural(data.glossary.length, "word")} of this page mean`),
    el("dl", {}, data.glossary.map(([word, meaning]) => [el("dt", {}, word), el("dd", {}, prose(meaning))])));
}

const listed = (pairs) => el("dl", {}, pairs.map(([name, about]) => [el("dt", {}, el("code", {}, name)), el("dd", {}, about)]));

function alsoFalse(found) {
  if (!found.also.length) return null;
  return aside("also", "Also false", found.also.map(([name, at]) => {
    const about = data.properties[name.startsWith("no-crash-") ? "no-crash" : name];
    return [stepLink(at), el("li", {}, el("strong", {}, name), about && [": ", prose(firstSentence(about.meaning))])];
  }));
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
