"""Set up a system with two groups, their objects and their requests."""

import re
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import httpx

from sluice.contracts.access.access import Role
from sluice.network.http_clients import trusted_authorities
from tests.attacks.answered_task import HumanTask, create_answered_task, make_human_task_template
from tests.attacks.credentials import SystemWithUrl, ask_as_admin, make_bearer_header
from tests.unit.access.table import Row
from tests.waiting import wait_until

#: A mark in the name or the content of all objects of the first group.
MARK = "nobodyelses"

#: A map and a merge with a log. The mark is in the names of its steps and files.
TEMPLATE = f"""
cwlVersion: v1.2
class: Workflow
$namespaces: {{sluice: "urn:sluice:cwl:"}}
requirements: {{ScatterFeatureRequirement: {{}}}}
sluice:match: {{kind: {MARK}}}
sluice:retention: {{input: keep, logs: keep}}
inputs: {{texts: "File[]"}}
outputs:
  all{MARK}: {{type: File, outputSource: {MARK}_all/all}}
steps:
  {MARK}_each:
    scatter: text
    in: {{text: texts}}
    out: [one]
    run:
      class: CommandLineTool
      baseCommand: [sh, -c, "cat $0; echo {MARK} >&2"]
      arguments: [$(inputs.text.path)]
      inputs: {{text: File}}
      stdout: {MARK}.txt
      outputs: {{one: stdout}}
  {MARK}_all:
    in: {{texts: {MARK}_each/one}}
    out: [all]
    run:
      class: CommandLineTool
      baseCommand: cat
      arguments: [$(inputs.texts)]
      inputs: {{texts: "File[]"}}
      stdout: all{MARK}.txt
      outputs: {{all: stdout}}
"""

_PART = re.compile(r"\{(\w+)\}")
#: Path prefixes of services of an embedded system by their names in the table of permissions.
_FOLDER = {"wfms.operator": ""}


@dataclass(frozen=True, slots=True)
class Member:
    """A member of a group with a token."""

    name: str
    token: str
    url: str

    def ask(self, method: str, path: str, **more: Any) -> httpx.Response:
        return httpx.request(
            method,
            f"{self.url}{path}",
            headers=make_bearer_header(self.token),
            timeout=60,
            verify=trusted_authorities(self.url),
            **more,
        )


@dataclass(frozen=True, slots=True)
class GroupObjects:
    """Objects of the first group: the results of a chain and an unmatched data set."""

    owner: Member
    template: str
    dataset: str
    unmatched: str
    chain: str
    task: str
    job: int
    file: int
    log_url: str
    run_template: str
    human_task: HumanTask

    def fill_address(self, row: Row) -> str | None:
        """Return the address of the row with objects of the owner, or None if it names none."""
        identifiers: dict[str, dict[str, object]] = {
            "datasets": {"uid": self.dataset, "file": self.file},
            "chains": {"uid": self.chain},
            "tasks": {"uid": self.task},
            "jobs": {"job": self.job, "job_id": self.job},
            "templates": {"name": self.template, "draft": self.run_template},
            "run-templates": {"template_id": self.run_template},
            "unmatched": {"uid": self.unmatched},
            "asking": {
                **self.human_task._asdict(),
                "uid": self.human_task.link if "/links" in row.address else self.human_task.browser,
            },
        }
        kind = row.address.removeprefix("/api/v1").split("/")[1]
        if kind not in identifiers or "{" not in row.address:
            return None
        return get_service_path(
            row, _PART.sub(lambda part: str(identifiers[kind][part[1]]), row.address)
        )

    def fill_missing_address(self, row: Row) -> str:
        """Return the address with objects that do not exist."""
        missing_objects = replace(
            self,
            template="nothing-at-all",
            dataset=str(uuid4()),
            unmatched=str(uuid4()),
            chain=str(uuid4()),
            task=str(uuid4()),
            job=2**40,
            run_template=str(uuid4()),
            human_task=HumanTask(
                self.human_task.group,
                "nothing-at-all",
                "nothing-at-all",
                str(uuid4()),
                str(uuid4()),
            ),
        )
        return missing_objects.fill_address(row) or ""


def get_service_path(row: Row, address: str) -> str:
    folder = _FOLDER.get(row.service, f"/services/{row.service.removeprefix('wfms.')}")
    return f"{folder}{address}"


def create_member(system: SystemWithUrl, *groups: str, role: Role = Role.SHIFT) -> Member:
    name = f"p-{uuid4().hex[:8]}"
    ask_as_admin(system, "POST", "/people", {"name": name, "role": role, "groups": list(groups)})
    token = ask_as_admin(system, "POST", "/tokens", {"label": "x", "person": name})
    return Member(name, token["secret"], system.url)


