"""`sluice dataset unmatched`, `match` and `dismiss`: data sets that match no template."""

from datetime import UTC, datetime
from typing import Annotated

import typer

from sluice.cli.object_lookup import resolve_dataset_uid
from sluice.cli.system import System, with_system
from sluice.clientkit.connection import Connection
from sluice.clientkit.local_times import local_time
from sluice.clientkit.output import err, out, print_json
from sluice.contracts.chains.intake import Rematched, RematchedAll, Tie, Unmatched, UnmatchedList
from sluice.contracts.common.numbers import format_count


@with_system
def unmatched(
    system: System,
    *,
    template: Annotated[
        str | None, typer.Option(help="Only data sets that this template would take now.")
    ] = None,
    limit: Annotated[
        int, typer.Option(min=1, max=1000, help="The maximum number of data sets.")
    ] = 50,
) -> None:
    """List data sets that match no template, the newest first, with the reason of each template."""

    async def list_unmatched(connection: Connection) -> tuple[UnmatchedList, list[Tie]]:
        page = await connection.operator.list_unmatched(template=template, limit=limit)
        return page, (await connection.operator.list_ties()).ties

    page, ties = system.ask(list_unmatched)
    if system.as_json:
        print_json(page)
        return
    for tie in ties:
        err.print(tie_text(tie))
    if not page.datasets:
        out.print("no unmatched data set")
        return
    for dataset in page.datasets:
        out.print(
            f"{dataset.dataset_uid}  {dataset.dataset_name}  since {local_time(dataset.since)}"
        )
        for line in _reasons(dataset):
            out.print(f"  {line}")
    if page.total is not None and page.total > len(page.datasets):
        out.print(f"and {page.total - len(page.datasets)} more")


@with_system
def match(
    system: System,
    datasets: Annotated[
        list[str] | None,
        typer.Argument(metavar="DATASET", help="Unmatched data sets, by name or uid."),
    ] = None,
    *,
    every: Annotated[bool, typer.Option("--all", help="Match all unmatched data sets.")] = False,
) -> None:
    """Match unmatched data sets again, after a template was added or changed.

    The exit status is 1 if one of the named data sets still matches no template.
    """
    if every == bool(datasets):
        raise typer.BadParameter("give data sets, or --all")
    if every:
        summary = system.ask(lambda c: c.operator.rematch_all())
        system.answer(summary, rematched_text(summary))
        return

    uids = [resolve_dataset_uid(system, reference) for reference in datasets or []]

    async def rematch(connection: Connection) -> list[Rematched]:
        return [await connection.operator.rematch(dataset_uid=uid) for uid in uids]

    results = system.ask(rematch)
    if system.as_json:
        print_json(results)
    else:
        for uid, result in zip(uids, results, strict=True):
            outcome = "" if result.template is None else f"taken by {result.template}"
            out.print(f"{uid}: {outcome or result.reason}")
    if any(result.template is None for result in results):
        raise typer.Exit(1)


@with_system
def dismiss(
    system: System,
    dataset: Annotated[
        str | None,
        typer.Argument(
            metavar="DATASET",
            help="The name of the data set, its uid, or the beginning of its uid.",
        ),
    ] = None,
    *,
    every: Annotated[
        bool, typer.Option("--all", help="Dismiss all data sets that are unmatched now.")
    ] = False,
) -> None:
    """Remove a data set, or all, from the list of unmatched ones after somebody has seen to it.

    The data set stays where it is. Nothing is deleted.
    """
    if every == (dataset is not None):
        raise typer.BadParameter("give a data set, or --all")
    if dataset is None:
        summary = system.ask(lambda c: c.operator.dismiss_all_unmatched(until=datetime.now(UTC)))
        sets = format_count(summary.dismissed, "data set")
        system.answer(summary, f"{sets} dismissed; nothing was deleted")
        return
    uid = resolve_dataset_uid(system, dataset)
    system.ask(lambda c: c.operator.dismiss_unmatched(uid))
    system.answer(
        {"dataset_uid": str(uid), "dismissed": True},
        f"{uid} is no longer listed as unmatched",
    )


def rematched_text(summary: RematchedAll) -> str:
    """Return the result of matching all data sets again, as a sentence."""
    deletions = f", {summary.gone} were deleted meanwhile" if summary.gone else ""
    return f"{summary.matched} taken by a template, {summary.left} still unmatched{deletions}"


def tie_text(tie: Tie) -> str:
    """Return a warning about two templates of the same priority that match the same data sets."""
    sets = f"{format_count(tie.datasets, 'data set')}, {tie.dataset_name} last"
    return (
        f"warning: templates {tie.template} and {tie.other} have the same priority, {tie.priority},"
        f" and both matched {sets}: {tie.template} gets them, being the first by name; give one of"
        " them a sluice:priority"
    )


def _reasons(dataset: Unmatched) -> list[str]:
    if dataset.rejection_reasons is None:
        return [dataset.reason, *(finding.message for finding in dataset.findings)]
    lines = [
        f"{rejection.template}: {rejection.reason or 'would take it now'}"
        for rejection in dataset.rejection_reasons
    ]
    # A refusal by the chain service is not the reason of a template.
    refusal = (
        [dataset.reason, *(finding.message for finding in dataset.findings)]
        if dataset.findings
        else []
    )
    return [*refusal, *lines] or [dataset.reason]
