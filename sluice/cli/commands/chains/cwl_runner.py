"""The command `sluice cwl-runner`.

``sluice.cli.start`` usually runs it without importing the other commands.
"""

from typing import Annotated

import typer


def cwl_runner(
    context: typer.Context,
    process: Annotated[
        str, typer.Argument(help="File or address of a CWL process.", metavar="PROCESS")
    ],
    order: Annotated[
        str | None,
        typer.Argument(help="File with the inputs of the process, YAML or JSON.", metavar="JOB"),
    ] = None,
) -> None:
    """Run any CWL process on the system, and print its output object like other `cwl-runner`s.

    Options precede the process: `--outdir DIR`, `--quiet`, `--url`, `--home`, and those of cwltool.

    The exit status is 0 on success, 1 if the process failed, and 2 if the command is wrong. It is
    33 if something in the process is not supported.
    """
    from sluice.cwl_runner.command import main  # noqa: PLC0415 - a client alone reads no processes

    raise typer.Exit(main([process, *([order] if order is not None else []), *context.args]))
