"""Python processes that start a slot's programs: they have nothing of the pilot but its code."""

import os
import sys

#: Without which Python may not start.
_VARIABLES = ("LD_LIBRARY_PATH",)


def bare_python(module: str, descriptor: int, *, found_in: str) -> list[str]:
    """The command that calls ``main(descriptor)`` of one of our modules. ``found_in``: folder of
    our packages."""
    code = (
        f"import sys; sys.path.append({found_in!r}); import {module} as it; it.main({descriptor})"
    )
    return [os.path.realpath(sys.executable), "-I", "-S", "-c", code]


def bare_environment() -> dict[str, str]:
    return {name: os.environ[name] for name in _VARIABLES if name in os.environ}
