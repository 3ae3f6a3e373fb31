"""``slotproof export`` writes a model and says in one line what is wrong."""

from pathlib import Path

import pytest

from slotproof.checker.export.errors import ExportError
from slotproof.checker.export.promela import promela
from slotproof.model.language.compile import compile_system
from tests.checker.conftest import Run
from tests.checker.explicit.constructs import everything
from tests.zoo import allocator, readers_writers

ALLOCATOR = f"--system={allocator.__file__}"


def test_a_model_goes_to_the_terminal(run: Run) -> None:
    result = run("export", ALLOCATOR, "--set", "requests=2", "--to", "promela")
    assert result.exit_code == 0
    assert "byte phase[2]; /* phase[]: how far each request has come */" in result.output
    assert "/* The client sends {r}. */" in result.output
    assert "not resident(s, wanted(r))" in result.output


def test_a_model_goes_to_a_file(run: Run, tmp_path: Path) -> None:
    result = run("export", ALLOCATOR, "--to", "promela", "--out", "model.pml")
    assert (result.exit_code, result.output) == (0, "")
    assert (tmp_path / "model.pml").read_text().startswith("/*\n * allocator\n")


def test_a_scenario_is_exported_as_the_named_release_has_it(run: Run) -> None:
    old, new = (run("export", "idle-rank", "--release", r, "--to", "promela") for r in ("0.5.16", "0.5.23"))
    assert (old.exit_code, new.exit_code) == (0, 0)
    assert old.output != new.output


def test_the_same_system_gives_the_same_text() -> None:
    texts = {promela(compile_system(allocator.allocator)) for _ in range(2)}
    assert len(texts) == 1


def test_no_path_of_this_machine_stands_in_a_model() -> None:
    assert str(Path(__file__).parents[3]) not in promela(compile_system(readers_writers.readers_writers))


def test_a_set_without_room_is_refused_by_name() -> None:
    program = compile_system(everything)
    with pytest.raises(ExportError, match="more than the 31 bits of a number"):
        promela(program, (0,) * len(program.decisions))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["idle-rank", "--to", "promella"], "did you mean promela?"),
        (["idle-rnak", "--to", "promela"], "did you mean idle-rank?"),
        (["idle-rank", "--release", "0.5.99", "--to", "promela"], "there is no release '0.5.99'"),
        (["--to", "promela"], "name a scenario"),
        (["idle-rank", "--system", "x.py", "--to", "promela"], "SCENARIO does not go with --system"),
        (["idle-rank", "--to", "promela", "--out", "."], "is a folder"),
        (["idle-rank"], "--to"),
    ],
)
def test_wrong_use_is_one_line(run: Run, arguments: list[str], said: str) -> None:
    result = run("export", *arguments)
    assert result.exit_code == 2
    assert said in result.output
    assert len(result.output.strip().splitlines()) == 1
