"""How much of its command line a tool that stays loaded is started with."""

import os
import re
from collections.abc import Sequence

#: Programs that take the script that they run as their first argument.
_INTERPRETER = re.compile(
    r"(python|pypy|perl|ruby|node|nodejs|Rscript|julia|lua|luajit|php|bash|sh|dash|zsh)[\d.]*"
)


def started_with(arguments: Sequence[str], base: int, folder: str) -> int:
    """Return how many arguments a tool that stays loaded is started with; the others come with
    each job.

    These are the ``base`` arguments of ``baseCommand``. Where that is an interpreter alone, the
    script that it runs belongs to them, too, if it is a file of the job's: else the interpreter
    would get what is meant for the script.

    Args:
        arguments: The whole command line.
        base: How many of them are ``baseCommand``.
        folder: That the job's files lie in.
    """
    name = os.path.basename(arguments[0])
    if not _INTERPRETER.fullmatch(name) or not all(map(_is_option, arguments[1:base])):
        return base
    for number, argument in enumerate(arguments[base:], base):
        if not _is_option(argument):
            is_script = argument.startswith(f"{folder}/") and os.path.isfile(argument)
            return number + 1 if is_script else base
    return base


def _is_option(argument: str) -> bool:
    return argument.startswith("-")
