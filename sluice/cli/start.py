"""The start of the command ``sluice``."""

import sys

from sluice.process.garbage_collection import disable_garbage_collection, freeze_loaded_objects
from sluice.process.termination import Terminated, print_termination, raise_at_termination
from sluice.text.visible_text import quoted

#: Packages of this project. A missing module of these is a bug.
_OWN = {"sluice", "wms", "dms", "wfms", "pilot"}
#: Commands that are services, and handle signals themselves.
_SERVICES = {"up", "serve"}


def main() -> None:
    """Run the command that the command line names.

    `sluice cwl-runner` replaces other runners and must start as fast as they do. It therefore
    imports no other command. If a package is missing, the command ends with status 1 and says what
    to install. If a signal ends the command, standard error names the signal.
    """
    disable_garbage_collection()
    name = next(iter(sys.argv[1:]), None)
    if name not in _SERVICES:
        raise_at_termination()
    try:
        if name == "cwl-runner":
            from sluice.cwl_runner.command import main as run_cwl  # noqa: PLC0415

            freeze_loaded_objects()
            sys.exit(run_cwl(sys.argv[2:]))
        from sluice.cli.app import command_line  # noqa: PLC0415

        command = command_line(name)
        freeze_loaded_objects()
        command()
    except Terminated as ended:
        print_termination(ended)
        raise
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing in _OWN:
            raise
        sys.exit(
            f"error: sluice {name} needs the Python package {quoted(missing)}, which an"
            " installation for clients alone does not have: install sluice[services,pilot]"
        )
