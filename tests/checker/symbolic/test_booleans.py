"""Terms are simplified, and still mean what they say."""

import itertools
import random

import pytest

from slotproof.checker.symbolic.booleans import FALSE, TRUE, Booleans


def test_equal_terms_have_equal_literals() -> None:
    b = Booleans()
    x, y, z = (b.variable(n) for n in "xyz")
    assert b.conj(x, b.conj(y, z)) == b.conj(b.conj(z, x), y)
    assert b.disj(x, y) == b.conj(x ^ 1, y ^ 1) ^ 1
    assert b.choose(x, y, y) == y
    assert b.choose(x ^ 1, y, z) == b.choose(x, z, y)


def test_contradictions_and_absorbed_parts_vanish() -> None:
    b = Booleans()
    x, y, z = (b.variable(n) for n in "xyz")
    assert b.conj(x, b.conj(y, x ^ 1)) == FALSE
    assert b.conj(x, b.disj(x, y)) == x
    assert b.conj(x, b.disj(x ^ 1, y)) == b.conj(x, y)
    assert b.disj(b.conj(x, y), b.conj(x, y ^ 1)) == x
    assert b.disj(b.conj(x, y, z), x ^ 1, b.conj(x, y, z) ^ 1) == TRUE


def test_one_of_a_group_excludes_the_others() -> None:
    b = Booleans()
    p, q, r = b.one_of("pqr")
    assert b.conj(p, q) == FALSE
    assert b.conj(p, q ^ 1) == p
    assert b.conj(p ^ 1, q ^ 1) == r
    assert b.disj(p, q, r) == TRUE


def test_exactly_one_is_stated_in_full() -> None:
    b = Booleans()
    group = b.one_of("pqr")
    stated = b.exactly_one(group)
    for chosen in itertools.chain.from_iterable(itertools.combinations(group, n) for n in range(4)):
        assert b.value([stated], set(chosen)) == [len(chosen) == 1]


@pytest.mark.parametrize("seed", range(300))
def test_random_terms_mean_what_was_asked_for(seed: int) -> None:
    random_ = random.Random(seed)
    b = Booleans()
    group, pair, free = b.one_of("abc"), b.one_of("de"), [b.variable(n) for n in "xy"]
    worlds = [
        {g, p, *chosen}
        for g in group
        for p in pair
        for n in range(3)
        for chosen in itertools.combinations(free, n)
    ]
    pool = [(v, [v in world for world in worlds]) for v in (*group, *pair, *free)]
    for _ in range(14):
        operation = random_.choice(["all", "any", "choose", "same"])
        count = random_.randint(2, 4) if operation in ("all", "any") else 3
        chosen = [
            (x ^ 1, [not v for v in values]) if random_.random() < 0.5 else (x, values)
            for x, values in random_.choices(pool, k=count)
        ]
        literals = [x for x, _ in chosen]
        rows = list(zip(*(values for _, values in chosen), strict=True))
        match operation:
            case "all":
                made, expected = b.all(literals), [all(r) for r in rows]
            case "any":
                made, expected = b.any(literals), [any(r) for r in rows]
            case "choose":
                made, expected = b.choose(*literals), [r[1] if r[0] else r[2] for r in rows]
            case _:
                made, expected = b.same(*literals[:2]), [r[0] == r[1] for r in rows]
        assert [b.value([made], world)[0] for world in worlds] == expected
        pool.append((made, expected))
