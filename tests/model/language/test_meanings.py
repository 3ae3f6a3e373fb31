"""Small texts whose meaning is easy to get wrong, the same in every engine. Each stood for a fault once."""

from textwrap import dedent, indent

import pytest

from tests.model.language.misuses import PREAMBLE
from tests.model.language.test_random_systems import compare

BODIES = {
    "list of what it replaces": """
        if len(s.queue) == 0:
            s.queue.append(i)
        else:
            s.queue = [i, s.queue[0]]
    """,
    "index read from what is moved": """
        if len(s.queue) < 2:
            s.queue.append(i)
        elif len(s.queue) == 2:
            s.queue.insert(min(s.queue[0].index, 2), i)
        else:
            s.queue.pop(s.queue[2].index)
    """,
    "last item of a full row is taken": """
        if len(s.queue) < 3:
            s.queue.append(i)
        else:
            s.queue.pop(2)
            s.flag = s.queue[0] == s.queue[1]
    """,
    "second item of a row of two is taken": """
        if len(s.parts) < 2:
            s.parts.append(Part(weight=i.index))
        elif s.owner is None:
            s.owner = Item(s.parts[0].weight % len(Item))
        else:
            s.parts.pop(1)
    """,
    "filter that fails over nothing": "s.flag = any(False for j in Item if some(s.owner) == j)",
    "default that fails and is not needed": "s.owner = max({i}, default=Item(s.number + 3))\ns.number = 0",
    "second element that fails": "s.flag = i in {i, some(s.owner)}\ns.owner = i",
    "second number that fails": "s.flag = s.number in {s.number, some(s.owner).index}\ns.number = 0",
    "element that fails in an empty row": "s.flag = some(s.owner) in s.queue\ns.queue = [i]",
    "second condition of a guard that fails": """
        require(s.flag, some(s.owner) == i)
        s.owner = i
        s.flag = True
    """,
    "key that fails in a constant map": "s.flag = s.level[some(s.owner)] == 0",
    "item of a row that is always empty": "s.owner = s.queue[0]",
    "element beyond a folded domain": "require(s.number > 0)\ns.owner = Item(s.number + 3)",
    "local out of its range": """
        x: Annotated[int, Range(0, 1)] = s.number
        s.number = 3 if x < 2 else -1
    """,
    "local out of its range by addition": """
        x: Annotated[int, Range(0, 1)] = 1
        x += s.number
        s.number = 3 if x < 2 else -1
    """,
    "empty optional in a local": "x: Item = s.owner\ns.owner = x",
    "one local on two branches": """
        if s.flag:
            x = 1
        else:
            x = 2
        s.number = x
        s.flag = True
    """,
    "first of a set": """
        s.marked |= {i, Item(2)}
        s.owner = next(j for j in s.marked)
    """,
    "set that changes in its own loop": """
        s.marked |= {i}
        for j in s.marked:
            s.marked -= {j}
            s.owner = j
            break
    """,
    "rounding down": "s.number = max(-3, (s.number - 3) // 2 + (s.number - 3) % 4)",
    "nested breaks": """
        n = 0
        for j in Item:
            for k in Item:
                if k > j:
                    break
                n += 1
            if n > 3:
                break
        s.number = n - 3
    """,
}

SYSTEMS = {
    "no initial state": """
        @initial
        def begin(s: S) -> None:
            require(s.flag)

        @action
        def step(s: S) -> None:
            s.flag = True

        system = System("s", S, actions=[step], initial=[begin])
    """,
    "part of a property that an earlier part guards": """
        @action
        def step(s: S, i: Item) -> None:
            s.owner = i

        @invariant
        def first(s: S) -> bool:
            return s.owner is not None and s.owner == Item(0)

        system = System("s", S, actions=[step], properties=[first])
    """,
    "final that fails where a step is possible": """
        @action
        def step(s: S, i: Item) -> None:
            require(not s.flag)
            s.flag = True
            s.owner = i

        def stop(s: S) -> bool:
            return some(s.owner) == Item(0)

        system = System("s", S, actions=[step], final=stop)
    """,
    "argument and result out of their ranges": """
        def half(n: Annotated[int, Range(0, 2)]) -> Annotated[int, Range(0, 1)]:
            return n

        @action
        def step(s: S) -> None:
            s.number = half(s.number + 1) + 1

        system = System("s", S, actions=[step])
    """,
}


@pytest.mark.parametrize("name", BODIES)
def test_every_engine_gives_an_action_this_meaning(name: str) -> None:
    body = indent(dedent(BODIES[name]).strip("\n"), "    ")
    compare(f"{PREAMBLE}@action\ndef step(s: S, i: Item) -> None:\n{body}\n\n{SYSTEM}")


@pytest.mark.parametrize("name", SYSTEMS)
def test_every_engine_gives_a_system_this_meaning(name: str) -> None:
    compare(PREAMBLE + dedent(SYSTEMS[name]).strip("\n") + "\n")


SYSTEM = 'system = System("s", S, actions=[step])\n'
