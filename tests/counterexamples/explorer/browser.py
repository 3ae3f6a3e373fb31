"""A browser as a person uses it: sizes, themes, keys, and what is on the screen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

KEYS = {"ArrowRight": "\ue014", "ArrowLeft": "\ue012", "Home": "\ue011", "End": "\ue010", "Tab": "\ue004"}
KEYS |= {"Enter": "\ue007", "Escape": "\ue00c"}


class Browser:
    """One window of a headless Chromium."""

    def __init__(self, chromium: str, driver: str) -> None:
        from selenium import webdriver
        from selenium.webdriver.chrome.service import Service

        options = webdriver.ChromeOptions()
        options.binary_location = chromium
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Service(driver))
        self.driver.set_script_timeout(240)

    def quit(self) -> None:
        """Close it."""
        self.driver.quit()

    def look(self, width: int, theme: str, height: int = 844) -> None:
        """A window of this width, on a system with this theme (``dark`` or ``light``)."""
        self.driver.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False},
        )
        self.driver.execute_cdp_cmd(
            "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": theme}]}
        )

    def open(self, page: Path | str) -> None:
        """Open a file or an address afresh."""
        self.driver.get("about:blank")
        self.driver.get(page.as_uri() if isinstance(page, Path) else page)

    def run(self, script: str, *arguments: Any) -> Any:
        """What a script returns."""
        return self.driver.execute_script(script, *arguments)

    def press(self, *keys: str) -> None:
        """Press keys, one after the other, wherever the focus is."""
        from selenium.webdriver.common.action_chains import ActionChains

        for key in keys:
            ActionChains(self.driver).send_keys(KEYS.get(key, key)).perform()

    def text(self, selector: str) -> str:
        """The text that a person sees in an element."""
        return str(self.run("return document.querySelector(arguments[0]).innerText", selector))

    def click(self, selector: str) -> None:
        """Click on an element, which has to be on the screen and not below another."""
        from selenium.webdriver.common.by import By

        element = self.driver.find_element(By.CSS_SELECTOR, selector)
        self.run("arguments[0].scrollIntoView({block: 'center'})", element)
        element.click()

    def wait(self, selector: str, text: str) -> None:
        """Wait until an element shows this text."""
        from selenium.webdriver.support.ui import WebDriverWait

        WebDriverWait(self.driver, 60).until(lambda _: text in self.text(selector))

    def wait_until(self, script: str) -> None:
        """Wait until a script returns something true."""
        from selenium.webdriver.support.ui import WebDriverWait

        WebDriverWait(self.driver, 60).until(lambda _: self.run(script))

    def complaints(self) -> list[str]:
        """What the browser has written to its console since the last look."""
        return [entry["message"] for entry in self.driver.get_log("browser")]  # type: ignore[no-untyped-call]

    def low_contrasts(self) -> list[str]:
        """Visible texts whose contrast is below WCAG AA, each with its ratio."""
        found: list[str] = self.run(f"{CONTRAST} return [...tooLow([document.body])];")
        return found

    def at_every_step(self, width: int) -> list[str]:
        """What is wrong at some step of a page, all that can be opened being open: texts of low contrast,
        and a page that is wider than the window. What no step changes is looked at once."""
        found: list[str] = self.driver.execute_async_script(CONTRAST + EVERY_STEP, width)
        return found


CONTRAST = """
const parse = (colour) => {
  const m = colour.match(/rgba?\\(([^)]+)\\)/);
  const parts = m[1].split(/[ ,/]+/).map(Number);
  return [parts[0], parts[1], parts[2], parts.length > 3 ? parts[3] : 1];
};
const over = (top, below) => top.slice(0, 3).map((v, i) => v * top[3] + below[i] * (1 - top[3]));
const light = (rgb) => {
  const linear = (v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  const [r, g, b] = rgb.map((v) => linear(v / 255));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const surface = (element) => {
  const layers = [];
  for (let e = element; e; e = e.parentElement) {
    const layer = parse(getComputedStyle(e).backgroundColor);
    if (layer[3] > 0) layers.push(layer);
    if (layer[3] === 1) break;
  }
  return layers.reduceRight((below, layer) => over(layer, below), [255, 255, 255]);
};
const tooLow = (roots) => {
  const found = new Set();
  for (const root of roots) {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const element = node.parentElement;
      if (!node.data.trim() || !element.checkVisibility()) continue;
      if (element.closest("script, noscript, .unseen")) continue;
      if (element.closest(":disabled")) continue;
      const style = getComputedStyle(element);
      const size = parseFloat(style.fontSize);
      if (size === 0) continue;
      const below = surface(element);
      const text = over(parse(style.color), below);
      const [a, b] = [light(text), light(below)].sort((x, y) => y - x);
      const ratio = (a + 0.05) / (b + 0.05);
      const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
      if (ratio < (large ? 3 : 4.5)) found.add(`${node.data.trim().slice(0, 40)}: ${ratio.toFixed(2)}`);
    }
  }
  return found;
};
"""

EVERY_STEP = """
const [width, done] = arguments;
const settled = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
(async () => {
  const wrong = [];
  document.querySelectorAll("details").forEach((d) => { d.open = true; });
  await settled();
  for (let at = 0; at < data.steps.length; at += 1) {
    go(at);
    document.querySelectorAll("#now details").forEach((d) => { d.open = true; });
    await settled();
    const wide = document.documentElement.scrollWidth;
    if (wide > width) wrong.push(`step ${at}: ${wide} pixels wide`);
    const changing = [byId("now"), byId("controls"), ...document.querySelectorAll("[aria-current]")];
    for (const text of tooLow(at ? changing : [document.body])) wrong.push(`step ${at}: ${text}`);
  }
  done(wrong);
})();
"""
