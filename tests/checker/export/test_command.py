"""``slotproof export`` writes a model and says in one line what is wrong."""

from pathlib import Path

import pytest

from slotproof.checker.export.errors import ExportError
from slotproof.checker.export.promela import promela
from slotproof.model.language.compile import compile_system
from tests.checker.conftest import Run
from tests.checker.explicit.constructs import everything
from tests.checker.export.circuits import read
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


def test_a_circuit_goes_to_the_terminal_as_text_and_to_a_file_in_binary(run: Run, tmp_path: Path) -> None:
    arguments = ["export", ALLOCATOR, "--set", "requests=2", "--property", "active-fit", "--to", "aiger"]
    shown = run(*arguments)
    assert (shown.exit_code, shown.output[:4]) == (0, "aag ")
    for name in ("model.aig", "model.aag"):
        assert (run(*arguments, "--out", name).exit_code, run(*arguments).output) == (0, shown.output)
    assert (tmp_path / "model.aag").read_text() == shown.output
    binary = read((tmp_path / "model.aig").read_bytes())
    assert binary == read(shown.output.encode())
    assert [name for name, _ in binary.bads] == ["active-fit"]


def test_a_circuit_asks_about_all_properties_or_those_that_are_named(run: Run) -> None:
    every = read(run("export", ALLOCATOR, "--to", "aiger").output.encode())
    names = ["no-adapter-twice", "running-is-resident", "active-fit", "deadlock"]
    assert [name for name, _ in every.bads] == names
    two = [f"--property={name}" for name in ("deadlock", "active-fit", "deadlock")]
    some = read(run("export", ALLOCATOR, *two, "--to", "aiger").output.encode())
    assert [name for name, _ in some.bads] == ["deadlock", "active-fit"]


def test_a_circuit_says_what_its_inputs_mean(run: Run) -> None:
    said = run("export", ALLOCATOR, "--to", "aiger").output
    assert "allocator, written by slotproof" in said
    assert "  requests = " in said
    assert "action 0: arrive with r by argument 0" in said


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
        (["idle-rank", "--to", "aiger", "--property", "fresh-batch-inf"], "did you mean fresh-batch-info?"),
    ],
)
def test_wrong_use_is_one_line(run: Run, arguments: list[str], said: str) -> None:
    result = run("export", *arguments)
    assert result.exit_code == 2
    assert said in result.output
    assert len(result.output.strip().splitlines()) == 1
