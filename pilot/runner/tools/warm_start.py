"""Number of arguments that start a warm worker."""

import os
import re
from collections.abc import Sequence

#: Programs whose first argument is the script to run.
_INTERPRETER = re.compile(
    r"(python|pypy|perl|ruby|node|nodejs|Rscript|julia|lua|luajit|php|bash|sh|dash|zsh)[\d.]*"
)


def count_start_arguments(arguments: Sequence[str], base: int, folder: str) -> int:
    """Return how many arguments start a warm worker. The others come with each job.

    These are the ``base`` arguments of ``baseCommand``. If that is only an interpreter, its script
    belongs to them too, provided that it is a file of the job. Otherwise the interpreter would get
    the arguments of the script.

    Args:
        arguments: The whole command line.
        base: Number of arguments in ``baseCommand``.
        folder: Folder with the job's files.
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
