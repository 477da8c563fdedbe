"""Options and arguments that several commands share."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

HomeOption = Annotated[
    Path,
    typer.Option(
        "--home", envvar="SLUICE_HOME", help="Folder of the embedded system.", show_default=True
    ),
]
UrlOption = Annotated[
    str | None,
    typer.Option(
        "--url",
        envvar="SLUICE_URL",
        help="Address of a running system; without it, the one in --home.",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Answer as JSON.")]

DatasetArgument = Annotated[
    str,
    typer.Argument(
        metavar="DATASET",
        help="Its name (of an output: INPUT.OUTPUT), uid, or the uid's beginning.",
    ),
]
ChainArgument = Annotated[
    str,
    typer.Argument(
        metavar="CHAIN", help="Its uid, the uid's beginning, or its input data set's name."
    ),
]
TaskArgument = Annotated[
    str, typer.Argument(metavar="TASK", help="Its uid, the uid's beginning, or CHAIN.STEP.")
]
PilotArgument = Annotated[
    str, typer.Argument(metavar="PILOT", help="Its name, uid, or the uid's beginning.")
]

GroupOption = Annotated[
    str | None,
    typer.Option("--group", metavar="GROUP", help="Whose it is; default: your first group's."),
]
SharedArgument = Annotated[
    list[str] | None,
    typer.Argument(metavar="[GROUP]...", help="Who sees it, too; `everyone`: all. None: nobody."),
]
GivenOption = Annotated[
    str | None, typer.Option("--group", metavar="GROUP", help="Give it to this group of yours.")
]

AfterOption = Annotated[
    str | None, typer.Option(help="Go on where the list before ended, as it says.")
]
ParamOption = Annotated[
    list[str] | None,
    typer.Option(
        "--param",
        "-p",
        help="key=value: a parameter; of a File or Directory its path, of a File[] a folder.",
    ),
]
JobOption = Annotated[
    Path | None,
    typer.Option(
        "--job",
        help="A job order, YAML or JSON, with the inputs' values; options go before it.",
        exists=True,
        dir_okay=False,
    ),
]
RankOption = Annotated[
    float,
    typer.Option(
        min=0, max=1_000_000, help="Added to the ranks of its steps: higher runs earlier."
    ),
]
RecursiveOption = Annotated[
    bool,
    typer.Option(
        "--recursive",
        "-r",
        help="Take the files in subfolders of folders as well, folder by folder.",
    ),
]


class EntryOrder(StrEnum):
    """The order of a data set's entries."""

    GIVEN = "given"  #: As on the command line, with files of a folder by name.
    NAME = "name"
    NATURAL = "natural"  #: By name, with numbers by value: page-9 before page-10.
    MTIME = "mtime"  #: By time of modification, then by name.


OrderOption = Annotated[
    EntryOrder,
    typer.Option(
        help="Order of the files: as given (those of a folder by name), by name, by name with its"
        " numbers by value, or by when they were modified."
    ),
]
OutOption = Annotated[
    Path, typer.Option("--out", "-o", help="Folder for the files and manifest.json.")
]
ForceOption = Annotated[
    bool, typer.Option("--force", help="Overwrite files that are there with other contents.")
]
