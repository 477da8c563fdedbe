"""The commands `sluice dataset …`."""

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from sluice.cli.commands.chains.get_results import get_dataset
from sluice.cli.commands.data import dataset_match
from sluice.cli.confirmation import Confirmation, with_confirmation
from sluice.cli.errors import plain_errors
from sluice.cli.job_orders.parameters import key_values
from sluice.cli.object_lookup import resolve_dataset, resolve_dataset_uid, resolve_template
from sluice.cli.options import (
    AfterOption,
    DatasetArgument,
    GroupOption,
    NewGroupOption,
    OrderOption,
    RecursiveOption,
    SharedArgument,
)
from sluice.cli.ownership import describe_ownership
from sluice.cli.system import System, with_system
from sluice.clientkit.connection import Connection
from sluice.clientkit.local_times import local_time
from sluice.clientkit.output import out, print_json, print_next_page_hint, print_table
from sluice.clientkit.transfer.entry_order import EntryOrder
from sluice.clientkit.transfer.inputs import list_entries
from sluice.clientkit.transfer.upload import upload_files
from sluice.contracts.access.owners import Share
from sluice.contracts.common.labels import label
from sluice.contracts.common.numbers import format_count, size_text
from sluice.contracts.common.states import DatasetState, DatasetType
from sluice.contracts.data.append_only_list import AppendOnlyDataset
from sluice.contracts.data.counts import produced_texts
from sluice.contracts.data.datasets import Dataset, DatasetStatus, NewDataset
from sluice.contracts.templates.plan import DataEntries
from sluice.text.visible_text import escaped, quoted

app = typer.Typer(
    no_args_is_help=True,
    help="Named lists of files that belong together. A task works on a whole data set.",
)
_DELETED_STATES = {DatasetState.DELETING, DatasetState.DELETED}
for _command in (dataset_match.unmatched, dataset_match.match, dataset_match.dismiss):
    app.command()(_command)
app.command("get")(get_dataset)


@app.command("list")
@with_system
def list_datasets(
    system: System,
    *,
    kind: Annotated[
        DatasetType | None, typer.Option("--type", help="Only data sets of this type.")
    ] = None,
    state: Annotated[
        DatasetState | None, typer.Option(help="Only data sets in this state.")
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(help="Only data sets of this name: DATASET, or INPUT.OUTPUT of a chain."),
    ] = None,
    limit: Annotated[
        int, typer.Option(min=1, max=10_000, help="The maximum number of data sets.")
    ] = 100,
    after: AfterOption = None,
) -> None:
    """List data sets, the most recently registered first.

    Data sets that are deleted or being deleted are listed only with --state.
    """
    states = (
        [each for each in DatasetState if each not in _DELETED_STATES] if state is None else [state]
    )

    async def list_page(connection: Connection) -> tuple[list[Dataset], str | None]:
        read = partial(
            connection.operator.list_datasets,
            type=kind,
            state=states,
            name=name,
            newest=True,
            released=True,
        )
        page = await read(after=after, limit=limit)
        more = len(page.datasets) == limit and (await read(after=page.after, limit=1)).datasets
        return page.datasets, page.after if more else None

    datasets, next_page = system.ask(list_page)
    if system.as_json:
        print_json(datasets)
    else:
        print_table(
            ["uid", "name", "type", "state", "files", "size", "timestamp"],
            [_row(dataset) for dataset in datasets],
            empty="no data set",
        )
    print_next_page_hint(next_page)


@app.command("show")
@with_system
def show(
    system: System,
    dataset: DatasetArgument,
) -> None:
    """Show a data set with its metadata, and what it waits for."""
    uid = resolve_dataset_uid(system, dataset)

    async def read(
        connection: Connection,
    ) -> tuple[Dataset, DatasetStatus, list[AppendOnlyDataset]]:
        operator = connection.operator
        details, status = await operator.get_dataset(uid), await operator.get_dataset_status(uid)
        grows = details.append_only is not None
        return details, status, await operator.list_append_only_datasets(uid=uid) if grows else []

    details, status, append_only = system.ask(read)
    if system.as_json:
        print_json(details.model_dump(mode="json") | {"status": status.model_dump(mode="json")})
        return
    size = ", ".join(
        [
            format_count(details.count_files, "file"),
            size_text(details.bytes),
            *produced_texts(details.meta),
        ]
    )
    out.print(f"{details.name}: {details.type.value}, {_describe_state(details)}, {size}")
    if ownership := describe_ownership(details.owner, details.group, details.shared_with):
        out.print(f"  {ownership}")
    if details.released:
        out.print(f"  {details.released} of them are deleted: all steps are done with them")
    if status.waits_for is not None:
        out.print(f"  it waits for {status.waits_for}")
    if status.chain_waits is not None:
        out.print(f"  its chain waits: {status.chain_waits}")
    if details.period is not None:
        out.print(f"  period: {details.period}")
    if details.run is not None:
        out.print(f"  run: {details.run}")
    for key, value in sorted(details.meta.items()):
        out.print(f"  {key}: {value if isinstance(value, str) else quoted(value)}")
    for reader in (reader for each in append_only for reader in each.readers):
        out.print(
            f"  {reader.name} was given {format_count(reader.used, 'file')} in"
            f" {format_count(reader.slices, 'slice')}, the last {local_time(reader.last_at)}"
        )


