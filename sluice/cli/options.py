"""Options and arguments that several commands share."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from sluice.clientkit.local_paths import similar_name
from sluice.clientkit.template_files import split_process
from sluice.clientkit.transfer.entry_order import EntryOrder
from sluice.text.visible_text import shown_path

Paths = TypeVar("Paths", Path | None, Sequence[Path])


def check_paths_exist(paths: Paths) -> Paths:
    """Return the value of a path option or argument if there is a file or folder at each path.

    Raises:
        typer.BadParameter: A path does not exist.
    """
    for path in [paths] if isinstance(paths, Path) else paths or ():
        if not path.exists():
            raise typer.BadParameter(f"{shown_path(path)} does not exist{similar_name(path)}")
    return paths


def check_documents_exist(paths: Paths) -> Paths:
    """Check that the files of workflows exist, which may be named with a process (``FILE#ID``).

    Raises:
        typer.BadParameter: A file does not exist.
    """
    check_paths_exist(
        [split_process(path)[0] for path in ([paths] if isinstance(paths, Path) else paths or ())]
    )
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
