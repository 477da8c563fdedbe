"""Tests of permissions that depend on names: secrets of templates, versions of assets and of tools.
The attacker is not in the group that owns the name."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import httpx
import pytest

from sluice.contracts.access.access import Role
from sluice.contracts.common.states import StorageType
from sluice.servicekit.access.principal import Person
from tests.attacks.whole_system import WholeSystem, open_whole_system
from tests.servers.postgres import PostgresServer

ADMIN = Person("root", Role.ADMIN)
ANNA = Person("anna", Role.SUBMITTER, ("alpha",))
BO = Person("bo", Role.SUBMITTER, ("beta",))
#: A template without files, so that a chain needs no data.
TELL = """\
cwlVersion: v1.2
class: Workflow
$namespaces: {sluice: "urn:sluice:cwl:", cwltool: "http://commonwl.org/cwltool#"}
sluice:bind: {token: secret:places-api}
inputs: {token: string}
outputs: {told: {type: File, outputSource: tell/told}}
steps:
  tell:
    in: {key: token}
    out: [told]
    run:
      class: CommandLineTool
      baseCommand: [sh, -c, 'printf %s "$KEY"']
      hints: {cwltool:Secrets: {secrets: [key]}}
      requirements: {EnvVarRequirement: {envDef: {KEY: $(inputs.key)}}}
      inputs: {key: string}
      outputs: {told: stdout}
