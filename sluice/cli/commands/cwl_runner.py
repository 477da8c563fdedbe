"""`sluice cwl-runner` among the other commands; called by its name it starts without them (see
``__main__``)."""

from typing import Annotated

import typer


def cwl_runner(
    context: typer.Context,
    process: Annotated[
        str, typer.Argument(help="File or address of a CWL process.", metavar="PROCESS")
    ],
    order: Annotated[
        str | None, typer.Argument(help="File with its inputs, YAML or JSON.", metavar="[JOB]")
    ] = None,
) -> None:
    """Run any CWL process on the system and print the output object, as other `cwl-runner`s do.
    Options stand in front of the process: `--outdir DIR`, `--quiet`, `--url`, `--home`, and those
    of cwltool. Exit status 0, 1 where it failed, 2 where the command is wrong, 33 where something
    in the process is not supported."""
    from sluice.cwl_runner.command import main  # noqa: PLC0415 - a client alone reads no processes

    raise typer.Exit(main([process, *([order] if order is not None else []), *context.args]))
