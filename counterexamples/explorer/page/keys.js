/* The keyboard. Letters do nothing while a person types into a field. */

const KEYS = [
  [["ArrowRight", "j"], "the next step", () => go(next())],
  [["ArrowLeft", "k"], "the step before", () => go(now - 1)],
  [["Home"], "the start", () => go(0)],
  [["End"], "the last step", () => go(data.steps.length - 1)],
  [["v"], "the step where a property is false", () => go(nextWrong())],
  [["e"], "show or hide what else could have happened", () => toggleInstead()],
  [["t"], "dark, light, or as the system has it", () => changeTheme()],
  ...(data.live ? [[["u"], "take the last step back", () => takeBack()], [["r"], "run to what is chosen", () => runTo()]] : []),
  [["?"], "this list", () => byId("keys").showModal()],
];
const NAMES = { ArrowRight: "→", ArrowLeft: "←" };

function onKey(event) {
  if (event.ctrlKey || event.altKey || event.metaKey || byId("keys").open) return;
  if (event.target.closest("input, select, textarea")) return;
  const found = KEYS.find(([keys]) => keys.includes(event.key));
  if (!found) return;
  event.preventDefault();
  found[2]();
}

function drawKeys() {
  byId("keys").replaceChildren(
    el("h2", { id: "keys-title" }, "Keys"),
    el("dl", {}, KEYS.map(([keys, meaning]) => [
      el("dt", {}, keys.map((key, i) => [i ? " or " : "", el("kbd", {}, NAMES[key] || key)])), el("dd", {}, meaning)])),
    el("form", { method: "dialog" }, el("button", { autofocus: true }, "Close")),
  );
}

function toggleInstead() {
  const box = byId("now").querySelector("details.instead:not([hidden]), details.next:not([hidden])");
  if (box) box.open = !box.open;
}

/* -- theme ------------------------------------------------------------------------------------------- */

const THEMES = ["system", "dark", "light"];
let theme = "system";

function setTheme(chosen) {
  theme = chosen;
  if (chosen === "system") document.documentElement.removeAttribute("data-theme");
  else document.documentElement.setAttribute("data-theme", chosen);
  byId("theme").setAttribute("aria-label", `theme: ${chosen} (t)`);
  byId("theme").title = `theme: ${chosen} (t)`;
  try {
    localStorage.setItem("slotproof-theme", chosen);
  } catch { /* a file from disk may have no storage */ }
}

function changeTheme() {
  setTheme(THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length]);
}

function rememberedTheme() {
  try {
    const stored = localStorage.getItem("slotproof-theme");
    return THEMES.includes(stored) ? stored : "system";
  } catch {
    return "system";
  }
}