@app.command("files")
@with_system
def files(
    system: System,
    dataset: DatasetArgument,
    *,
    limit: Annotated[
        int, typer.Option(min=1, max=10_000, help="The maximum number of files.")
    ] = 1000,
    after: AfterOption = None,
) -> None:
    """List the files of a data set, in order."""
    uid = resolve_dataset_uid(system, dataset)
    page = system.ask(lambda c: c.operator.list_files(uid, after=after, limit=limit))
    if system.as_json:
        print_json(page)
        return
    print_table(
        ["seq", "name", "size", "checksum", "url"],
        [
            (f.seq, escaped(f.name), size_text(f.size), f.checksum[7:19], escaped(f.url))
            for f in page.files
        ],
        empty="no file",
    )
    print_next_page_hint(page.after)


@app.command("register")
@with_system
def register(  # noqa: PLR0913 - a command's options, each by its name
    system: System,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The name of the data set.")],
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="PATH",
            help="The files of the data set, in order. A folder stands for its files.",
        ),
    ],
    *,
    template: Annotated[
        str | None,
        typer.Option(
            help="Bundle files as this template needs them: directories, or files with"
            " secondary files."
        ),
    ] = None,
    meta: Annotated[
        list[str] | None,
        typer.Option(
            "--meta", "-m", help="key=value: metadata of the data set, which templates match."
        ),
    ] = None,
    run: Annotated[
        int | None,
        typer.Option(min=0, help="The detector run of the data set, see `sluice detector-run`."),
    ] = None,
    recursive: RecursiveOption = False,
    order: OrderOption = EntryOrder.GIVEN,
    group: GroupOption = None,
) -> None:
    """Copy files to an input storage as a new data set.

    The template that matches the data set takes it from there.
    """
    values = key_values(meta or [], option="--meta")
    new = plain_errors(lambda: NewDataset(name=name, meta=values, run=run, group=group))

    async def register_files(connection: Connection) -> Dataset:
        data_entries = (
            DataEntries()
            if template is None
            else (await resolve_template(connection, template)).plan.data_entries
        )
        entries = list_entries(paths, data_entries, recursive=recursive, order=order)
        return await upload_files(connection, entries, dataset=new)

    dataset = system.ask(register_files)
    size = f"{format_count(dataset.count_files, 'file')}, {size_text(dataset.bytes)}"
    system.answer(dataset, f"{dataset.name} ({dataset.uid}): {size}")


@app.command("share")
@with_system
def share(
    system: System,
    dataset: DatasetArgument,
    groups: SharedArgument = None,
    *,
    group: NewGroupOption = None,
) -> None:
    """Set which groups see a data set besides its own. Other groups no longer see it."""
    uid = resolve_dataset_uid(system, dataset)
    request = plain_errors(lambda: Share(shared_with=groups or [], group=group))
    shared = system.ask(lambda c: c.operator.share_dataset(uid, request))
    ownership = describe_ownership(shared.owner, shared.group, shared.shared_with) or "everybody's"
    system.answer(shared, f"{shared.name}: {ownership}")


@app.command("close")
@with_system
def close(
    system: System,
    dataset: DatasetArgument,
    *,
    files: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="The number of files that complete the data set. The default is the number of"
            " its files now. The last number counts.",
        ),
    ] = None,
) -> None:
    """Declare a data set complete, or correct the number of files that complete it."""
    uid = resolve_dataset_uid(system, dataset)

    async def close_and_read_status(connection: Connection) -> tuple[Dataset, DatasetStatus]:
        closed = await connection.operator.close_dataset(uid, files=files)
        return closed, await connection.operator.get_dataset_status(uid)

    reply, status = system.ask(close_and_read_status)
    waits = "" if status.waits_for is None else f"; it waits for {status.waits_for}"
    system.answer(
        reply,
        f"{reply.name}: {reply.state.value}, {format_count(reply.count_files, 'file')}{waits}",
    )


@app.command("delete")
@with_system
@with_confirmation
def delete(
    system: System,
    confirmation: Confirmation,
    dataset: DatasetArgument,
    *,
    force: Annotated[
        bool,
        typer.Option(
            "--force",
            help="Delete even the last copy of an output, and data sets that chains need."
            " These chains are canceled first.",
        ),
    ] = False,
) -> None:
    """Delete a data set and its files.

    This is refused while a chain that has not ended needs the data set. The message names the
    chains.
    """
    target = system.ask(lambda c: resolve_dataset(c, dataset))
    confirmation.require(
        f"delete data set {label(target)} ({target.uid}, {target.state}):"
        f" {format_count(target.count_files, 'file')}, {size_text(target.bytes)}"
        + (", and cancel the chains that need it" if force else "")
    )
    reply = system.ask(lambda c: c.operator.delete_dataset(target.uid, force=force))
    waits = (
        ""
        if reply.state in _DELETED_STATES
        else ", to be deleted when the chains that need it have ended; they are being canceled"
    )
    system.answer(reply, f"{label(target)}: {reply.state.value}{waits}")


@app.command("resume")
@with_system
def resume(
    system: System,
    dataset: DatasetArgument,
) -> None:
    """Retry an upload or a deletion that stopped and waits for a person."""
    uid = resolve_dataset_uid(system, dataset)
    reply = system.ask(lambda c: c.dms.resume_dataset(uid))
    system.answer(reply, f"{reply.name}: {reply.state.value}")


def _row(dataset: Dataset) -> tuple[object, ...]:
    size, timestamp = size_text(dataset.bytes), local_time(dataset.timestamp)
    return (
        dataset.uid,
        label(dataset),
        dataset.type.value,
        _describe_state(dataset),
        _format_file_count(dataset),
        size,
        timestamp,
    )


def _format_file_count(dataset: Dataset) -> str:
    deleted = f" ({dataset.released} deleted)" if dataset.released else ""
    return f"{dataset.count_files}{deleted}"


def _describe_state(dataset: Dataset) -> str:
    grows = dataset.append_only is not None and dataset.state is DatasetState.OPEN
    return "append-only" if grows else dataset.state.value
