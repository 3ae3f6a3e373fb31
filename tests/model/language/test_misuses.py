"""Every wrong use of the language is found, at the user's line, with a remedy."""

import importlib.util
import sys
from pathlib import Path

import pytest

from slotproof.model.language import LanguageError
from slotproof.model.language.compile import compile_system
from tests.model.language.misuses import MISUSES, Misuse


def compile_file(path: Path) -> None:
    """Import a file and compile its system."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    try:
        spec.loader.exec_module(module)
        compile_system(module.system)
    finally:
        del sys.modules[path.stem]


@pytest.mark.parametrize("misuse", MISUSES, ids=lambda m: m.name)
def test_a_misuse_is_named_with_its_line_and_a_remedy(misuse: Misuse, tmp_path: Path) -> None:
    path = tmp_path / f"misuse_{misuse.name.replace('-', '_')}.py"
    path.write_text(misuse.source)
    with pytest.raises(LanguageError) as caught:
        compile_file(path)
    message = str(caught.value)
    assert message.startswith(f"{path}:{misuse.line}: "), message
    at = 0
    for words in misuse.words:
        assert words in message[at:], f"{words!r} is not in {message!r}"
        at = message.index(words, at) + len(words)


def test_each_misuse_has_its_own_name() -> None:
    assert len({m.name for m in MISUSES}) == len(MISUSES)
