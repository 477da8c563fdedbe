"""Fill a whole system with an object of each kind, for requests to name."""

import hashlib
import time
from typing import Any

import httpx

from sluice.contracts.access.access import PILOT_PROOF_HEADER
from sluice.contracts.common.states import StorageType
from sluice.pilot_access.key import PilotKey
from tests.architecture.sources import ROOT
from tests.attacks.answered_task import HumanTask, create_answered_task, make_human_task_template
from tests.attacks.whole_system import PILOT, WholeSystem
from tests.waiting import wait_until

WORDCOUNT = (ROOT / "docs/tutorial/wordcount/workflow.cwl").read_text()
TOOL = """\
cwlVersion: v1.2
class: CommandLineTool
baseCommand: cat
inputs: {page: {type: File, inputBinding: {}}}
outputs: {all: stdout}
requirements: {ToolTimeLimit: {timelimit: 10}}
"""
OPERATOR, DMS, WMS = "wfms.operator", "dms", "wms"

#: Names of existing objects by the preceding part of an address or the field of a body or query.
KnownValues = dict[str, list[str]]


def create_known_objects(system: WholeSystem) -> KnownValues:
    """Create a chain of a data set with a leased job, and an object of each other kind."""
    _create_storages(system)
    system.request_json(OPERATOR, "POST", "/api/v1/templates", {"name": "words", "cwl": WORDCOUNT})
    dataset = create_dataset(system, "texts")
    open_dataset = create_dataset(system, "open", close=False)
    request = {"dataset_uid": dataset, "template": "words"}
    chain = system.request_json(OPERATOR, "POST", "/api/v1/chains", request)["uid"]
    wait_until(lambda: _list_tasks(system), what="the tasks of the chain")
    register_pilot(system)
    wait_until(lambda: _lease_job(system), what="a job for the pilot")
    run = {"name": "once", "cwl": WORDCOUNT}
    run_template = system.request_json(OPERATOR, "POST", "/api/v1/run-templates", run)
    system.request_json(OPERATOR, "POST", "/api/v1/tools", {"name": "cat", "cwl": TOOL})
    secret = {"name": "key", "value": "x" * 20, "templates": ["*"]}
    system.request_json(OPERATOR, "POST", "/api/v1/secrets", secret)
    person = {"name": "anna", "role": "admin", "password": "correct horse battery"}
    system.request_json(OPERATOR, "POST", "/api/v1/people", person)
    token = system.request_json(
        OPERATOR, "POST", "/api/v1/tokens", {"label": "x", "person": "anna"}
    )
    system.request_json(OPERATOR, "PUT", "/api/v1/limits", {"name": "licence", "amount": 3})
    system.request_json(DMS, "POST", "/api/v1/periods", {"name": "may"})
    system.request_json(DMS, "POST", "/api/v1/runs", {"number": 7, "period": "may"})
    asset = {"files": [{"path": "model.bin", "size": 3}]}
    draft = system.request_json(OPERATOR, "POST", "/api/v1/assets/model/drafts", asset)
    system.request_json(OPERATOR, "POST", "/api/v1/sites", {"name": "there"})
    tasks = _list_tasks(system)
    uids = [str(task["task_uid"]) for task in tasks]
    return {
        "datasets": [dataset, open_dataset],
        "unmatched": [open_dataset],
        "chains": [chain],
        "tasks": uids,
        "steps": [tasks[0]["step"]],
        "run-templates": [run_template["id"]],
        "drafts": [draft["uid"]],
        "tokens": [token["token"]["id"]],
        "dataset_uid": [open_dataset],
        "task_uid": uids,
        "chain": [chain],
        **_create_human_task_values(system),
        **_list_fixed_values(system),
    }


def _create_human_task_values(system: WholeSystem) -> KnownValues:
    step = _create_human_task(system)
    return {"asking": [step.path], "links": [step.link], "browsers": [step.browser]}


