"""The largest search that the README names."""

import pytest

from slotproof.checker.explicit.engine import explore
from slotproof.checker.explicit.store import default_memory
from slotproof.checker.verdict import Holds
from slotproof.model.language.compile import compile_system
from slotproof.model.releases import release
from slotproof.properties import SCENARIOS

ANY = ["base", "A", "B", "C"]


@pytest.mark.deep
@pytest.mark.skipif(default_memory() < 6 << 30, reason="takes 5 GiB of memory")
def test_a_hundred_million_states_of_the_server() -> None:
    system = (
        SCENARIOS["overlap-cancel"]
        .system(release("0.5.23").replace(unload_and_slot="slot_zeroed_by_the_loader"), full=True)
        .with_parameters(requests=4, names={f"r{n}": ANY for n in (1, 2, 3, 4)}, unloadable=ANY[1:])
    )
    program = compile_system(system)
    found = explore(program, program.choices(system.choices))
    coverage = found.coverage
    assert (coverage.states, coverage.transitions, coverage.depth) == (109_805_877, 615_731_195, 33)
    assert all(isinstance(v, Holds) for v in found.verdicts().values())
