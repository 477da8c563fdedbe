"""The routes of other services that the operator service forwards.

Answers and errors are those in the OpenAPI documents of these services.
"""

from dataclasses import dataclass

from pydantic import BaseModel

from sluice.contracts.chains.attention import Acknowledge
from sluice.contracts.chains.chains import Chain
from sluice.contracts.chains.intake import Dismissed, Rematch, Rematched, RematchedAll
from sluice.contracts.common.base import Contract
from sluice.contracts.common.problems import Conflict, NotFound, ServiceError
from sluice.contracts.data.append_only_list import AppendOnlyList
from sluice.contracts.data.datasets import (
    CloseDataset,
    Dataset,
    DatasetPage,
    File,
    FilePage,
    NewFiles,
    NewStorage,
    Registered,
    Storage,
    WaterMarks,
)
from sluice.contracts.data.runs import EndTime, Frame, NewFrames, NewPeriod, NewRun, Period, Run
from sluice.contracts.human_tasks.asking_watch import (
    AskDevice,
    AskDevices,
    AskLink,
    AskLinks,
    HumanStepList,
    NewLink,
    SetDeviceState,
)
from sluice.contracts.jobs.tasks import Explanation, Job, JobPage, Schedulability, TaskStatus
from sluice.contracts.pilots.pilot_detail import PilotDetail
from sluice.contracts.pilots.pilot_list import PilotList
from sluice.servicekit.access.policy import RoutePolicy
from wfms.operator.http.route import ADMINS, SHIFT, SHIFT_OR_OWNER, SUBMITTERS, VIEWERS


@dataclass(frozen=True, slots=True)
class Forwarded:
    """A route that ``service`` answers at the same path.

    The other fields are those of ``Route``.
    """

    service: str
    method: str
    rule: str
    access: RoutePolicy
    summary: str
    answer: type[BaseModel] | None = None
    many: bool = False
    status: int = 200
    again: int | None = None
    body: type[Contract] | None = None
    errors: tuple[type[ServiceError], ...] = ()


#: Path of a human task step.
_ASKING = "/asking/steps/<string:group>/<string:template>/<string:step>"

