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
              "Lists data sets, by the order in which they closed.",
              answer=DatasetPage),
    Forwarded("dms", "GET", "/datasets/<uuid:uid>", VIEWERS,
              "Reads a data set.",
              answer=Dataset, errors=(NotFound,)),
    Forwarded("dms", "GET", "/standing", VIEWERS,
              "Lists data sets that grow, and the templates that take slices of them.",
              answer=AppendOnlyList),
    Forwarded("wfms.chains", "DELETE", "/datasets/<uuid:uid>", SHIFT_OR_OWNER,
              "Deletes a data set that no chain needs, by force any.",
              answer=Dataset, status=202, errors=(NotFound, Conflict)),
    Forwarded("wfms.chains", "POST", "/chains/<uuid:uid>/acknowledge", SHIFT_OR_OWNER,
              "Says who has seen that a chain failed.",
              answer=Chain, body=Acknowledge, errors=(NotFound, Conflict)),
    Forwarded("dms", "GET", "/datasets/<uuid:uid>/files", VIEWERS,
              "Lists a data set's files, in order.",
              answer=FilePage, errors=(NotFound,)),
    Forwarded("dms", "GET", "/datasets/<uuid:uid>/files/<int:file>", VIEWERS,
              "Reads one of a data set's files.",
              answer=File, errors=(NotFound,)),
    Forwarded("dms", "POST", "/datasets/<uuid:uid>/files", SUBMITTERS,
              "Registers files of a data set.",
              answer=Registered, body=NewFiles, errors=(NotFound, Conflict)),
    Forwarded("dms", "POST", "/datasets/<uuid:uid>/close", SUBMITTERS,
              "Closes a data set: it is complete.",
              answer=Dataset, body=CloseDataset, errors=(NotFound, Conflict)),
    Forwarded("dms", "GET", "/storages", VIEWERS,
              "Lists storages, those with the most free space first.",
              answer=Storage, many=True),
    Forwarded("dms", "POST", "/storages", ADMINS,
              "Registers a storage.",
              answer=Storage, status=201, again=200, body=NewStorage, errors=(Conflict,)),
    Forwarded("dms", "POST", "/storages/<string:name>/disable", ADMINS,
              "Takes a storage out of use: no new data sets.",
              answer=Storage, errors=(NotFound,)),
    Forwarded("dms", "POST", "/storages/<string:name>/enable", ADMINS,
              "Takes a storage into use again.",
              answer=Storage, errors=(NotFound, Conflict)),
    Forwarded("dms", "PUT", "/storages/<string:name>/marks", ADMINS,
              "Sets the water marks of an input storage.",
              answer=Storage, body=WaterMarks, errors=(NotFound,)),
    Forwarded("dms", "DELETE", "/storages/<string:name>/marks", ADMINS,
              "Takes the water marks of a storage away.",
              answer=Storage, errors=(NotFound,)),
    Forwarded("dms", "GET", "/periods", VIEWERS,
              "Lists periods of data taking.",
              answer=Period, many=True),
    Forwarded("dms", "POST", "/periods", SUBMITTERS,
              "Registers a period.",
              answer=Period, status=201, again=200, body=NewPeriod, errors=(Conflict,)),
    Forwarded("dms", "PATCH", "/periods/<string:name>", SUBMITTERS,
              "Sets when a period ended.",
              answer=Period, body=EndTime, errors=(NotFound,)),
    Forwarded("dms", "GET", "/runs", VIEWERS,
              "Lists runs, or those of a period.",
              answer=Run, many=True, errors=(NotFound,)),
    Forwarded("dms", "POST", "/runs", SUBMITTERS,
              "Registers a run.",
              answer=Run, status=201, again=200, body=NewRun, errors=(Conflict,)),
    Forwarded("dms", "GET", "/runs/<int:number>", VIEWERS,
              "Reads a run.",
              answer=Run, errors=(NotFound,)),
    Forwarded("dms", "PATCH", "/runs/<int:number>", SUBMITTERS,
              "Sets when a run ended.",
              answer=Run, body=EndTime, errors=(NotFound,)),
    Forwarded("dms", "GET", "/runs/<int:run>/frames", VIEWERS,
              "Lists the frames of a run.",
              answer=Frame, many=True, errors=(NotFound,)),
    Forwarded("dms", "POST", "/runs/<int:run>/frames", SUBMITTERS,
              "Registers frames of a run.",
              answer=Registered, body=NewFrames, errors=(NotFound, Conflict)),
    Forwarded("wfms.intake", "DELETE", "/unmatched/<uuid:uid>", SHIFT,
              "Takes a data set off the list of unmatched ones.",
              status=204, errors=(NotFound,)),
    Forwarded("wfms.intake", "DELETE", "/unmatched", SHIFT,
              "Takes all data sets off the list that were unmatched by the time `until`.",
              answer=Dismissed),
    Forwarded("wfms.intake", "POST", "/rematch", SHIFT,
              "Matches an unmatched data set again.",
              answer=Rematched, body=Rematch, errors=(NotFound, Conflict)),
    Forwarded("wfms.intake", "POST", "/rematch-all", SHIFT,
              "Matches all unmatched data sets again.",
              answer=RematchedAll),
    Forwarded("wms", "POST", "/tasks/<uuid:uid>/retry", SHIFT_OR_OWNER,
              "Gives failed and held jobs another round.",
              answer=TaskStatus, errors=(NotFound, Conflict)),
    Forwarded("wms", "GET", "/tasks/<uuid:uid>/jobs", VIEWERS,
              "Lists the jobs of a task.",
              answer=JobPage, errors=(NotFound,)),
    Forwarded("wms", "GET", "/tasks/<uuid:uid>/explain", VIEWERS,
              "Says why a task does not run, or why it failed.",
              answer=Explanation, errors=(NotFound,)),
    Forwarded("wms", "GET", "/tasks/<uuid:uid>/outlook", VIEWERS,
              "Says whether a task's jobs will ever find a node.",
              answer=Schedulability, errors=(NotFound,)),
    Forwarded("wms", "GET", "/jobs/<int:job>", VIEWERS,
              "Reads a job with its attempts.",
              answer=Job, errors=(NotFound,)),
    Forwarded("wms", "POST", "/jobs/<int:job>/retry", SHIFT_OR_OWNER,
              "Gives a failed or held job another round.",
              answer=Job, errors=(NotFound, Conflict)),
    Forwarded("wms", "GET", "/jobs/<int:job>/explain", VIEWERS,
              "Says why a job does not run, or why it failed.",
              answer=Explanation, errors=(NotFound,)),
    Forwarded("wms", "GET", "/pilots", VIEWERS,
              "Lists pilots and what they do.",
              answer=PilotList),
    Forwarded("wms", "GET", "/pilots/<uuid:uid>", VIEWERS,
              "Reads a pilot with what it has, what it did last, and what failed there.",
              answer=PilotDetail, errors=(NotFound,)),
    Forwarded("wms", "POST", "/pilots/<uuid:uid>/stop", SHIFT,
              "Asks a pilot to stop its jobs, hand them back, and end.",
              status=204, errors=(NotFound, Conflict)),
    Forwarded("wms", "DELETE", "/pilots/<uuid:uid>", SHIFT,
              "Takes a pilot off the lists that has ended or was lost.",
              status=204, errors=(NotFound, Conflict)),
    Forwarded("wms", "POST", "/pilots/<uuid:uid>/acknowledge", SHIFT,
              "Says who has seen that a pilot was lost.",
              status=204, body=Acknowledge, errors=(NotFound, Conflict)),
    Forwarded("wms", "POST", "/pilots/<uuid:uid>/drain", SHIFT,
              "Asks a pilot to finish what it has, and end.",
              status=204, errors=(NotFound,)),
    Forwarded("wfms.ask", "GET", "/asking/steps", VIEWERS,
              "Lists steps that ask people now, or did within 30 days: how far they are.",
              answer=HumanStepList),
    Forwarded("wfms.ask", "POST", f"{_ASKING}/links", SUBMITTERS,
              "Makes a link by which the step's page is opened; its key is told once.",
              answer=AskLink, status=201, body=NewLink, errors=(NotFound, Conflict)),
    Forwarded("wfms.ask", "GET", f"{_ASKING}/links", SUBMITTERS,
              "Lists links to the step's page, newest first, without their keys.",
              answer=AskLinks, errors=(NotFound,)),
    Forwarded("wfms.ask", "DELETE", "/asking/links/<uuid:uid>", SUBMITTERS,
              "Ends a link: browsers that came by it are not let in any more.",
              status=204, errors=(NotFound, Conflict)),
    Forwarded("wfms.ask", "GET", f"{_ASKING}/devices", VIEWERS,
              "Lists browsers that answered, those first that seem to answer without looking.",
              answer=AskDevices, errors=(NotFound,)),
    Forwarded("wfms.ask", "PUT", "/asking/devices/<uuid:uid>/standing", SHIFT,
              "Takes back all that a browser answered, or has it count again.",
              answer=AskDevice, body=SetDeviceState, errors=(NotFound, Conflict)),
)  # fmt: skip
