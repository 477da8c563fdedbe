"""The images contain existing files and locked versions, and run as an unprivileged user."""

import re
import tomllib
from collections.abc import Iterator
from fnmatch import fnmatch
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.deploy.compose_files import replace_text
from tests.deploy.composition import Composition

DOCKERFILE, IGNORE = "deploy/Dockerfile", ".dockerignore"
PROJECT = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))
TARGETS = ("services", "pilot")


def read_stages(text: str) -> dict[str, tuple[str, list[str]]]:
    """Map each stage to its origin and to its instructions, one line each."""
    stages_by_name: dict[str, tuple[str, list[str]]] = {}
    name = ""
    text, arguments = re.subn(r"(?m)^ARG PYTHON=(\S+)\nFROM \$PYTHON ", r"FROM \1 ", text)
    assert arguments == 1
    for line in text.replace("\\\n", " ").splitlines():
        if started := re.match(r"FROM (\S+) AS (\S+)$", line):
            name = started[2]
            stages_by_name[name] = (started[1], [])
        elif line.strip() and not line.startswith("#"):
            stages_by_name[name][1].append(" ".join(line.split()))
    return stages_by_name


def find_violations(composition: Composition) -> Iterator[str]:
    all_stages = read_stages((composition.root / DOCKERFILE).read_text(encoding="utf-8"))
    for target in TARGETS:
        yield from _check_target(all_stages, target)
    for name, (origin, lines) in all_stages.items():
        if origin not in all_stages and "-slim" not in origin:
            yield f"{name}: {origin} is no slim image"
        copied = [
            source
            for line in lines
            if line.startswith("COPY ") and "--from" not in line
            for source in line.split()[1:-1]
        ]
        yield from _check_copied_files(composition, name, copied)


def _check_target(all_stages: dict[str, tuple[str, list[str]]], target: str) -> Iterator[str]:
    origin, lines = all_stages[target]
    if origin != "base" or [line for line in lines if line.startswith("USER ")] != [
        "USER 10001:10001"
    ]:
        yield f"{target}: runs as another user than 10001"
    if f"COPY --from={target}-environment /opt/sluice /opt/sluice" not in lines:
        yield f"{target}: has not what {target}-environment made"
    environment = "\n".join(all_stages[f"{target}-environment"][1])
    locked = "uv pip install --constraint requirements.lock --requirements pyproject.toml"
    if f"{locked} --extra {target}\n" not in environment:
        yield f"{target}: its dependencies are not those of requirements.lock"
    if "uv pip install --build-constraints requirements.lock --no-deps ." not in environment:
        yield f"{target}: Sluice itself is not installed"
    for package in PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]:
        if f"COPY {package} {package}\n" not in environment:
            yield f"{target}: {package} is not copied"


def _check_copied_files(composition: Composition, name: str, sources: list[str]) -> Iterator[str]:
    rules = [
        line
        for line in (composition.root / IGNORE).read_text(encoding="utf-8").splitlines()
        if not line.startswith("#")
    ]
    for source in sources:
        is_copied = False
        for rule in rules:  # The last matching rule decides.
            if fnmatch(source, rule.removeprefix("!")):
                is_copied = rule.startswith("!")
        if not Path(source).exists():
            yield f"{name}: there is no {source}"
        if not is_copied:
            yield f"{name}: {source} is left out by {IGNORE}"


def test_images_are_built_from_existing_files(composition: Composition) -> None:
    assert list(find_violations(composition)) == []


@pytest.mark.parametrize(
    ("file", "before", "after", "finding"),
    [
        (DOCKERFILE, "python:3.11-slim-trixie", "python:3.11", "is no slim image"),
        (DOCKERFILE, "USER 10001:10001", "USER root", "runs as another user"),
        (
            DOCKERFILE,
            "install --constraint requirements.lock --req",
            "install --req",
            "not those of requirements.lock",
        ),
        (DOCKERFILE, "--extra services", "--extra dev", "not those of requirements.lock"),
        (
            DOCKERFILE,
            "COPY --from=pilot-environment",
            "COPY --from=services-environment",
            "has not what pilot-environment made",
        ),
        (DOCKERFILE, "COPY wms wms\n", "", "wms is not copied"),
        (DOCKERFILE, "COPY wms wms", "COPY vms vms", "there is no vms"),
        (IGNORE, "!requirements.lock\n", "", "requirements.lock is left out"),
    ],
)
def test_violation_in_the_dockerfile_is_found(
    composition: Composition, file: str, before: str, after: str, finding: str
) -> None:
    replace_text(composition.root / file, before, after)
    all_findings = list(find_violations(composition))
    assert any(finding in one for one in all_findings), all_findings


@pytest.mark.parametrize("extra", TARGETS)
def test_lock_file_has_every_package_of_an_image(extra: str) -> None:
    locked = set(
        re.findall(
            r"^([a-z0-9._-]+)==",
            Path("requirements.lock").read_text(encoding="utf-8"),
            re.MULTILINE,
        )
    )
    needed = {normalize_name(name) for name in list_dependencies("sluice", extra)} - {"sluice"}
    assert len(needed) > 30
    assert needed <= {normalize_name(name) for name in locked}


def test_pilot_image_has_no_web_framework_and_no_database_driver() -> None:
    names = {normalize_name(name) for name in list_dependencies("sluice", "pilot")}
    assert not names & {
        "fastapi",
        "flask",
        "uvicorn",
        "starlette",
        "asyncpg",
        "sqlalchemy",
        "alembic",
        "aio-pika",
    }
    assert "cwltool" in names


def list_dependencies(name: str, extra: str = "") -> set[str]:
    """Return a distribution and its dependencies by the metadata of installed packages."""
    packages: set[str] = set()
    pending_names = [(name, extra)]
    while pending_names:
        part, extra_name = pending_names.pop()
        if f"{part}[{extra_name}]" in packages:
            continue
        packages.add(f"{part}[{extra_name}]")
        for text in distribution(part).requires or []:
            need = Requirement(text)
            if need.marker is None or need.marker.evaluate({"extra": extra_name}):
                pending_names += [(need.name, one) for one in need.extras or {""}] + [
                    (need.name, "")
                ]
    return {one.partition("[")[0] for one in packages}


def normalize_name(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
