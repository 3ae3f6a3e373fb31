/* A live explorer: the same page, with steps to take. Where a person is stands in the address. */

const live = { busy: false };

function address(changes) {
  const at = { release: data.live.subject, beside: data.live.beside, path: data.live.path.join(";"), ...changes };
  const query = Object.entries(at).filter(([, value]) => value)
    .map(([name, value]) => `${name}=${encodeURIComponent(value).replace(/%3D/g, "=").replace(/%2C/g, ",").replace(/%3B/g, ";").replace(/%20/g, "+")}`);
  return `?${query.join("&")}`;
}

async function ask(what, query) {
  if (live.busy) return null;
  live.busy = true;
  document.body.setAttribute("aria-busy", "true");
  byId("said").textContent = "";
  try {
    const answer = await fetch(`/${what}${query}`, { headers: { Accept: "application/json" } });
    const found = await answer.json();
    if (found.error) throw new Error(found.error);
    complain("");
    return found;
  } catch (error) {
    complain(error instanceof TypeError ? "The explorer does not answer any more; start it again." : error.message);
    return null;
  } finally {
    live.busy = false;
    document.body.removeAttribute("aria-busy");
  }
}

function complain(text) {
  byId("complaint").textContent = text;
  byId("complaint").hidden = !text;
}

async function visit(query, at = null, keep = true) {
  settleAddress(keep);
  const found = await ask("walk", query);
  if (!found) return;
  data = found;
  if (keep) history.pushState(null, "", query);
  drawAll(at === null ? data.steps.length - 1 : Math.min(at, data.steps.length - 1));
  if (document.activeElement === document.body) byId("now").focus({ preventScroll: true });
}

/* The path up to a position: with an initial action in front, where there is one. */
const pathTo = (at) => data.live.path.slice(0, at + (data.live.started ? 1 : 0));

const take = (call) => visit(address({ path: [...pathTo(now), call].join(";") }));
const takeBack = () => data.steps.length > 1 && visit(address({ path: pathTo(data.steps.length - 2).join(";") }));

async function runTo() {
  const here = pathTo(now).join(";");
  const found = await ask("run", `${address({ path: here })}&to=${encodeURIComponent(byId("target").value)}`);
  if (found) await visit(address({ path: found.path.join(";") }));
}

function choice(id, label, options, chosen, onchange) {
  const list = el("select", { id, onchange }, options.map(([value, text]) =>
    el("option", { value, selected: value === chosen }, text)));
  return el("label", {}, `${label} `, list);
}

function drawLive() {
  const box = byId("live");
  if (!data.live) return;
  box.hidden = false;
  const target = byId("target") ? byId("target").value : "violation";
  const names = data.live.subjects.map((name) => [name, name]);
  box.replaceChildren(
    names.length > 1 && choice("release", "release", names, data.live.subject, (e) => visit(address({ release: e.target.value }), now)),
    names.length > 1 && choice("beside", "beside", [["", "none"], ...names], data.live.beside, (e) => visit(address({ beside: e.target.value }), now)),
    data.live.starts.length > 1 && choice("start", "start", data.live.starts.map((s) => [s, s]), data.live.path[0],
      (e) => visit(address({ path: e.target.value }))),
    choice("target", "run to", data.live.targets, target, () => {}),
    el("button", { id: "run", type: "button", onclick: runTo }, "Run"),
    el("button", { id: "take-back", type: "button", disabled: data.steps.length < 2, onclick: takeBack }, "Take back"),
    el("button", { id: "anew", type: "button", onclick: () => visit(address({ path: "" })) }, "Start anew"),
    el("p", { id: "complaint", class: "notice wrong", role: "alert", hidden: true }),
  );
  for (const gone of [...box.childNodes]) if (gone.nodeType === Node.TEXT_NODE) gone.remove();
}

function drawBeside() {
  const box = byId("beside-timeline"), other = data.beside;
  byId("beside-words").replaceChildren(...(other ? besideWords(other) : []));
  box.hidden = !other;
  if (other) timeline.cursors.push(drawBands(box, { steps: data.steps, bands: other.bands }, other.part));
}

function besideWords(other) {
  const last = data.steps.length - 1;
  if (other.part === null) return [el("h2", {}, `Beside it: ${other.subject}`), el("p", {}, `The same in all ${plural(last, "step")}.`)];
  const found = other.differences[other.part] || [];
  return [
    el("h2", {}, `Beside it: ${other.subject}`),
    el("p", {}, el("strong", {}, found.length ? `They part in step ${other.part}.` : `The same up to step ${other.part}; the next step is not possible on ${other.subject}.`)),
    other.ends && el("p", {}, other.ends),
    found.length ? el("ul", { class: "changes" }, found.map(([path, mine, its]) => el("li", {}, el("code", {}, path), `: ${data.live.subject} `,
      el("code", { class: "new" }, mine), `, ${other.subject} `, el("code", { class: "new" }, its)))) : null,
  ].filter(Boolean);
}

if (data.live) {
  window.addEventListener("popstate", () => visit(location.search || address({ path: "" }), null, false));
}
