"""The live explorer: what its server answers and refuses, and walking by hand in Chromium."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from slotproof.counterexamples.explorer.live import Ground, Place
from slotproof.counterexamples.explorer.walk import Finding
from slotproof.counterexamples.trace import Trace
from slotproof.counterexamples.verify import call
from slotproof.model.language.program import Program
from tests.counterexamples.explorer.browser import Browser

pytest.importorskip("starlette", reason="the extra [explore] is not installed")
pytest.importorskip("uvicorn", reason="the extra [explore] is not installed")

FIRST = ["opens(a=A)", "order(a=A, urgent=False)", "buy()"]


@pytest.fixture
def ground(program: Program) -> Ground:
    """The shop, where anyone may order, and the careful one."""

    def build(name: str) -> tuple[Program, tuple[int, ...]]:
        return program, program.choices({"may_order": {"shop": "always", "careful": "only_new"}[name]})

    return Ground("shop", ("shop", "careful"), build, Place("shop", "", ()))


@pytest.fixture
def client(ground: Ground) -> Any:
    from starlette.testclient import TestClient

    from slotproof.counterexamples.explorer.server import application

    return TestClient(application(ground, 8741), base_url="http://127.0.0.1:8741")


@pytest.fixture
def address(ground: Ground) -> Iterator[str]:
    """A server in a thread, on a port of its own."""
    import uvicorn

    from slotproof.counterexamples.explorer.server import application, listening

    taken = socket.socket()
    taken.bind(("127.0.0.1", 0))
    port = taken.getsockname()[1]
    taken.close()
    on = listening(port)
    server = uvicorn.Server(uvicorn.Config(application(ground, port), log_level="critical", lifespan="off"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [on]}, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{port}/"
    server.should_exit = True
    thread.join(10)


def path(*steps: str) -> str:
    return ";".join(steps)


# -- the server ------------------------------------------------------------------------------------------


def test_an_address_is_a_walk(client: Any) -> None:
    data = client.get("/walk", params={"path": path(*FIRST)}).json()
    assert [s["call"] for s in data["steps"]] == FIRST
    assert data["live"]["path"] == FIRST
    assert data["live"]["starts"] == ["opens(a=A)", "opens(a=B)"]
    assert data["finding"] is None


def test_a_walk_of_a_trace_finds_what_the_trace_found(client: Any, traces: dict[str, Trace]) -> None:
    for name, trace in traces.items():
        assert trace.start is not None
        steps = path(call(trace.start), *(call(s) for s in trace.steps))
        data = client.get("/walk", params={"path": steps}).json()
        falses = {j["name"] for j in data["steps"][-1]["judgements"] if j["status"] == "false"}
        assert ("no-crash" if name.startswith("no-crash-") else name) in falses


def test_the_path_of_a_trace_is_shown_for_what_the_trace_is(ground: Ground, traces: dict[str, Trace]) -> None:
    trace = traces["no-crash-third-of-a-kind"]
    assert trace.start is not None
    steps = (call(trace.start), *(call(s) for s in trace.steps))
    ground.first, ground.finding = Place("shop", "", steps), Finding(trace.property, trace.part)
    assert ground.data(ground.first)["finding"]["property"] == trace.property
    alone = ground.data(Place("shop", "", steps[:-1]))["finding"]
    assert alone is None or alone["property"] != trace.property


def test_an_address_that_goes_wrong_goes_as_far_as_it_can(client: Any) -> None:
    data = client.get("/walk", params={"path": path(*FIRST, "buy()", "order(a=A, urgent=False)")}).json()
    assert [s["call"] for s in data["steps"]] == FIRST
    (notice,) = data["notices"]
    assert "step 3, buy(), cannot happen: len(s.queue) > 0 is false" in notice


def test_a_search_goes_on_from_here(client: Any, traces: dict[str, Trace]) -> None:
    found = client.get("/run", params={"path": path(*FIRST), "to": "few-of-each"}).json()["path"]
    assert found[:3] == FIRST
    data = client.get("/walk", params={"path": path(*found)}).json()
    assert any(j["name"] == "few-of-each" and j["status"] == "false" for j in data["steps"][-1]["judgements"])
    assert len(found) - 1 == len(traces["few-of-each"])
    crash = "no-crash-third-of-a-kind"
    nothing = client.get("/run", params={"release": "careful", "path": path(*FIRST), "to": crash})
    assert nothing.status_code == 404
    assert "no violation of no-crash-third-of-a-kind can be reached from here" in nothing.json()["error"]
    assert client.get("/run", params={"to": "nonsense"}).status_code == 404


def test_two_releases_part_where_they_do(client: Any) -> None:
    steps = path(*FIRST, "order(a=A, urgent=False)", "buy()")
    beside = client.get("/walk", params={"path": steps, "beside": "careful"}).json()["beside"]
    assert beside["part"] == 2
    assert "step 3, order(a=A, urgent=False), cannot happen: may_order(s, a) is false" in beside["ends"]
    same = client.get("/walk", params={"path": path(*FIRST), "beside": "careful"}).json()["beside"]
    assert (same["part"], same["ends"]) == (None, "")


@pytest.mark.parametrize(
    "host", ["evil.example:8741", "127.0.0.1", "127.0.0.1:9", "", "127.0.0.1:8741, evil"]
)
def test_another_host_gets_nothing(client: Any, host: str) -> None:
    answer = client.get("/walk", headers={"host": host})
    assert answer.status_code in (400, 421)
    assert "steps" not in answer.text


@pytest.mark.parametrize("where", ["/etc/passwd", "/../pyproject.toml", "/page/main.js", "/walk/x"])
def test_no_file_is_served(client: Any, where: str) -> None:
    assert client.get(where).status_code == 404


def test_nothing_is_changed_and_nothing_is_read_across_sites(client: Any) -> None:
    assert client.post("/walk").status_code == 405
    assert client.get("/walk", headers={"sec-fetch-site": "cross-site"}).status_code == 403
    headers = client.get("/").headers
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert "connect-src 'self'" in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert "access-control-allow-origin" not in headers


@pytest.mark.parametrize("name", ["release", "beside"])
def test_a_release_that_is_none_is_an_answer(client: Any, name: str) -> None:
    answer = client.get("/walk", params={name: "<script>"})
    assert answer.status_code == 404
    assert "there is no '<script>' here; there are: shop, careful" in answer.json()["error"]
    page = client.get("/", params={name: "<script>"})
    assert (page.status_code, page.headers["content-type"]) == (404, "text/plain; charset=utf-8")


def test_the_server_listens_on_the_loopback_address_alone_and_two_do_not_meet() -> None:
    from slotproof.counterexamples.explorer.server import listening

    one = listening(None)
    other = listening(None)
    try:
        assert {s.getsockname()[0] for s in (one, other)} == {"127.0.0.1"}
        assert one.getsockname()[1] != other.getsockname()[1]
        with pytest.raises(OSError, match="in use"):
            listening(one.getsockname()[1])
    finally:
        one.close()
        other.close()


# -- by hand ---------------------------------------------------------------------------------------------


def test_walking_by_hand_back_and_on(browser: Browser, address: str) -> None:
    browser.look(1440, "light")
    browser.open(address)
    assert browser.text("#place") == "step 0 of 0"
    browser.click(".steppable button")  # order(a=A, urgent=False)
    browser.wait("#place", "step 1 of 1")
    assert "order(a=A,urgent=False)" in browser.run("return decodeURIComponent(location.search)").replace(
        "+", ""
    )
    browser.run("[...document.querySelectorAll('.steppable button')].at(-1).click()")  # buy()
    browser.wait("#place", "step 2 of 2")
    assert "The shop buys" in browser.text("#now .sentence")
    here = browser.run("return location.href")
    browser.click("#take-back")
    browser.wait("#place", "step 1 of 1")
    browser.run("history.back()")
    browser.wait("#place", "step 2 of 2")
    browser.press("u")
    browser.wait("#place", "step 1 of 1")
    browser.run("history.back()")
    browser.wait("#place", "step 2 of 2")
    browser.click("#run")
    browser.wait("#finding h1", "is violated")
    browser.open(here)  # the address is the walk
    browser.wait("#place", "step 2 of 2")
    assert browser.low_contrasts() == []
    assert browser.complaints() == []


def test_two_side_by_side_on_a_narrow_screen(browser: Browser, address: str) -> None:
    browser.look(390, "dark")
    steps = path(*FIRST, "order(a=A, urgent=False)").replace(" ", "")
    browser.open(f"{address}?beside=careful&path={steps}")
    assert "the next step is not possible on careful" in browser.text("#beside-words")
    assert browser.run("return document.documentElement.scrollWidth") <= 390
    assert browser.low_contrasts() == []


def test_a_search_that_finds_nothing_says_so(browser: Browser, address: str) -> None:
    browser.look(1440, "light")
    browser.open(f"{address}?release=careful&path=opens(a=A)")
    browser.run("document.getElementById('target').value = 'no-crash-third-of-a-kind'")
    browser.click("#run")
    browser.wait("#complaint", "no violation of no-crash-third-of-a-kind can be reached from here")
