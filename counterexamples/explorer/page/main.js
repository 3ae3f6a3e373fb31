/* Where a person is in the walk, and what follows from going elsewhere. */

let now = -1;

function next() {
  const last = data.steps.length - 1;
  return now === last && data.loop !== null && data.loop < last ? data.loop + 1 : now + 1;
}

function nextWrong() {
  const later = data.steps.findIndex((_, at) => at > now && isWrong(at));
  const first = data.steps.findIndex((_, at) => isWrong(at));
  return later >= 0 ? later : first >= 0 ? first : now;
}

function go(at) {
  at = Math.max(0, Math.min(at, data.steps.length - 1));
  if (at === now) return;
  now = at;
  drawNow(at);
  moveCursor(at);
  markStep(at);
  byId("place").textContent = `step ${at} of ${data.steps.length - 1}`;
  byId("first").disabled = byId("back").disabled = at === 0;
  const last = data.steps.length - 1;
  byId("last").disabled = at === last;
  byId("next").disabled = at === last && (data.loop === null || data.loop === last);
  const wrong = data.steps[at].judgements.filter((j) => j.status === "false").map((j) => `${j.name} is false. `);
  byId("said").textContent = `Step ${at}. ${wrong.join("")}${inFull(data.steps[at])}`;
  onGone();
}

/* The address names the step. Browsers allow only so many changes of it in a while: of a quick run of steps
   the first and the last one show. */
const ADDRESS_EVERY = 200;
const written = { when: 0, timer: null };

function onGone() {
  const left = written.when + ADDRESS_EVERY - performance.now();
  settleAddress(false);
  if (left > 0) written.timer = setTimeout(writeAddress, left);
  else writeAddress();
}

/* Write an address that is still to be written, or forget it: the entry of the history may be another soon. */
function settleAddress(write) {
  if (written.timer === null) return;
  clearTimeout(written.timer);
  written.timer = null;
  if (write) writeAddress();
}

function writeAddress() {
  written.timer = null;
  written.when = performance.now();
  try {
    history.replaceState(null, "", `${data.live ? address({}) : ""}#step=${now}`);
  } catch { /* some viewers of files have no history */ }
}

function drawControls() {
  const button = (id, sign, label, act) => el("button", { id, type: "button", "aria-label": label, title: label, onclick: act }, sign);
  byId("controls").replaceChildren(
    button("first", "|◀", "the start (Home)", () => go(0)),
    button("back", "◀", "the step before (←)", () => go(now - 1)),
    el("span", { id: "place", class: "place" }),
    button("next", "▶", "the next step (→)", () => go(next())),
    button("last", "▶|", "the last step (End)", () => go(data.steps.length - 1)),
    el("button", { id: "theme", type: "button", class: "push", onclick: changeTheme }, "◐"),
    button("help", "?", "keys (?)", () => byId("keys").showModal()),
  );
}

function drawAll(at) {
  bars = [];
  drawFrame();
  drawFinding();
  drawNotices();
  drawLive();
  drawTimeline();
  drawBeside();
  fitTimeline();
  drawSteps();
  drawAbout();
  now = -1;
  go(at);
}

function startingPoint() {
  const asked = /^#step=(\d+)$/.exec(location.hash);
  if (asked) return Number(asked[1]);
  return data.finding ? data.finding.step : data.steps.length - 1;
}

drawControls();
drawKeys();
setTheme(rememberedTheme());
document.addEventListener("keydown", onKey);
window.addEventListener("resize", () => { fitTimeline(); moveCursor(now); });
drawAll(startingPoint());