def create_group_objects(system: SystemWithUrl, owner: Member) -> GroupObjects:
    """Publish a template, register data and wait for its chain."""
    name = f"{MARK}-wf"
    read_json(owner.ask("POST", "/api/v1/templates", json={"name": name, "cwl": TEMPLATE}))
    run = {"name": f"{MARK}-run", "cwl": TEMPLATE}
    run_template = read_json(owner.ask("POST", "/api/v1/run-templates", json=run))["id"]
    dataset = create_dataset(owner, system, f"{MARK}-week", {"kind": MARK})
    unmatched = create_dataset(owner, system, f"{MARK}-odd", {"kind": f"{MARK}-odd"})
    wait_until(lambda: list_chains(owner, dataset), what="the chain of the owner")
    [chain] = list_chains(owner, dataset)
    wait_until(
        lambda: read_json(owner.ask("GET", f"/api/v1/chains/{chain['uid']}"))["ended_at"],
        what="the end of the chain",
        seconds=60,
    )
    task = read_json(owner.ask("GET", f"/api/v1/chains/{chain['uid']}"))["steps"][0]["task_uid"]
    job = read_json(owner.ask("GET", f"/api/v1/tasks/{task}/jobs"))["jobs"][0]["id"]
    attempts = read_json(owner.ask("GET", f"/api/v1/jobs/{job}"))["attempts"]
    wait_until(
        lambda: MARK in owner.ask("GET", "/api/v1/unmatched").text, what="the unmatched data set"
    )
    return GroupObjects(
        human_task=_create_human_task(system, owner),
        owner=owner,
        template=name,
        dataset=dataset,
        unmatched=unmatched,
        chain=chain["uid"],
        task=task,
        job=job,
        file=read_json(owner.ask("GET", f"/api/v1/datasets/{dataset}/files"))["files"][0]["id"],
        log_url=attempts[-1]["log_url"],
        run_template=run_template,
    )


def _create_human_task(system: SystemWithUrl, owner: Member) -> HumanTask:
    """Return a human task of the owner and a browser named with the mark."""
    name, kind = f"{MARK}-asks", f"{MARK}-asked"
    text = make_human_task_template(kind=kind, step=f"{MARK}_look")
    read_json(owner.ask("POST", "/api/v1/templates", json={"name": name, "cwl": text}))
    create_dataset(owner, system, kind, {"kind": kind})
    browser = httpx.Client(base_url=system.url, headers={"user-agent": MARK}, timeout=30)
    with browser:
        return create_answered_task(
            lambda method, path, body: read_json(owner.ask(method, path, json=body)),
            browser,
            group="alpha",
            template=name,
        )


def list_chains(owner: Member, dataset: str) -> list[dict[str, Any]]:
    answer = read_json(owner.ask("GET", f"/api/v1/chains?dataset_uid={dataset}"))
    return list(answer["chains"])


def create_dataset(
    owner: Member, system: SystemWithUrl, name: str, meta: dict[str, Any], *, shared: str = ""
) -> str:
    """Register a data set of two files and return its UUID. ``shared`` is a group that may read
    it."""
    storages = read_json(owner.ask("GET", "/api/v1/storages"))
    [storage] = [each for each in storages if each["type"] == "input"]
    folder = Path(urlsplit(storage["url"]).path) / name
    url = f"{storage['url']}/{name}"
    dataset = read_json(
        owner.ask("POST", "/api/v1/datasets", json={"name": name, "meta": meta, "url": url})
    )
    folder.mkdir(parents=True)
    files = [_create_file(folder, url, seq) for seq in range(2)]
    uid = str(dataset["uid"])
    if shared:
        read_json(owner.ask("PUT", f"/api/v1/datasets/{uid}/share", json={"shared_with": [shared]}))
    read_json(owner.ask("POST", f"/api/v1/datasets/{uid}/files", json={"files": files}))
    read_json(owner.ask("POST", f"/api/v1/datasets/{uid}/close", json={"files": len(files)}))
    return uid


def _create_file(folder: Path, url: str, seq: int) -> dict[str, Any]:
    name, content = f"{MARK}-{seq}.txt", f"{MARK} {seq}\n".encode()
    (folder / name).write_bytes(content)
    return {
        "seq": seq,
        "name": name,
        "size": len(content),
        "checksum": f"sha256:{sha256(content).hexdigest()}",
        "url": f"{url}/{name}",
    }


def read_json(answer: httpx.Response) -> Any:
    assert answer.is_success, f"{answer.request.url}: {answer.status_code} {answer.text}"
    return answer.json()