def _list_fixed_values(system: WholeSystem) -> KnownValues:
    return {
        "pilots": [str(PILOT)],
        "files": ["1", "0"],
        "jobs": ["1"],
        "templates": ["words"],
        "tools": ["cat"],
        "secrets": ["key"],
        "people": ["anna"],
        "limits": ["licence"],
        "storages": list(StorageType),
        "assets": ["model"],
        "sites": ["there"],
        "runs": ["7"],
        "queues": ["wms.tasks", "dms.files"],
        "dead": ["1"],
        "template": ["words"],
        "cwl": [WORDCOUNT],
        "text": [WORDCOUNT],
        "url": [(system.home.storage(StorageType.INPUT) / "texts.txt").as_uri()],
        "period": ["may"],
    }


def create_dataset(system: WholeSystem, name: str, *, close: bool = True) -> str:
    new = system.request_json(OPERATOR, "POST", "/api/v1/datasets", {"name": name})
    uid = str(new["uid"])
    path = system.home.storage(StorageType.INPUT) / f"{name}.txt"
    path.write_text("one two\n")
    checksum = f"sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}"
    file = {"seq": 0, "name": path.name, "size": 8, "checksum": checksum, "url": path.as_uri()}
    system.request_json(OPERATOR, "POST", f"/api/v1/datasets/{uid}/files", {"files": [file]})
    if close:
        system.request_json(OPERATOR, "POST", f"/api/v1/datasets/{uid}/close", {})
    return uid


def _create_human_task(system: WholeSystem) -> HumanTask:
    """Create a human task for all people in a chain of its own."""
    text = make_human_task_template(kind="asked", step="look")
    system.request_json(OPERATOR, "POST", "/api/v1/templates", {"name": "asks", "cwl": text})
    request = {"dataset_uid": create_dataset(system, "asked"), "template": "asks"}
    system.request_json(OPERATOR, "POST", "/api/v1/chains", request)
    browser = AnonymousBrowser(system)
    with httpx.Client(transport=browser, base_url="http://wfms.ask") as visit:
        return create_answered_task(
            lambda method, path, body: system.request_json(OPERATOR, method, path, body),
            visit,
            group="everyone",
            template="asks",
        )


class AnonymousBrowser(httpx.BaseTransport):
    """The browser of an anonymous person."""

    def __init__(self, system: WholeSystem) -> None:
        self._system = system

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        request.read()
        answer = self._system.run_coroutine(self._answer(request))
        return httpx.Response(answer.status_code, headers=answer.headers, content=answer.content)

    async def _answer(self, request: httpx.Request) -> httpx.Response:
        app = self._system.links.apps["wfms.ask"]
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app)) as client:
            return await client.send(request)


def _create_storages(system: WholeSystem) -> None:
    for kind in StorageType:
        storage = {"name": kind, "type": kind, "url": system.home.storage(kind).as_uri()}
        system.request_json(DMS, "POST", "/api/v1/storages", storage)


def register_pilot(system: WholeSystem) -> None:
    node = {"cores": 1, "ram": 4000, "disk": 4000}
    registration = {"name": "p", "host": "h", "slots": 2, "version": "1", "resources": node}
    new = {"uid": str(PILOT), **registration}
    proof = {PILOT_PROOF_HEADER: PilotKey.new().proof(time.time())}
    system.request_json(WMS, "POST", "/api/v1/pilots", new, caller="enrolled", headers=proof)


def _lease_job(system: WholeSystem) -> Any:
    path = f"/api/v1/pilots/{PILOT}/lease"
    return system.request_json(WMS, "POST", path, {"jobs": 1, "wait": 0}, caller="the pilot")[
        "jobs"
    ]


def _list_chains(system: WholeSystem) -> list[dict[str, Any]]:
    chains: list[dict[str, Any]] = system.request_json(OPERATOR, "GET", "/api/v1/chains")["chains"]
    return chains


def _list_tasks(system: WholeSystem) -> list[dict[str, Any]]:
    tasks: list[dict[str, Any]] = system.request_json(OPERATOR, "GET", "/api/v1/tasks")["tasks"]
    return tasks
