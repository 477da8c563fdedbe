"""Commands, settings, containers, files and ports that operators' pages name exist."""

import re
from collections.abc import Iterator

import pytest

from tests.architecture.named_in_pages import find_unknown_commands, find_unknown_settings
from tests.deploy.compose_files import list_schema_errors, replace_text
from tests.deploy.composition import Composition, read_yaml
from tests.deploy.processes import CONTAINER_PORTS, find_package, has_route
from tests.unit.access.table import PILOT, read_rows

PAGES = ("docs/how-to/operate.md", "docs/how-to/run-in-production.md")
GATEWAY = "deploy/gateway/compose.yml"
CONTAINERS = re.compile(r"docker compose (ps|logs|exec|up|stop|restart)((?: [\w:/=.-]+)*)")
#: Callers that use the gateway, as the table of routes names them.
PILOT_ITSELF, ENROLLED = "pilot:itself", "pilot:enrolled"
#: Options that take a value.
OPTIONS_WITH_VALUES = {"-e", "--since", "--tail"}


def find_violations(composition: Composition) -> Iterator[str]:
    for page in PAGES:
        text = (composition.root / page).read_text(encoding="utf-8")
        named = (*find_unknown_commands(text), *find_unknown_settings(text))
        yield from (f"{page}: {sentence}" for sentence in named)
        yield from (f"{page}: there is no {path}" for path in _check_paths(composition, text))
        yield from (
            f"{page}: there is no container {name}" for name in _check_containers(composition, text)
        )
        for service, path in re.findall(
            r"exec (\w+) python.*?(/(?:readyz|api/v1/\w+))", text, re.DOTALL
        ):
            if not has_route(find_package(service), path):
                yield f"{page}: {service} has no {path}"


def _check_paths(composition: Composition, text: str) -> Iterator[str]:
    for path in set(re.findall(r"\bdeploy/[\w./-]*\w", text)):
        is_generated = (
            path.removeprefix("deploy/secrets/") in composition.secret_files
            or path == "deploy/secrets"
        )
        if not is_generated and not (composition.root / path).exists():
            yield path


def _check_containers(composition: Composition, text: str) -> Iterator[str]:
    for verb, rest in CONTAINERS.findall(text):
        words = rest.split()
        names = [
            word
            for before, word in zip(["", *words], words, strict=False)
            if before not in OPTIONS_WITH_VALUES and not word.startswith("-")
        ]
        # The words after the container of ``exec`` are its command.
        yield from (
            name
            for name in names[: 1 if verb == "exec" else None]
            if name not in {*composition.services, "SERVICE"}
        )


def test_pages_agree_with_the_code(composition: Composition) -> None:
    assert list(find_violations(composition)) == []


@pytest.mark.parametrize(
    ("before", "after", "finding"),
    [
        (
            "sluice pilot drain PILOT",
            "sluice pilot empty PILOT",
            "there is no command sluice pilot empty",
        ),
        ("task jobs TASK --state", "task jobs TASK --status", "has no option --status"),
        ("SLUICE_WMS_LEASE", "SLUICE_WMS_LEASES", "no setting is called SLUICE_WMS_LEASES"),
        ("logs --tail 50 pilot", "logs --tail 50 pilots", "there is no container pilots"),
        ("/api/v1/unmatched", "/api/v1/unknown", "intake has no /api/v1/unknown"),
    ],
)
def test_wrong_name_in_a_page_is_found(
    composition: Composition, before: str, after: str, finding: str
) -> None:
    replace_text(composition.root / PAGES[0], before, after)
    all_findings = list(find_violations(composition))
    assert any(finding in one for one in all_findings), all_findings


def test_missing_file_in_a_page_is_found(composition: Composition) -> None:
    replace_text(
        composition.root / PAGES[1], "deploy/gateway/compose.yml", "deploy/gate/compose.yml"
    )
    assert any("there is no deploy/gate/compose.yml" in one for one in find_violations(composition))


def test_page_pins_every_foreign_image(composition: Composition) -> None:
    page = (composition.root / PAGES[1]).read_text(encoding="utf-8")
    foreign = {
        name: service["image"]
        for name, service in composition.services.items()
        if name not in composition.own
    }
    [checked_files] = re.findall(r"^for image in (.+); do$", page, re.MULTILINE)
    assert set(checked_files.split()) == set(foreign.values())
    fixed = re.findall(r'^  ([\w-]+): \{image: "(\S+)@sha256:…"\}$', page, re.MULTILINE)
    assert dict(fixed) == {name: image.partition(":")[0] for name, image in foreign.items()}
    [pulled] = re.findall(r"^docker compose pull (.+)$", page, re.MULTILINE)
    assert {foreign[name] for name in pulled.split()} == set(foreign.values())
    [base] = re.findall(r"--build-arg PYTHON=(\S+)@sha256", page)
    dockerfile = (composition.root / "deploy/Dockerfile").read_text(encoding="utf-8")
    assert f"ARG PYTHON={base}\n" in dockerfile


def test_gateway_leads_to_the_wms_and_its_port_is_documented(
    composition: Composition,
) -> None:
    data = read_yaml(composition.root / GATEWAY)
    assert list_schema_errors(data) == []
    assert set(data["services"]) == {"gateway"}
    # Published ports need a network that is not internal; lists are merged.
    assert data["services"]["gateway"]["networks"] == ["edge"]
    assert not composition.services["gateway"].get("ports")
    configuration = (composition.root / "deploy/gateway/nginx.conf").read_text(encoding="utf-8")
    [port] = re.findall(r"listen (\d+);", configuration)
    assert data["services"]["gateway"]["ports"] == [f"{port}:{port}"]
    assert f"port {port}" in (composition.root / PAGES[1]).read_text(encoding="utf-8")
    [(host, target)] = re.findall(r"set \$wms (\w+):(\d+);", configuration)
    assert (host, int(target)) == ("wms", CONTAINER_PORTS["wms"])


def test_gateway_forwards_only_requests_of_pilots(composition: Composition) -> None:
    configuration = (composition.root / "deploy/gateway/nginx.conf").read_text(encoding="utf-8")
    methods = {row.address: row.method for row in read_rows() if row.who & {PILOT_ITSELF, ENROLLED}}
    [registration] = [address for address in methods if address.endswith("/pilots")]
    [pattern] = re.findall(r'location ~ "(.+)" \{', configuration)
    others = set(re.findall(r"location (?!~)(.+) \{", configuration))

    assert others == {f"= {registration}", "= /gateway/health", "/"}
    assert methods[registration] == "POST"
    assert "limit_except POST {" in configuration
    requests = [address.replace("{uid}", PILOT) for address in methods if "{uid}" in address]
    assert len(requests) == 6
    assert all(re.search(pattern, request) for request in requests)
    named = re.fullmatch(r".*\((.+)\)\$", pattern)
    assert named is not None
    assert {request.rpartition("/")[2] for request in requests} == set(named[1].split("|"))
    for other in (f"/api/v1/pilots/{PILOT}", f"/api/v1/pilots/{PILOT}/drain", "/x/api/v1/pilots"):
        assert not re.search(pattern, other)
