"""Python processes that start a slot's programs, with nothing of the pilot except its code."""

import os
import sys

#: Variables without which Python may not start.
_VARIABLES = ("LD_LIBRARY_PATH",)


def bare_python(module: str, descriptor: int, *, package_folder: str) -> list[str]:
    """Return the command that calls ``main(descriptor)`` of a module of the pilot.

    ``package_folder`` is the folder of the pilot's packages.
    """
    code = (
        f"import sys; sys.path.append({package_folder!r}); import {module} as it;"
        f" it.main({descriptor})"
    )
    return [os.path.realpath(sys.executable), "-I", "-S", "-c", code]


def bare_environment() -> dict[str, str]:
    """Return the environment of such a process."""
    return {name: os.environ[name] for name in _VARIABLES if name in os.environ}