"""
TOOL = """\
cwlVersion: v1.2
class: CommandLineTool
baseCommand: [sort]
inputs: {text: {type: File, inputBinding: {}}}
outputs: {sorted: stdout}
"""
FILE = {"path": "names.txt", "size": 3}


class PeopleSystem:
    def __init__(self, system: WholeSystem) -> None:
        self._system = system

    def ask(self, person: Person, method: str, path: str, body: Any = None) -> httpx.Response:
        http = self._system.links.http_of(person, "wfms.operator")
        return self._system.run_coroutine(http.request(method, f"/api/v1{path}", json=body))

    def read_json(self, person: Person, method: str, path: str, body: Any = None) -> Any:
        answer = self.ask(person, method, path, body)
        assert answer.is_success, (method, path, answer.text)
        return answer.json() if answer.content else None

    def run_template(
        self, person: Person, name: str, group: str | None = None, comment: str = ""
    ) -> httpx.Response:
        """Send the requests of ``sluice run --name NAME``."""
        sent = {"name": name, "cwl": f"{TELL}# {comment}\n", "group": group}
        stored = self.read_json(person, "POST", "/run-templates", sent)
        asked_for = {"template": name, "run_template": stored["id"]}
        return self.ask(person, "POST", "/chains", asked_for)

    def set_secret(self, **more: Any) -> httpx.Response:
        new = {"name": "places-api", "value": "hunter2-hunter2", **more}
        return self.ask(ADMIN, "POST", "/secrets", new)


@pytest.fixture(scope="module")
def people_system(
    postgres_server: PostgresServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[PeopleSystem]:
    with open_whole_system(postgres_server, tmp_path_factory.mktemp("whole") / "home") as system:
        scene = PeopleSystem(system)
        url = system.home.storage(StorageType.INPUT).as_uri()
        system.request_json(
            "dms", "POST", "/api/v1/storages", {"name": "in", "type": "input", "url": url}
        )
        for person in (ANNA, BO):
            account = {"name": person.name, "role": person.role, "groups": list(person.groups)}
            scene.read_json(ADMIN, "POST", "/people", account)
        scene.read_json(ANNA, "POST", "/templates", {"name": "places", "cwl": TELL})
        yield scene


@pytest.mark.parametrize("group", [None, "beta", "everyone"])
def test_secret_is_refused_to_a_run_with_only_the_name_of_its_template(
    people_system: PeopleSystem, group: str | None
) -> None:
    assert people_system.set_secret(templates=["places"]).json()["versions"][0]["group"] == "alpha"

    refused = people_system.run_template(BO, "places", group)

    assert refused.status_code == 422, refused.text
    assert "of the group alpha, and this is 'places' of the group" in refused.text
    assert people_system.ask(ANNA, "POST", "/chains", {"template": "places"}).is_success
    assert people_system.run_template(ANNA, "places").is_success


def test_secret_is_refused_to_a_matching_template_of_another_group(
    people_system: PeopleSystem,
) -> None:
    without = people_system.set_secret(templates=["places*"])
    assert without.status_code == 422
    assert "give the group whose templates called places* may use it (--group GROUP" in without.text
    assert people_system.set_secret(templates=["places*"], group="alpha").is_success
    people_system.read_json(BO, "POST", "/templates", {"name": "places-of-bo", "cwl": TELL})

    refused = people_system.ask(BO, "POST", "/chains", {"template": "places-of-bo"})

    assert refused.status_code == 422
    assert "this is 'places-of-bo' of the group beta" in refused.text


def test_secret_for_group_everyone_is_refused_to_runs_and_submitters(
    people_system: PeopleSystem,
) -> None:
    people_system.read_json(ADMIN, "POST", "/templates", {"name": "cities", "cwl": TELL})
    assert people_system.set_secret(templates=["cities", "towns"], group="everyone").is_success

    assert "this one was not published" in people_system.run_template(BO, "cities", "everyone").text
    for name in ("cities", "towns"):
        sent = {"name": name, "cwl": f"{TELL}# of bo\n", "group": "everyone"}
        answer = people_system.ask(BO, "POST", "/templates", sent)
        assert answer.status_code == 403, answer.text
        assert "which requires the role shift" in answer.text
    people_system.read_json(BO, "POST", "/templates", {"name": "towns", "cwl": TELL})
    sharing = {"shared_with": [], "group": "everyone"}
    assert people_system.ask(BO, "PUT", "/templates/towns/share", sharing).status_code == 403
    assert people_system.ask(BO, "POST", "/chains", {"template": "cities"}).is_success
    assert people_system.run_template(ADMIN, "cities", comment="of root").is_success


def test_run_of_everyone_uses_secrets_by_the_role_of_its_request(
    people_system: PeopleSystem,
) -> None:
    """The account of the person may have a higher role than the token of the request."""
    people_system.read_json(ADMIN, "POST", "/people", {"name": "shia", "role": Role.SHIFT})
    assert people_system.set_secret(templates=["rivers"], group="everyone").is_success
    shia = Person("shia", Role.SHIFT)

    refused = people_system.run_template(replace(shia, role=Role.SUBMITTER), "rivers", "everyone")
    assert "this one was not published" in refused.text
    assert "this one was not published" in people_system.run_template(BO, "rivers", "everyone").text
    assert people_system.run_template(shia, "rivers", "everyone").is_success, (
        "a submitter blocks no text"
    )


def test_asset_versions_of_another_group_are_refused(people_system: PeopleSystem) -> None:
    """Templates of the group always get the newest version."""
    draft = people_system.read_json(ANNA, "POST", "/assets/gazetteer/drafts", {"files": [FILE]})
    sent = f"/assets/gazetteer/drafts/{draft['uid']}"

    for method, path, body in (
        ("POST", "/assets/gazetteer/drafts", {"files": [FILE]}),
        ("POST", f"{sent}/files/0", None),
        ("POST", sent, None),
    ):
        refused = people_system.ask(BO, method, path, body)
        assert refused.status_code == 403, (path, refused.text)
        assert "belongs to anna of alpha" in refused.text
    shift_of_beta = Person("bea", Role.SHIFT, ("beta",))
    assert people_system.ask(shift_of_beta, "DELETE", "/assets/gazetteer").status_code == 403
    assert people_system.ask(ANNA, "POST", "/assets/gazetteer/drafts", {"files": [FILE]}).is_success


@pytest.mark.parametrize("owner", [ANNA, ADMIN])
def test_tool_versions_of_another_group_are_refused(
    people_system: PeopleSystem, owner: Person
) -> None:
    """Workflows use the newest version. Tools of the group everyone can be used by all groups."""
    name = f"sort-of-{owner.name}"
    people_system.read_json(owner, "POST", "/tools", {"name": name, "cwl": TOOL})

    other = {"name": name, "cwl": TOOL.replace("sort]", "tac]")}
    refused = people_system.ask(BO, "POST", "/tools", other)

    assert refused.status_code == 403
    assert "choose another name" in refused.text
    assert people_system.read_json(BO, "GET", f"/tools/{name}")["version"] == 1
    assert people_system.read_json(owner, "POST", "/tools", other)["tool"]["version"] == 2
