"""Argument parsing, error reports and file output for the programs of packs.

Exit codes follow sysexits.h: 0 success, 64 wrong usage, 65 bad data, 66 missing input, 74 failed
input or output. Packs add others with subclasses of `CommandError`. An error is one sentence on
standard error that names the file and what is wrong with it.
"""

import argparse
import json
import math
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

from sluice.text.visible_text import escaped, quoted, shown_path


class CommandError(Exception):
    """An error that ends a program with `exit_code`.

    UsageError 64 · BadData 65 · MissingInput 66
    """

    exit_code = 70


class UsageError(CommandError):
    """The arguments are not valid."""

    exit_code = 64


class BadData(CommandError):
    """The file `source` has wrong content, and another attempt cannot help."""

    exit_code = 65

    def __init__(self, source: Path, reason: str, *, line: int = 0, column: int = 0) -> None:
        place = f":{line}:{column}" if column else f":{line}" if line else ""
        super().__init__(f"{shown_path(source)}{place}: {reason}")
        self.source = source
        self.reason = reason


class MissingInput(CommandError):
    """The file `source` does not exist or cannot be opened."""

    exit_code = 66

    def __init__(self, source: Path, reason: str) -> None:
        super().__init__(f"{shown_path(source)}: cannot be read ({reason})")
        self.source = source


class Parser(argparse.ArgumentParser):
    """An argument parser that reports wrong usage in one sentence with exit code 64."""

    def error(self, message: str) -> NoReturn:
        """Raise `UsageError` instead of printing the usage and exiting with 2."""
        raise UsageError(f"{message}; see {self.prog} --help")


def run_command(
    parser: Parser, work: Callable[[argparse.Namespace], None], argv: Sequence[str] | None = None
) -> int:
    """Parse `argv`, call `work`, and return the exit code.

    Errors become one line on standard error.
    """
    try:
        work(parser.parse_args(argv))
    except CommandError as error:
        return _print_error(parser.prog, str(error), error.exit_code)
    except OSError as error:
        where = f"{escaped(str(error.filename))}: " if error.filename else ""
        return _print_error(
            parser.prog, f"{where}input or output failed ({reason_in(error)})", os.EX_IOERR
        )
    return os.EX_OK


def _print_error(program: str, sentence: str, code: int) -> int:
    print(f"{program}: {sentence}", file=sys.stderr)
    return code


def read_input(path: Path) -> bytes:
    """Return the content of `path`.

    Raises:
        MissingInput: The file cannot be opened.
    """
    try:
        return path.read_bytes()
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError, PermissionError) as error:
        raise MissingInput(path, reason_in(error)) from error


def reason_in(error: BaseException) -> str:
    """Return why foreign data cannot be used, in one line and without Python's names."""
    from sluice.text.os_errors import reason_of  # noqa: PLC0415 - takes long to import

    if isinstance(error, KeyError) and error.args:
        return f"{quoted(error.args[0])} is missing"
    if isinstance(error, TypeError | AttributeError):
        return "a value in it has the wrong type"
    return reason_of(error)


def parse_json(path: Path, text: bytes, line: int = 1) -> Any:
    """Return the JSON value of `text`, which begins in line `line` of `path`.

    Raises:
        BadData: The text is not JSON.
    """
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        reason = f"not JSON: {error.msg[:1].lower()}{error.msg[1:]}"
        raise BadData(path, reason, line=line + error.lineno - 1, column=error.colno) from error
    except (ValueError, RecursionError) as error:
        raise BadData(path, f"not JSON: {reason_in(error)}", line=line) from error


def write_complete(path: Path, content: bytes) -> None:
    """Write `content` to `path`, so that no reader sees an incomplete file."""
    with write_atomically(path) as partial:
        partial.write_bytes(content)


@contextmanager
def write_atomically(path: Path) -> Iterator[Path]:
    """Yield a hidden path beside `path` to write to, and rename it at the end.

    No reader sees an incomplete file.
    """
    partial = path.with_name(f".{path.name}.part")
    try:
        yield partial
        partial.replace(path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


def positive(text: str) -> int:
    """Parse an argument that is an integer of at least 1."""
    return _integer(text, 1)


def not_negative(text: str) -> int:
    """Parse an argument that is an integer of at least 0."""
    return _integer(text, 0)


def _integer(text: str, minimum: int) -> int:
    try:
        value = int(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{quoted(text)} is not a whole number") from error
    if value < minimum:
        raise argparse.ArgumentTypeError(f"{value} is below {minimum}")
    return value


def finite(text: str) -> float:
    """Parse an argument that is a finite number."""
    try:
        value = float(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{quoted(text)} is not a number") from error
    if not math.isfinite(value):
        raise argparse.ArgumentTypeError(f"{text} is not a finite number")
    return value


def not_negative_number(text: str) -> float:
    """Parse an argument that is a finite number of at least 0."""
    value = finite(text)
    if value < 0:
        raise argparse.ArgumentTypeError(f"{value:g} is below 0")
    return value


def positive_number(text: str) -> float:
    """Parse an argument that is a finite number above 0."""
    value = finite(text)
    if value <= 0:
        raise argparse.ArgumentTypeError(f"{value:g} is not above 0")
    return value
