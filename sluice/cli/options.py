"""Options and arguments that several commands share."""

from collections.abc import Sequence
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from sluice.contracts.common.wording import did_you_mean
from sluice.text.visible_text import shown_path

#: The most names of a folder that are compared with a wrong one.
_MAX_COMPARED = 2000

Paths = TypeVar("Paths", Path | None, Sequence[Path])


def similar_name(path: Path) -> str:
    """Return `` (did you mean 'x'?)`` with the most similar name in the folder, or an empty text.

    Only the first names of a large folder are compared.
    """
    try:
        names = [entry.name for entry in islice(path.parent.iterdir(), _MAX_COMPARED)]
    except OSError:
        return ""
    return did_you_mean(path.name, names)


def check_paths_exist(paths: Paths) -> Paths:
    """Return the value of a path option or argument if there is a file or folder at each path.

    Raises:
        typer.BadParameter: A path does not exist.
    """
    for path in [paths] if isinstance(paths, Path) else paths or ():
        if not path.exists():
            raise typer.BadParameter(f"{shown_path(path)} does not exist{similar_name(path)}")
    return paths


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
        help="Address of a running system. The default is the system in --home.",
    ),
]
TemplateArgument = Annotated[str, typer.Argument(metavar="NAME", help="The name of the template.")]
RankArgument = Annotated[float, typer.Argument(metavar="RANK", help="The new rank.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Answer as JSON.")]

DatasetArgument = Annotated[
    str,
    typer.Argument(
        metavar="DATASET",
        help="The name of the data set (INPUT.OUTPUT for an output), its uid, or the"
        " beginning of its uid.",
    ),
]
ChainArgument = Annotated[
    str,
    typer.Argument(
        metavar="CHAIN",
        help="The uid of the chain, the beginning of its uid, or the name of its input data set.",
    ),
]
TaskArgument = Annotated[
    str,
    typer.Argument(
        metavar="TASK", help="The uid of the task, the beginning of its uid, or CHAIN.STEP."
    ),
]
PilotArgument = Annotated[
    str,
    typer.Argument(
        metavar="PILOT", help="The name of the pilot, its uid, or the beginning of its uid."
    ),
]

GroupOption = Annotated[
    str | None,
    typer.Option(
        "--group", metavar="GROUP", help="The group that owns it. The default is your first group."
    ),
]
SharedArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="GROUP",
        help="Groups that see it, too. `everyone` means all people. Without any, no other"
        " group sees it.",
    ),
]
NewGroupOption = Annotated[
    str | None, typer.Option("--group", metavar="GROUP", help="Transfer it to this group of yours.")
]

AfterOption = Annotated[
    str | None, typer.Option(help="Continue where the previous list ended, as it says.")
]
ParamOption = Annotated[
    list[str] | None,
    typer.Option(
        "--param",
        "-p",
        help="key=value: a parameter. The value of a File or Directory is a path, and that"
        " of a File[] is a folder.",
    ),
]
JobOption = Annotated[
    Path | None,
    typer.Option(
        "--job",
        help="A job order (YAML or JSON) with the values of the inputs. Options take precedence.",
        callback=check_paths_exist,
        dir_okay=False,
    ),
]
RankOption = Annotated[
    float,
    typer.Option(
        min=0,
        max=1_000_000,
        help="Added to the ranks of the chain's steps. A higher rank runs earlier.",
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
        help="Order of the files: as given (files of a folder by name), by name, by name"
        " with numbers by value, or by time of modification."
    ),
]
OutOption = Annotated[
    Path, typer.Option("--out", "-o", help="Folder for the files and manifest.json.")
]
ForceOption = Annotated[
    bool, typer.Option("--force", help="Overwrite existing files with other contents.")
]
