"""The program `discreet`: what it does before, around and after a command."""

from __future__ import annotations

import os
import sys

__all__ = ["main"]

_BEFORE = frozenset({"--server", "--token-file"})
_LANGUAGE = "--lang"


def main() -> None:
    """Run the command line. Exit codes: 0 ok, 1 refused, 2 usage, 3 charged but not answered."""
    from discreet.catalogue import choose_language, speaking
    from discreet.cli.startup import start

    start()
    with speaking(choose_language(sys.argv[1:])):
        _run()


def _run() -> None:
    import typer
    from typer.exceptions import TyperException

    from discreet.catalogue import say
    from discreet.cli.app import find_program
    from discreet.cli.old_spellings import translate
    from discreet.cli.open_sessions import close_sessions
    from discreet.cli.screen import show_error, show_fault, show_misuse
    from discreet.errors import DiscreetError

    words = _put_behind(sys.argv[1:])
    try:
        words, remark = translate(words)
        if remark is not None and not _wants_json(words):  # what machines read stays JSON
            sys.stderr.write(f"{remark}\n")
        sys.exit(find_program(words)(words, prog_name="discreet", standalone_mode=False) or 0)
    except TyperException as misuse:
        show_misuse(misuse)
        sys.exit(misuse.exit_code)
    except typer.Abort:
        sys.stderr.write(f"{say('Aborted!')}\n")
        sys.exit(1)
    except DiscreetError as error:
        show_error(error, as_json=_wants_json(words))
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except Exception as fault:
        # An unforeseen exception may carry a value from the rows, so its text is not shown unasked.
        if os.environ.get("DISCREET_DEBUG") == "1":
            raise
        show_fault(fault)
        sys.exit(1)
    finally:
        close_sessions()


def _put_behind(words: list[str]) -> list[str]:
    """What says which server is asked may stand before a command too: it is every command's own."""
    kept: list[str] = []
    moved: list[str] = []
    while words and (name := words[0].partition("=")[0]) in {*_BEFORE, _LANGUAGE}:
        count = 1 if "=" in words[0] else 2
        (kept if name == _LANGUAGE else moved).extend(words[:count])
        words = words[count:]
    end = words.index("--") if "--" in words else len(words)
    return [*kept, *words[:end], *moved, *words[end:]]


def _wants_json(arguments: list[str]) -> bool:
    pairs = zip(arguments, [*arguments[1:], ""], strict=True)
    return any(word == "--format=json" or (word == "--format" and following == "json") for word, following in pairs)
