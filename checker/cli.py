"""The command line: `slotproof`, or `python -m slotproof.checker`.

Each command is a file of ``checker/commands``. Engines and the model are imported when a command needs
them, so that ``slotproof --help`` and ``slotproof list`` answer at once.
"""

from __future__ import annotations

import contextlib
import gc
import io
import os
import re
import signal
import sys
import traceback
from collections.abc import Iterator, Sequence
from typing import Any

import click

from slotproof.checker.commands.check import check
from slotproof.checker.commands.compare import compare
from slotproof.checker.commands.conform import conform
from slotproof.checker.commands.draft import draft
from slotproof.checker.commands.drift import drift
from slotproof.checker.commands.explain import explain
from slotproof.checker.commands.explore import explore
from slotproof.checker.commands.export import export
from slotproof.checker.commands.listing import listing
from slotproof.checker.commands.prove import prove
from slotproof.checker.commands.replay import replay
from slotproof.checker.usage import UsageProblem
from slotproof.counterexamples.errors import TraceError
from slotproof.model.near import near, near_or_all

INTERRUPTED = 3
WRONG_USE = 2


class OneLineErrors(click.Group):
    """A group whose errors are one line on standard error, with the near matches and the remedy."""

    def main(  # type: ignore[override]
        self, args: Sequence[str] | None = None, *, standalone_mode: bool = True, **extra: Any
    ) -> Any:
        """Run the command and exit with its status."""
        if not standalone_mode:
            return super().main(args, standalone_mode=False, **extra)
        if os.environ.get("NO_COLOR"):
            extra.setdefault("color", False)
        before = signal.getsignal(signal.SIGTERM)
        _ready_streams()
        _collect_seldom()
        try:
            _interrupt_on(signal.SIGTERM)
            status = super().main(args, standalone_mode=False, **extra)
            sys.stdout.flush()  # what cannot be written is said here, not by Python at its exit
        except click.UsageError as error:
            self._fail(_usage_line(error), WRONG_USE)
        except click.ClickException as error:
            self._fail(error.format_message(), WRONG_USE)
        except (UsageProblem, TraceError) as error:
            self._fail(str(error), WRONG_USE)
        except (KeyboardInterrupt, click.Abort):
            self._fail("interrupted", INTERRUPTED)
        except (_ReaderGone, BrokenPipeError):
            _discard_output()
            sys.exit(INTERRUPTED)
        except OSError as error:
            _discard_output()
            what = f"{error.filename}: " if error.filename else "reading or writing failed: "
            self._fail(f"{what}{error.strerror or error}", WRONG_USE)
        except Exception as error:
            from slotproof.model.language.errors import FileChanged

            if isinstance(error, FileChanged):
                self._fail(str(error), WRONG_USE)
            traceback.print_exc()
            self._fail("an error of slotproof itself; please report it with the lines above", WRONG_USE)
        finally:
            _restore(signal.SIGTERM, before)
        sys.exit(status if isinstance(status, int) else 0)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the arguments; ``--help`` prints here."""
        with _reader():
            return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command that is named."""
        with _reader():
            return super().invoke(ctx)

    def _fail(self, message: str, status: int) -> None:
        with contextlib.suppress(OSError):  # nobody can be told
            click.echo(f"slotproof: {' '.join(message.split())}", err=True)
        sys.exit(status)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that is named; near names where there is none."""
        name = args[0]
        if self.get_command(ctx, name) is None and not name.startswith("-"):
            known = self.list_commands(ctx)
            raise click.UsageError(f"there is no command '{name}'{near_or_all(name, known)}")
        return super().resolve_command(ctx, args)


class _ReaderGone(Exception):
    """The reader of our output has gone, as ``head`` does."""


@contextlib.contextmanager
def _reader() -> Iterator[None]:
    """A reader that goes away, before click makes the exit status 1 of it: that is a violation here."""
    try:
        yield
    except BrokenPipeError:
        raise _ReaderGone from None


def _collect_seldom() -> None:
    """Look for garbage in cycles less often: reading a model makes many small objects that all stay.

    That is an eighth of the time until a search begins.
    """
    gc.set_threshold(100_000, *gc.get_threshold()[1:])


def _ready_streams() -> None:
    """Streams that are closed take nothing; letters that an encoding does not have are escaped."""
    for name in ("stdin", "stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "r" if name == "stdin" else "w"))  # noqa: SIM115
        elif name != "stdin" and isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _discard_output() -> None:
    """What is left of the output goes nowhere, so that Python does not complain at its exit."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _usage_line(error: click.UsageError) -> str:
    """Click's message without its help, with the near options and where to read about all."""
    message = error.format_message()
    if isinstance(error, click.NoSuchOption) and error.ctx is not None:
        known = [o for p in error.ctx.command.params for o in (*p.opts, *p.secondary_opts)]
        message = f"there is no option {error.option_name}{near(error.option_name, known)}"
    if (stray := re.fullmatch(r"Got unexpected extra arguments? \((\S+).*\)", message)) and error.ctx:
        message = f"'{stray[1]}' stands by itself{_option_of(stray[1], error.ctx)}"
    path = error.ctx.command_path if error.ctx is not None else "slotproof"
    return f"{message.rstrip('.')} ({path} --help)"


def _option_of(name: str, context: click.Context) -> str:
    """``; write --option name`` for the option that offers the name, or nothing where none does."""
    if name.endswith(".py"):
        takers = [p.opts[0] for p in context.command.params if p.opts[0] in ("--system", "--candidate")]
        return "; write " + " or ".join(f"{option} {name}" for option in sorted(takers)) if takers else ""
    for option in context.command.params:
        if isinstance(option, click.Option):
            offered = option.shell_complete(context, name)
            if any(item.value == name and item.type == "plain" for item in offered):
                return f"; write {option.opts[0]} {name}"
    return ""


def _interrupt_on(number: signal.Signals) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    try:
        signal.signal(number, interrupt)
    except ValueError:  # not the main thread: whoever called us handles signals
        return


def _restore(number: signal.Signals, handler: Any) -> None:
    try:
        signal.signal(number, handler)
    except ValueError:
        return


@click.group(
    cls=OneLineErrors,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80},
    epilog="Exit status: 0 all as expected, 1 a violation that the baseline does not list"
    " (or a listed one that no longer occurs), 2 wrong use, 3 unknown.",
)
@click.version_option(package_name="slotproof")
def main() -> None:
    """Check the adapter-slot logic of a multi-LoRA language-model server."""
    from slotproof.checker.systemfile import forget_files

    forget_files()


main.add_command(check)
main.add_command(compare)
main.add_command(draft)
main.add_command(listing)
main.add_command(explain)
main.add_command(explore)
main.add_command(export)
main.add_command(prove)
main.add_command(replay)
main.add_command(drift)
main.add_command(conform)