FORWARDED: tuple[Forwarded, ...] = (
    Forwarded("dms", "GET", "/datasets", VIEWERS,
              "List data sets in the order in which they closed.",
              answer=DatasetPage),
    Forwarded("dms", "GET", "/datasets/<uuid:uid>", VIEWERS,
              "Return a data set.",
              answer=Dataset, errors=(NotFound,)),
    Forwarded("dms", "GET", "/standing", VIEWERS,
              "List append-only data sets, and the templates that take slices of them.",
              answer=AppendOnlyList),
    Forwarded("wfms.chains", "DELETE", "/datasets/<uuid:uid>", SHIFT_OR_OWNER,
              "Delete a data set that no chain needs. With `force`, cancel the chains that need"
              " it.",
              answer=Dataset, status=202, errors=(NotFound, Conflict)),
    Forwarded("wfms.chains", "POST", "/chains/<uuid:uid>/acknowledge", SHIFT_OR_OWNER,
              "Acknowledge the failure of a chain.",
              answer=Chain, body=Acknowledge, errors=(NotFound, Conflict)),
    Forwarded("dms", "GET", "/datasets/<uuid:uid>/files", VIEWERS,
              "List the files of a data set, in order.",
              answer=FilePage, errors=(NotFound,)),
    Forwarded("dms", "GET", "/datasets/<uuid:uid>/files/<int:file>", VIEWERS,
              "Return a file of a data set.",
              answer=File, errors=(NotFound,)),
    Forwarded("dms", "POST", "/datasets/<uuid:uid>/files", SUBMITTERS,
              "Register files of a data set.",
              answer=Registered, body=NewFiles, errors=(NotFound, Conflict)),
    Forwarded("dms", "POST", "/datasets/<uuid:uid>/close", SUBMITTERS,
              "Close a data set.",
              answer=Dataset, body=CloseDataset, errors=(NotFound, Conflict)),
    Forwarded("dms", "GET", "/storages", VIEWERS,
              "List storages, those with the most free space first.",
              answer=Storage, many=True),
    Forwarded("dms", "POST", "/storages", ADMINS,
              "Register a storage.",
              answer=Storage, status=201, again=200, body=NewStorage, errors=(Conflict,)),
    Forwarded("dms", "POST", "/storages/<string:name>/disable", ADMINS,
              "Disable a storage for new data sets.",
              answer=Storage, errors=(NotFound,)),
    Forwarded("dms", "POST", "/storages/<string:name>/enable", ADMINS,
              "Enable a storage for new data sets again.",
              answer=Storage, errors=(NotFound, Conflict)),
    Forwarded("dms", "PUT", "/storages/<string:name>/marks", ADMINS,
              "Set the watermarks of an input storage.",
              answer=Storage, body=WaterMarks, errors=(NotFound,)),
    Forwarded("dms", "DELETE", "/storages/<string:name>/marks", ADMINS,
              "Remove the watermarks of a storage.",
              answer=Storage, errors=(NotFound,)),
    Forwarded("dms", "GET", "/periods", VIEWERS,
              "List periods of data taking.",
              answer=Period, many=True),
    Forwarded("dms", "POST", "/periods", SUBMITTERS,
              "Register a period.",
              answer=Period, status=201, again=200, body=NewPeriod, errors=(Conflict,)),
    Forwarded("dms", "PATCH", "/periods/<string:name>", SUBMITTERS,
              "Set when a period ended.",
              answer=Period, body=EndTime, errors=(NotFound,)),
    Forwarded("dms", "GET", "/runs", VIEWERS,
              "List runs, or only those of a period.",
              answer=Run, many=True, errors=(NotFound,)),
    Forwarded("dms", "POST", "/runs", SUBMITTERS,
              "Register a run.",
              answer=Run, status=201, again=200, body=NewRun, errors=(Conflict,)),
    Forwarded("dms", "GET", "/runs/<int:number>", VIEWERS,
              "Return a run.",
              answer=Run, errors=(NotFound,)),
    Forwarded("dms", "PATCH", "/runs/<int:number>", SUBMITTERS,
              "Set when a run ended.",
              answer=Run, body=EndTime, errors=(NotFound,)),
    Forwarded("dms", "GET", "/runs/<int:run>/frames", VIEWERS,
              "List the frames of a run.",
              answer=Frame, many=True, errors=(NotFound,)),
    Forwarded("dms", "POST", "/runs/<int:run>/frames", SUBMITTERS,
              "Register frames of a run.",
              answer=Registered, body=NewFrames, errors=(NotFound, Conflict)),
    Forwarded("wfms.intake", "DELETE", "/unmatched/<uuid:uid>", SHIFT,
              "Remove a data set from the list of unmatched data sets.",
              status=204, errors=(NotFound,)),
    Forwarded("wfms.intake", "DELETE", "/unmatched", SHIFT,
              "Remove all data sets that were unmatched at `until` from the list.",
              answer=Dismissed),
    Forwarded("wfms.intake", "POST", "/rematch", SHIFT,
              "Match an unmatched data set again.",
              answer=Rematched, body=Rematch, errors=(NotFound, Conflict)),
    Forwarded("wfms.intake", "POST", "/rematch-all", SHIFT,
              "Match all unmatched data sets again.",
              answer=RematchedAll),
    Forwarded("wms", "POST", "/tasks/<uuid:uid>/retry", SHIFT_OR_OWNER,
              "Retry the failed and quarantined jobs of a task.",
              answer=TaskStatus, errors=(NotFound, Conflict)),
    Forwarded("wms", "GET", "/tasks/<uuid:uid>/jobs", VIEWERS,
              "List the jobs of a task.",
              answer=JobPage, errors=(NotFound,)),
    Forwarded("wms", "GET", "/tasks/<uuid:uid>/explain", VIEWERS,
              "Explain why a task does not run, or why it failed.",
              answer=Explanation, errors=(NotFound,)),
    Forwarded("wms", "GET", "/tasks/<uuid:uid>/outlook", VIEWERS,
              "Return whether the jobs of a task will ever find a node.",
              answer=Schedulability, errors=(NotFound,)),
    Forwarded("wms", "GET", "/jobs/<int:job>", VIEWERS,
              "Return a job with its attempts.",
              answer=Job, errors=(NotFound,)),
    Forwarded("wms", "POST", "/jobs/<int:job>/retry", SHIFT_OR_OWNER,
              "Retry a failed or quarantined job.",
              answer=Job, errors=(NotFound, Conflict)),
    Forwarded("wms", "GET", "/jobs/<int:job>/explain", VIEWERS,
              "Explain why a job does not run, or why it failed.",
              answer=Explanation, errors=(NotFound,)),
    Forwarded("wms", "GET", "/pilots", VIEWERS,
              "List pilots and what they do.",
              answer=PilotList),
    Forwarded("wms", "GET", "/pilots/<uuid:uid>", VIEWERS,
              "Return a pilot with its jobs, last attempts and failures.",
              answer=PilotDetail, errors=(NotFound,)),
    Forwarded("wms", "POST", "/pilots/<uuid:uid>/stop", SHIFT,
              "Ask a pilot to stop its jobs, return them, and end.",
              status=204, errors=(NotFound, Conflict)),
    Forwarded("wms", "DELETE", "/pilots/<uuid:uid>", SHIFT,
              "Remove an ended or lost pilot from the lists.",
              status=204, errors=(NotFound, Conflict)),
    Forwarded("wms", "POST", "/pilots/<uuid:uid>/acknowledge", SHIFT,
              "Acknowledge the loss of a pilot.",
              status=204, body=Acknowledge, errors=(NotFound, Conflict)),
    Forwarded("wms", "POST", "/pilots/<uuid:uid>/drain", SHIFT,
              "Ask a pilot to finish its jobs and end.",
              status=204, errors=(NotFound,)),
    Forwarded("wfms.ask", "GET", "/asking/steps", VIEWERS,
              "List the progress of human tasks of the last 30 days, by step.",
              answer=HumanStepList),
    Forwarded("wfms.ask", "POST", f"{_ASKING}/links", SUBMITTERS,
              "Create a link to the page of a human task. Its key is returned only this once.",
              answer=AskLink, status=201, body=NewLink, errors=(NotFound, Conflict)),
    Forwarded("wfms.ask", "GET", f"{_ASKING}/links", SUBMITTERS,
              "List the links to the page of a human task, newest first, without their keys.",
              answer=AskLinks, errors=(NotFound,)),
    Forwarded("wfms.ask", "DELETE", "/asking/links/<uuid:uid>", SUBMITTERS,
              "End a link. Browsers that used it are not admitted any more.",
              status=204, errors=(NotFound, Conflict)),
    Forwarded("wfms.ask", "GET", f"{_ASKING}/devices", VIEWERS,
              "List the browsers of annotators. Those that seem to answer without looking come"
              " first.",
              answer=AskDevices, errors=(NotFound,)),
    Forwarded("wfms.ask", "PUT", "/asking/devices/<uuid:uid>/standing", SHIFT,
              "Exclude a browser and revoke its annotations, or admit it again.",
              answer=AskDevice, body=SetDeviceState, errors=(NotFound, Conflict)),
)  # fmt: skip
