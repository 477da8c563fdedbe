"""Fill a whole system with an object of each kind, for requests to name."""

import hashlib
import time
from typing import Any

import httpx

from sluice.contracts.access.access import PILOT_PROOF_HEADER
from sluice.contracts.common.states import StorageType
from sluice.pilot_access.key import PilotKey
from tests.architecture.sources import ROOT
from tests.attacks.answered_task import AskedStep, asked_step, human_task_template
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


def filled(system: WholeSystem) -> KnownValues:
    """Create a chain of a data set with a leased job, and an object of each other kind."""
    _storages(system)
    system.ask_json(OPERATOR, "POST", "/api/v1/templates", {"name": "words", "cwl": WORDCOUNT})
    dataset = data_set(system, "texts")
    waiting = data_set(system, "open", close=False)
    request = {"dataset_uid": dataset, "template": "words"}
    chain = system.ask_json(OPERATOR, "POST", "/api/v1/chains", request)["uid"]
    wait_until(lambda: _tasks(system), what="the tasks of the chain")
    pilot_of(system)
    wait_until(lambda: _leased(system), what="a job for the pilot")
    run = {"name": "once", "cwl": WORDCOUNT}
    ran = system.ask_json(OPERATOR, "POST", "/api/v1/run-templates", run)
    system.ask_json(OPERATOR, "POST", "/api/v1/tools", {"name": "cat", "cwl": TOOL})
    secret = {"name": "key", "value": "x" * 20, "templates": ["*"]}
    system.ask_json(OPERATOR, "POST", "/api/v1/secrets", secret)
    person = {"name": "anna", "role": "admin", "password": "correct horse battery"}
    system.ask_json(OPERATOR, "POST", "/api/v1/people", person)
    token = system.ask_json(OPERATOR, "POST", "/api/v1/tokens", {"label": "x", "person": "anna"})
    system.ask_json(OPERATOR, "PUT", "/api/v1/limits", {"name": "licence", "amount": 3})
    system.ask_json(DMS, "POST", "/api/v1/periods", {"name": "may"})
    system.ask_json(DMS, "POST", "/api/v1/runs", {"number": 7, "period": "may"})
    asset = {"files": [{"path": "model.bin", "size": 3}]}
    draft = system.ask_json(OPERATOR, "POST", "/api/v1/assets/model/drafts", asset)
    system.ask_json(OPERATOR, "POST", "/api/v1/sites", {"name": "there"})
    tasks = _tasks(system)
    uids = [str(task["task_uid"]) for task in tasks]
    return {
        "datasets": [dataset, waiting],
        "unmatched": [waiting],
        "chains": [chain],
        "tasks": uids,
        "steps": [tasks[0]["step"]],
        "run-templates": [ran["id"]],
        "drafts": [draft["uid"]],
        "tokens": [token["token"]["id"]],
        "dataset_uid": [waiting],
        "task_uid": uids,
        "chain": [chain],
        **_of_people(system),
        **_fixed(system),
    }


def _of_people(system: WholeSystem) -> KnownValues:
    step = _create_human_task(system)
    return {"asking": [step.place], "links": [step.link], "devices": [step.device]}


def _fixed(system: WholeSystem) -> KnownValues:
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


def data_set(system: WholeSystem, name: str, *, close: bool = True) -> str:
    new = system.ask_json(OPERATOR, "POST", "/api/v1/datasets", {"name": name})
    uid = str(new["uid"])
    path = system.home.storage(StorageType.INPUT) / f"{name}.txt"
    path.write_text("one two\n")
    checksum = f"sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}"
    file = {"seq": 0, "name": path.name, "size": 8, "checksum": checksum, "url": path.as_uri()}
    system.ask_json(OPERATOR, "POST", f"/api/v1/datasets/{uid}/files", {"files": [file]})
    if close:
        system.ask_json(OPERATOR, "POST", f"/api/v1/datasets/{uid}/close", {})
    return uid


def _create_human_task(system: WholeSystem) -> AskedStep:
    """Create a human task for all people in a chain of its own."""
    text = human_task_template(kind="asked", step="look")
    system.ask_json(OPERATOR, "POST", "/api/v1/templates", {"name": "asks", "cwl": text})
    request = {"dataset_uid": data_set(system, "asked"), "template": "asks"}
    system.ask_json(OPERATOR, "POST", "/api/v1/chains", request)
    browser = WholeBrowser(system)
    with httpx.Client(transport=browser, base_url="http://wfms.ask") as visit:
        return asked_step(
            lambda method, path, body: system.ask_json(OPERATOR, method, path, body),
            visit,
            group="everyone",
            template="asks",
        )


class WholeBrowser(httpx.BaseTransport):
    """The browser of an anonymous person."""

    def __init__(self, system: WholeSystem) -> None:
        self._system = system

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        request.read()
        answer = self._system.run(self._answer(request))
        return httpx.Response(answer.status_code, headers=answer.headers, content=answer.content)

    async def _answer(self, request: httpx.Request) -> httpx.Response:
        app = self._system.links.apps["wfms.ask"]
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app)) as client:
            return await client.send(request)


def _storages(system: WholeSystem) -> None:
    for kind in StorageType:
        storage = {"name": kind, "type": kind, "url": system.home.storage(kind).as_uri()}
        system.ask_json(DMS, "POST", "/api/v1/storages", storage)


def pilot_of(system: WholeSystem) -> None:
    node = {"cores": 1, "ram": 4000, "disk": 4000}
    registration = {"name": "p", "host": "h", "slots": 2, "version": "1", "resources": node}
    new = {"uid": str(PILOT), **registration}
    proof = {PILOT_PROOF_HEADER: PilotKey.new().proof(time.time())}
    system.ask_json(WMS, "POST", "/api/v1/pilots", new, caller="enrolled", headers=proof)


def _leased(system: WholeSystem) -> Any:
    path = f"/api/v1/pilots/{PILOT}/lease"
    return system.ask_json(WMS, "POST", path, {"jobs": 1, "wait": 0}, caller="the pilot")["jobs"]


def _chains(system: WholeSystem) -> list[dict[str, Any]]:
    chains: list[dict[str, Any]] = system.ask_json(OPERATOR, "GET", "/api/v1/chains")["chains"]
    return chains


def _tasks(system: WholeSystem) -> list[dict[str, Any]]:
    tasks: list[dict[str, Any]] = system.ask_json(OPERATOR, "GET", "/api/v1/tasks")["tasks"]
    return tasks
