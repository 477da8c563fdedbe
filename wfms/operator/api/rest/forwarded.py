"""REST routes of the DMS, the WMS and the intake that people use, forwarded as they are: same path,
same query, same answer."""

from collections.abc import Mapping
from typing import Any

import httpx
from flask import request
from pydantic import BaseModel

from sluice.contracts.attention import Acknowledge
from sluice.contracts.base import Contract
from sluice.contracts.chains import Chain
from sluice.contracts.datasets import (
    CloseDataset,
    Dataset,
    DatasetPage,
    DatasetStatus,
    File,
    FilePage,
    NewDataset,
    NewFiles,
    NewFrames,
    NewPeriod,
    NewRun,
    NewStorage,
    Period,
    Registered,
    Run,
    Storage,
    WaterMarks,
)  # fmt: skip
from sluice.contracts.intake import Rematch, Rematched, RematchedAll
from sluice.contracts.owners import Share
from sluice.contracts.pilot_detail import PilotDetail
from sluice.contracts.pilot_list import PilotList
from sluice.contracts.problems import NotAvailable, NotFound
from sluice.contracts.tasks import Explanation, Job, JobPage, Outlook, TaskStatus
from sluice.servicekit.access.policy import RoutePolicy
from wfms.operator.api.rest.body import read_body
from wfms.operator.api.rest.route import (
    ADMINS,
    SHIFT,
    SHIFT_OR_OWNER,
    SUBMITTERS,
    VIEWERS,
    Answered,
    Route,
    View,
)
from wfms.operator.usecases.forward_request import ForwardedRequest, forward_request

_Row = tuple[str, str, str, RoutePolicy, str, type[BaseModel] | None, type[Contract] | None]

