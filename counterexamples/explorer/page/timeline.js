/* The picture over time. It is drawn once for a walk; a step moves the cursor alone. */

const timeline = { box: byId("timeline"), cursors: [], ticks: [], scrolled: 0 };
timeline.box.addEventListener("scroll", () => { timeline.scrolled = timeline.box.scrollLeft; }, { passive: true });

function column(element, first, last = first) {
  element.style.left = `calc(var(--cell) * ${first} + 1px)`;
  element.style.width = `calc(var(--cell) * ${last - first + 1} - 2px)`;
  return element;
}

function row(name, content, kind = "") {
  return el("div", { class: `row ${kind}` }, el("div", { class: "name", title: name }, name), el("div", { class: "track" }, content));
}

function bandTitle(title, legend = [], note = "") {
  const meanings = legend.map(([texture, meaning]) => el("span", {}, el("i", { class: `swatch ${texture}` }), meaning));
  return el("div", { class: "row band" }, el("div", { class: "name" }, title), el("div", { class: "legend" }, meanings, note));
}

function bar(segment) {
  const words = segment.marks.map(([at, mark]) => `step ${at}: ${mark}`);
  const made = el("div", {
    class: `bar hue-${segment.hue % 8} ${segment.texture} ${segment.passing ? "passing" : ""}`,
    title: [segment.text, ...words].join("\n"),
  }, segment.text);
  return column(made, segment.first, segment.last);
}

function marksOf(segment) {
  return segment.marks.map(([at, mark]) => {
    const made = el("div", { class: "mark", title: mark });
    made.style.left = `calc(var(--cell) * ${at + 1} - 14px)`;
    return made;
  });
}

function ticks() {
  timeline.ticks = data.steps.map((_, at) => {
    const bad = isWrong(at), sign = isFinding(at) ? "✗" : "!";
    const tick = el("button", {
      class: `tick ${bad ? "bad" : ""}`, type: "button", tabindex: "-1", onclick: () => go(at),
      "aria-label": `step ${at}${bad ? ", here a property is false" : ""}`,
    }, bad ? `${sign}${at}` : `${at}`);
    tick.style.left = `calc(var(--cell) * ${at})`;
    return tick;
  });
  return row("step", timeline.ticks, "ticks");
}

function lanes() {
  const nameless = data.steps.map((step, at) => step.call && !step.actor
    && column(el("div", { class: "bar act", title: inFull(step) }, step.call.split("(")[0]), at));
  const rows = nameless.some(Boolean) ? [row("action", nameless)] : [];
  return rows.concat(data.actors.map((actor) => row(actor, data.steps.map((step, at) => {
    if (step.actor !== actor || !step.call) return null;
    const name = step.call.split("(")[0];
    return column(el("div", { class: "bar act", title: inFull(step) }, name), at);
  }))));
}

function loopRow() {
  if (data.loop === null) return null;
  const last = data.steps.length - 1;
  const made = el("div", { class: "loop" }, data.loop === last ? "↺ stops" : "↺ again and again");
  return row("repeats", column(made, Math.min(data.loop + 1, last), last));
}

function drawTimeline() {
  timeline.cursors = [drawBands(timeline.box, data, isFault())];
}

const isFault = () => (data.finding && data.finding.kind === "violation" && data.loop === null ? data.finding.step : null);

/* Draw the rows of a view of the data into a box; returns the cursor that moves over them. */
function drawBands(box, view, fault) {
  const tracks = el("div", { class: "tracks" });
  const cursor = el("div", { class: "cursor" });
  if (view === data) {
    tracks.append(ticks());
    const loop = loopRow();
    if (loop) tracks.append(loop);
    tracks.append(bandTitle("Whose step it is"), ...lanes());
  }
  for (const band of view.bands) {
    tracks.append(bandTitle(band.title, band.legend, band.note));
    for (const line of band.rows) {
      tracks.append(row(line.name, line.segments.map((segment) => [bar(segment), marksOf(segment)])));
    }
  }
  if (fault !== null) {
    const frame = el("div", { class: "fault" });
    frame.style.left = `calc(var(--label) + var(--cell) * ${fault})`;
    tracks.append(frame);
  }
  tracks.append(cursor);
  box.replaceChildren(tracks);
  box.setAttribute("tabindex", "0");
  box.setAttribute("role", "region");
  box.style.setProperty("--count", view.steps.length);
  return cursor;
}

function fitTimeline() {
  const label = parseFloat(getComputedStyle(timeline.box).getPropertyValue("--label"));
  const room = timeline.box.clientWidth - label - 2;
  const least = room < 500 ? 34 : 40;
  timeline.room = timeline.box.clientWidth - label;
  timeline.cell = Math.max(least, Math.min(260, Math.floor(room / data.steps.length)));
  for (const box of document.querySelectorAll(".timeline")) {
    box.style.setProperty("--cell", `${timeline.cell}px`);
    box.style.setProperty("--room", `${timeline.box.clientWidth}px`);
    box.classList.toggle("tight", timeline.cell < 66);
  }
}

function moveCursor(at) {
  const left = at * timeline.cell, seen = timeline.scrolled;
  for (const cursor of timeline.cursors) cursor.style.transform = `translateX(${left}px)`;
  let to = seen;
  if (left < seen) to = Math.max(0, left - timeline.cell);
  else if (left + timeline.cell > seen + timeline.room) to = left + 2 * timeline.cell - timeline.room;
  to = Math.min(to, Math.max(0, data.steps.length * timeline.cell - timeline.room));
  if (to !== seen) timeline.box.scrollLeft = timeline.scrolled = to;
}
