"""Arguments and options of `sluice run`."""

from pathlib import Path
from typing import Annotated

import typer

from sluice.cli.options import check_documents_exist

WorkflowArgument = Annotated[
    Path,
    typer.Argument(
        help="The CWL workflow. FILE#ID names a process of a packed document.",
        callback=check_documents_exist,
        dir_okay=False,
    ),
]


InputsOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--input",
        "-i",
        help="Input files, in order. A folder stands for its files, or for itself if the"
        " template takes directories. There are none if the workflow takes no data"
        " set.",
    ),
]


MetaOption = Annotated[
    list[str] | None, typer.Option("--meta", "-m", help="key=value: metadata of the data set.")
]


OutOption = Annotated[
    Path, typer.Option("--out", "-o", help="Empty folder for the outputs and manifest.json.")
]


ForceOption = Annotated[
    bool,
    typer.Option("--force", help="Accept a folder that is not empty, and overwrite its files."),
]


WaitOption = Annotated[
    bool,
    typer.Option("--wait", help="Wait for suitable nodes if the jobs need more than any node has."),
]