#: Service, method, path, who may, what it is for, answer, body.
FORWARDED: tuple[_Row, ...] = (
    (
        "dms",
        "GET",
        "/datasets",
        VIEWERS,
        "Lists data sets, by the order in which they closed.",
        DatasetPage,
        None,
    ),
    ("dms", "POST", "/datasets", SUBMITTERS, "Registers a data set.", Dataset, NewDataset),
    ("dms", "GET", "/datasets/<uuid:uid>", VIEWERS, "Reads a data set.", Dataset, None),
    (
        "dms",
        "GET",
        "/datasets/<uuid:uid>/status",
        VIEWERS,
        "Says how far a data set is, and what it waits for.",
        DatasetStatus,
        None,
    ),
    (
        "wfms.chains",
        "DELETE",
        "/datasets/<uuid:uid>",
        SHIFT_OR_OWNER,
        "Deletes a data set that no chain needs, by force any.",
        Dataset,
        None,
    ),
    (
        "wfms.chains",
        "POST",
        "/chains/<uuid:uid>/acknowledge",
        SHIFT_OR_OWNER,
        "Says who has seen that a chain failed.",
        Chain,
        Acknowledge,
    ),
    (
        "dms",
        "GET",
        "/datasets/<uuid:uid>/files",
        VIEWERS,
        "Lists a data set's files, in order.",
        FilePage,
        None,
    ),
    (
        "dms",
        "GET",
        "/datasets/<uuid:uid>/files/<int:file>",
        VIEWERS,
        "Reads one of a data set's files.",
        File,
        None,
    ),
    (
        "dms",
        "POST",
        "/datasets/<uuid:uid>/files",
        SUBMITTERS,
        "Registers files of a data set.",
        Registered,
        NewFiles,
    ),
    (
        "dms",
        "POST",
        "/datasets/<uuid:uid>/close",
        SUBMITTERS,
        "Closes a data set: it is complete.",
        Dataset,
        CloseDataset,
    ),
    (
        "dms",
        "PUT",
        "/datasets/<uuid:uid>/share",
        SHIFT_OR_OWNER,
        "Says which groups see a data set beside its own, and whose it is.",
        Dataset,
        Share,
    ),
    (
        "dms",
        "GET",
        "/storages",
        VIEWERS,
        "Lists storages, those with the most free space first.",
        None,
        None,
    ),
    ("dms", "POST", "/storages", ADMINS, "Registers a storage.", Storage, NewStorage),
    (
        "dms",
        "POST",
        "/storages/<string:name>/disable",
        ADMINS,
        "Takes a storage out of use: no new data sets.",
        Storage,
        None,
    ),
    (
        "dms",
        "POST",
        "/storages/<string:name>/enable",
        ADMINS,
        "Takes a storage into use again.",
        Storage,
        None,
    ),
    (
        "dms",
        "PUT",
        "/storages/<string:name>/marks",
        ADMINS,
        "Sets the water marks of an input storage.",
        Storage,
        WaterMarks,
    ),
    (
        "dms",
        "DELETE",
        "/storages/<string:name>/marks",
        ADMINS,
        "Takes the water marks of a storage away.",
        Storage,
        None,
    ),
    ("dms", "GET", "/periods", VIEWERS, "Lists periods of data taking.", None, None),
    ("dms", "POST", "/periods", SUBMITTERS, "Registers a period.", Period, NewPeriod),
    ("dms", "GET", "/runs", VIEWERS, "Lists runs, or those of a period.", None, None),
    ("dms", "POST", "/runs", SUBMITTERS, "Registers a run.", Run, NewRun),
    ("dms", "GET", "/runs/<int:run>/frames", VIEWERS, "Lists the frames of a run.", None, None),
    (
        "dms",
        "POST",
        "/runs/<int:run>/frames",
        SUBMITTERS,
        "Registers frames of a run.",
        Registered,
        NewFrames,
    ),
    (
        "wfms.intake",
        "DELETE",
        "/unmatched/<uuid:uid>",
        SHIFT,
        "Takes a data set off the list of unmatched ones.",
        None,
        None,
    ),
    (
        "wfms.intake",
        "POST",
        "/rematch",
        SHIFT,
        "Matches an unmatched data set again.",
        Rematched,
        Rematch,
    ),
    (
        "wfms.intake",
        "POST",
        "/rematch-all",
        SHIFT,
        "Matches all unmatched data sets again.",
        RematchedAll,
        None,
    ),
    (
        "wms",
        "POST",
        "/tasks/<uuid:uid>/retry",
        SHIFT_OR_OWNER,
        "Gives failed and held jobs another round.",
        TaskStatus,
        None,
    ),
    ("wms", "GET", "/tasks/<uuid:uid>/jobs", VIEWERS, "Lists the jobs of a task.", JobPage, None),
    (
        "wms",
        "GET",
        "/tasks/<uuid:uid>/explain",
        VIEWERS,
        "Says why a task does not run, or why it failed.",
        Explanation,
        None,
    ),
    (
        "wms",
        "GET",
        "/tasks/<uuid:uid>/outlook",
        VIEWERS,
        "Says whether a task's jobs will ever find a node.",
        Outlook,
        None,
    ),
    ("wms", "GET", "/jobs/<int:job>", VIEWERS, "Reads a job with its attempts.", Job, None),
    (
        "wms",
        "POST",
        "/jobs/<int:job>/retry",
        SHIFT_OR_OWNER,
        "Gives a failed or held job another round.",
        Job,
        None,
    ),
    (
        "wms",
        "GET",
        "/jobs/<int:job>/explain",
        VIEWERS,
        "Says why a job does not run, or why it failed.",
        Explanation,
        None,
    ),
    ("wms", "GET", "/pilots", VIEWERS, "Lists pilots and what they do.", PilotList, None),
    (
        "wms",
        "GET",
        "/pilots/<uuid:uid>",
        VIEWERS,
        "Reads a pilot with what it has, what it did last, and what failed there.",
        PilotDetail,
        None,
    ),
    (
        "wms",
        "POST",
        "/pilots/<uuid:uid>/stop",
        SHIFT,
        "Asks a pilot to stop its jobs, hand them back, and end.",
        None,
        None,
    ),
    (
        "wms",
        "DELETE",
        "/pilots/<uuid:uid>",
        SHIFT,
        "Takes a pilot off the lists that has ended or was lost.",
        None,
        None,
    ),
    (
        "wms",
        "POST",
        "/pilots/<uuid:uid>/acknowledge",
        SHIFT,
        "Says who has seen that a pilot was lost.",
        None,
        Acknowledge,
    ),
    (
        "wms",
        "POST",
        "/pilots/<uuid:uid>/drain",
        SHIFT,
        "Asks a pilot to finish what it has, and end.",
        None,
        None,
    ),
)


def forwarded_routes(others: Mapping[str, httpx.AsyncClient], *, largest: int) -> list[Route]:
    """``largest``: bytes of a body; ten thousand files are registered with one request."""

    def read() -> ForwardedRequest:
        content = read_body(largest)
        return ForwardedRequest(
            request.method,
            request.path,
            request.query_string.decode("latin-1"),
            content,
            request.content_type or "",
        )

    return [
        Route(
            method,
            rule,
            _view(others, service),
            access,
            summary,
            answer=answer,
            body=body,
            read=read,
            errors=(NotFound, NotAvailable),
        )
        for service, method, rule, access, summary, answer, body in FORWARDED
    ]


def _view(others: Mapping[str, httpx.AsyncClient], service: str) -> View:
    async def view(body: ForwardedRequest, **_path: Any) -> Answered:
        back = await forward_request(others[service], service, body)
        return Answered(back.content, back.status, back.content_type)

    return view
