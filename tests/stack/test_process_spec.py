"""The stack runs docker-compose.yml's commands with separate ports and folders."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from stack.compose import InvalidComposeFile, read_compose
from stack.network import Network
from stack.plan import PartKind, StackPlan, make_plan
from stack.process_spec import ProcessSpec, StackPlace, make_spec
from stack.stack import make_secrets
from tests.deploy.composition import read_yaml

ROOT = Path(__file__).parents[2]
COMPOSE = ROOT / "docker-compose.yml"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    make_secrets(ROOT, tmp_path / "secrets")
    return tmp_path


def make_specs(home: Path, **replicas: int) -> tuple[StackPlan, dict[str, ProcessSpec]]:
    plan = make_plan(read_compose(COMPOSE), root=ROOT, secrets=home / "secrets", replicas=replicas)
    network, site = Network(plan), StackPlace(ROOT, home, plan.volumes)
    process_specs = [
        make_spec(service, number, site, network)
        for service in plan.services.values()
        for number in range(service.replicas)
    ]
    return plan, {spec.name: spec for spec in process_specs}


def test_every_service_of_the_file_is_run_or_listed_as_left_out(home: Path) -> None:
    plan, specs_by_name = make_specs(home)
    assert {*plan.services, *plan.skipped_services} == set(read_yaml(COMPOSE)["services"])
    assert {spec.service.name for spec in specs_by_name.values()} == set(plan.services)
    assert {"wms-1", "wms-2", "chains-1", "chains-2", "pilot-1", "pilot-2", "pilot-3"} <= set(
        specs_by_name
    )


def test_commands_equal_those_of_the_file_except_for_paths(home: Path) -> None:
    _, specs_by_name = make_specs(home)
    compared_specs = [
        spec
        for spec in specs_by_name.values()
        if spec.service.kind in {PartKind.SERVICE, PartKind.PILOT, PartKind.SETUP}
    ]
    assert len(compared_specs) > 10
    for spec in compared_specs:
        arguments = [word.replace(str(home / "data"), "/data") for word in spec.command[1:]]
        assert [Path(spec.command[0]).name, *arguments] == spec.service.definition.command


def test_replicas_have_separate_ports_and_folders(home: Path) -> None:
    _, specs_by_name = make_specs(home, wms=3)
    copies = [specs_by_name[f"wms-{number}"] for number in (1, 2, 3)]
    assert len({spec.environment["SLUICE_WMS_PORT"] for spec in copies}) == 3
    for variable in ("HOME", "TMPDIR", "SLUICE_SECRETS_DIR"):
        assert (
            len(
                {
                    spec.environment[variable]
                    for spec in specs_by_name.values()
                    if variable in spec.environment
                }
            )
            >= 3
        )


def test_process_has_only_its_own_secrets(home: Path) -> None:
    _, specs_by_name = make_specs(home)
    for spec in specs_by_name.values():
        own = {Path(mount.target).name for mount in spec.service.definition.mounted_secrets()}
        assert {path.name for path in (spec.folder / "secrets").iterdir()} == own
    assert "sluice_wms_database_url" not in {
        path.name for path in (specs_by_name["dms-1"].folder / "secrets").iterdir()
    }


def test_names_and_paths_of_containers_are_replaced(home: Path) -> None:
    plan, specs_by_name = make_specs(home)
    names = re.compile(rf"(^|//)({'|'.join(plan.services)}):\d")
    for spec in specs_by_name.values():
        texts = [*spec.command, *spec.environment.values()]
        texts += [path.read_text() for path in (spec.folder / "secrets").iterdir()]
        for text in texts:
            assert not names.search(text.rpartition("@")[2]), (spec.name, text)
            assert not text.startswith(("/data", "/run/secrets", "0.0.0.")), (spec.name, text)


def test_each_pair_of_services_has_its_own_link(home: Path) -> None:
    plan = make_plan(read_compose(COMPOSE), root=ROOT, secrets=home / "secrets", replicas={})
    network = Network(plan)
    assert network.address("chains", "dms", 8081) != network.address("wms", "dms", 8081)
    assert network.address("chains", "dms", 8081) == network.address("chains", "dms", 8081)
    assert set(network.links) == {"chains>dms", "wms>dms"}


def test_pilots_connect_to_the_wms_without_the_gateway(home: Path) -> None:
    plan = make_plan(read_compose(COMPOSE), root=ROOT, secrets=home / "secrets", replicas={})
    assert plan.services["pilot"].environment["SLUICE_PILOT_WMS_URL"] == "http://wms:8082"
    assert "gateway" in plan.skipped_services


def change(edit: Callable[[dict[str, Any]], None], home: Path) -> Path:
    compose = read_yaml(COMPOSE)
    edit(compose)
    path = home / "changed.yml"
    path.write_text(yaml.safe_dump(compose))
    return path


@pytest.mark.parametrize(
    ("edit", "complaint"),
    [
        (
            lambda compose: compose["services"]["dms"].update(network_mode="host"),
            "services.dms.network_mode",
        ),
        (
            lambda compose: compose["services"]["dms"].update(image="somewhere/else:1"),
            "somewhere/else",
        ),
        (
            lambda compose: compose["services"]["dms"]["healthcheck"].update(interval="soon"),
            "healthcheck.interval",
        ),
        (
            lambda compose: compose["services"]["dms"]["healthcheck"].update(retries="${RETRIES}"),
            "variables",
        ),
        (
            lambda compose: compose["services"]["dms"].update(secrets=["no_such_secret"]),
            "no_such_secret",
        ),
    ],
    ids=["field", "image", "duration", "variable", "secret"],
)
def test_unknown_setting_of_the_file_is_refused_by_name(
    edit: Callable[[dict[str, Any]], None], complaint: str, home: Path
) -> None:
    with pytest.raises(InvalidComposeFile, match=re.escape(complaint)):
        make_plan(
            read_compose(change(edit, home)), root=ROOT, secrets=home / "secrets", replicas={}
        )


def make_plan_with_environment_file(home: Path, text: str) -> StackPlan:
    file = home / "own.env"
    file.write_text(text)
    path = change(lambda compose: compose["services"]["dms"].update(env_file=[str(file)]), home)
    return make_plan(read_compose(path), root=ROOT, secrets=home / "secrets", replicas={})


def test_environment_files_are_parsed_like_by_compose(home: Path) -> None:
    text = "# said\nPLAIN=value # said\nQUOTED=\"two words\"\nMONEY='$HOME'\n"
    environment = make_plan_with_environment_file(home, text).services["dms"].environment
    expected = {"PLAIN": "value", "QUOTED": "two words", "MONEY": "$HOME"}
    assert {name: environment[name] for name in expected} == expected


def test_variable_without_a_value_is_refused(home: Path) -> None:
    with pytest.raises(
        InvalidComposeFile, match=r"own\.env: expected NAME=value, not LONELY alone"
    ):
        make_plan_with_environment_file(home, "LONELY\n")


def test_unknown_service_cannot_have_replicas(home: Path) -> None:
    with pytest.raises(InvalidComposeFile, match="grafana"):
        make_specs(home, grafana=2)


def test_public_url_of_the_ask_service_is_the_address_of_its_process(home: Path) -> None:
    _, specs_by_name = make_specs(home)
    [environment] = [
        each.environment for each in specs_by_name.values() if each.service.name == "ask"
    ]
    port = environment["SLUICE_ASK_PORT"]
    assert environment["SLUICE_ASK_PUBLIC_URL"] == f"http://127.0.0.1:{port}"
    assert port != "8086"
