"""`sluice template publish`: a preview of the changes, and the next version of a template."""

from collections.abc import Awaitable, Iterator
from pathlib import Path
from typing import Annotated, TypeVar

import typer
from rich.text import Text

from sluice.cli.errors import plain_errors
from sluice.cli.options import GroupOption, check_documents_exist
from sluice.cli.system import System, with_system
from sluice.clientkit.connection import Connection
from sluice.clientkit.output import err, out, print_json
from sluice.clientkit.template_files import TemplateFiles, read_template_files
from sluice.contracts.common.problems import Finding, ServiceError, Unprocessable
from sluice.contracts.templates.templates import NewTemplate, Template, TemplateChanges

Answer = TypeVar("Answer")

FilesArgument = Annotated[
    list[Path],
    typer.Argument(
        help="The CWL workflow, which brings the files that it refers to (FILE#ID for a process"
        " of a packed document), or several files, a folder or a zip.",
        callback=check_documents_exist,
        metavar="FILE|FOLDER|ZIP",
    ),
]
MainOption = Annotated[
    str | None,
    typer.Option(
        "--main",
        help="Path of the workflow among the files. The default is the file that no other"
        " file refers to.",
    ),
]
NameOption = Annotated[
    str | None, typer.Option(help="The name of the template. The default comes from the file.")
]

#: The style of a line of a unified diff, by its first characters.
_STYLES = {"+++": "bold", "---": "bold", "@@": "cyan", "+": "green", "-": "red"}


@with_system
def publish(
    system: System,
    files: FilesArgument,
    *,
    main: MainOption = None,
    name: NameOption = None,
    sure: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show what would change.")
    ] = False,
    group: GroupOption = None,
) -> None:
    """Publish a template with all its files, as the next version of its name.

    New data sets go through the new version. The command first shows what changes against the
    previous version, and asks. The same files again change nothing.
    """
    template_files = plain_errors(lambda: read_template_files(files, main=main))
    new = plain_errors(lambda: template_files.new(name).model_copy(update={"group": group}))
    _publish(system, template_files, new, sure=sure, dry_run=dry_run)


@with_system
def upload(
    system: System, files: FilesArgument, *, main: MainOption = None, name: NameOption = None
) -> None:
    """Publish a template without a question. This is the former name of `publish --yes`."""
    template_files = plain_errors(lambda: read_template_files(files, main=main))
    _publish(
        system,
        template_files,
        plain_errors(lambda: template_files.new(name)),
        sure=True,
        dry_run=False,
    )


def _publish(
    system: System, template_files: TemplateFiles, new: NewTemplate, *, sure: bool, dry_run: bool
) -> None:
    changes = system.ask(
        lambda c: _name_refused_files(template_files, c.operator.compare_template(new))
    )
    if dry_run and system.as_json:
        print_json(changes)
    if not system.as_json:
        show_changes(changes, template_files)
    if dry_run:
        return
    if not changes.nothing and not sure:
        _require_confirmation(changes)
    replaced = new.model_copy(update={"replaces": changes.before or 0})
    stored = system.ask(
        lambda c: _name_refused_files(template_files, c.operator.store_template(replaced))
    )
    waiting = 0 if system.as_json else system.ask(lambda c: count_unmatched(c, stored))
    _print_stored(stored, changes, waiting_datasets=waiting, as_json=system.as_json)


def show_changes(changes: TemplateChanges, files: TemplateFiles) -> None:
    """Print the warnings about a new version, and its changes."""
    for finding in changes.warnings:
        out.print(str(name_file_as_written(finding, files)))
    for line in change_lines(changes):
        out.print(line)


def change_lines(changes: TemplateChanges) -> Iterator[str | Text]:
    """Yield the changes in words, and then those of the texts unless the template is new."""
    if changes.nothing:
        return
    if changes.before is None:
        yield f"{changes.name} is new:"
    else:
        yield f"{changes.name}, version {changes.before} → {changes.version}:"
        if not changes.plan:
            yield "  only its text has changed; it does the same"
    for change in changes.plan:
        heading = f"  {change.part} {change.name} {change.change}"
        if len(change.details) == 1:
            yield f"{heading}: {change.details[0]}"
        else:
            yield heading
            yield from (f"    {detail}" for detail in change.details)
    for file in changes.files if changes.before is not None else ():
        yield from (_styled(line) for line in file.diff.splitlines())


def _styled(line: str) -> Text:
    return Text(
        line, style=next((style for start, style in _STYLES.items() if line.startswith(start)), "")
    )


def _require_confirmation(changes: TemplateChanges) -> None:
    effect = (
        "It is disabled, and stays so."
        if changes.disabled
        else "New data sets go through it from then on."
    )
    question = f"Publish it as version {changes.version}? {effect}"
    try:
        if typer.confirm(question, err=True):
            return
        err.print("nothing was published")
    except typer.Abort:
        err.print(
            "\nnothing was published: there was no answer; --yes publishes without a question,"
            " --dry-run only shows"
        )
    raise typer.Exit(1)


async def _name_refused_files(files: TemplateFiles, call: Awaitable[Answer]) -> Answer:
    """Await a request that may be refused. The findings then name files as the user wrote them.

    Raises:
        Unprocessable: The request is refused.
    """
    try:
        return await call
    except Unprocessable as refusal:
        refusal.findings = [name_file_as_written(finding, files) for finding in refusal.findings]
        raise


def name_file_as_written(finding: Finding, files: TemplateFiles) -> Finding:
    """Return a finding with its file as the user wrote it."""
    return finding.model_copy(update={"file": files.display_path(finding.file)})


async def count_unmatched(connection: Connection, stored_template: Template) -> int:
    """Return how many unmatched data sets a template would take, or 0 if this is unknown."""
    try:
        return (
            (await connection.operator.list_unmatched(template=stored_template.name)).total or 0
            if stored_template.plan.match
            else 0
        )
    except ServiceError:
        return 0


def _print_stored(
    stored_template: Template, changes: TemplateChanges, *, waiting_datasets: int, as_json: bool
) -> None:
    if as_json:
        print_json(stored_template)
        return
    out.print(
        f"{stored_template.name}, version"
        f" {stored_template.version}{' already: nothing was changed' if changes.nothing else ''}"
    )
    if stored_template.disabled_at:
        out.print(
            "it is disabled: nothing goes through it until"
            f" `sluice template enable {stored_template.name}`"
        )
    for line in waiting_lines(stored_template.name, waiting_datasets):
        out.print(line)


def waiting_lines(name: str, waiting_datasets: int) -> list[str]:
    """Return lines on the unmatched data sets that a template would take."""
    if not waiting_datasets:
        return []
    would = (
        "data set that fitted no template would"
        if waiting_datasets == 1
        else "data sets that fitted no template would"
    )
    first_line = (
        f"{waiting_datasets} {would} be taken by it now:"
        f" `sluice dataset unmatched --template {name}` lists, and"
    )
    return [first_line, "`sluice dataset match` matches again"]
