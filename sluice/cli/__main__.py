"""The command ``sluice``."""

import sys

from sluice.garbage_collection import keep_what_is_loaded, look_for_none
from sluice.termination import Terminated, raise_at_termination, tell
from sluice.visible_text import quoted

#: What is missing of these is missing by a mistake of ours.
_OWN = {"sluice", "wms", "dms", "wfms", "pilot"}
#: Commands that are services, and handle signals themselves.
_SERVICES = {"up", "serve"}


def main() -> None:
    """Run the command of the command line.

    `sluice cwl-runner` stands in for other runners, and must start as fast as they do: no other
    command is imported then. A missing package is named with what has to be installed, and the
    command ends with 1. A signal that ends the command is named, too.
    """
    look_for_none()
    name = next(iter(sys.argv[1:]), None)
    if name not in _SERVICES:
        raise_at_termination()
    try:
        if name == "cwl-runner":
            from sluice.cwl_runner.command import main as run_cwl  # noqa: PLC0415

            keep_what_is_loaded()
            sys.exit(run_cwl(sys.argv[2:]))
        from sluice.cli.app import command_line  # noqa: PLC0415

        command = command_line(name)
        keep_what_is_loaded()
        command()
    except Terminated as ended:
        tell(ended)
        raise
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing in _OWN:
            raise
        sys.exit(
            f"error: sluice {name} needs the Python package {quoted(missing)}, which an"
            " installation for clients alone does not have: install sluice[services,pilot]"
        )


if __name__ == "__main__":
    main()
