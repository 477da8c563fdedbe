"""Of each wrong template all findings are told, no more and no fewer, each at its place; and
telling them costs little."""

import socket
from typing import Any, NoReturn

import pytest

from sluice.contracts.problems import Finding
from sluice.cwl.compiler import compile_upload
from sluice.cwl.cwltool_checks.cwltool_library import load_cwltool
from sluice.cwl.reading.uploads import take_files
from tests.wrong.table import FOLDER, Expected, Wrong, wrong_templates

WRONG = wrong_templates()


def compiled(wrong: Wrong) -> Any:
    return compile_upload(take_files(wrong.files, main=wrong.main), name="t").compiled


def test_every_template_stands_in_the_table() -> None:
    assert WRONG.keys() == {path.name for path in FOLDER.iterdir()}
    assert len(WRONG) >= 30


def _place_and_severity(finding: Finding | Expected) -> tuple[object, ...]:
    return finding.file, finding.line, finding.column, finding.severity


@pytest.mark.parametrize("name", WRONG)
def test_all_findings_and_their_places(name: str) -> None:
    found = compiled(WRONG[name])
    assert found.plan is None
    told = "\n".join(map(str, found.findings))
    assert [_place_and_severity(finding) for finding in found.findings] == [
        _place_and_severity(finding) for finding in WRONG[name].findings
    ], told
    for finding, expected in zip(found.findings, WRONG[name].findings, strict=True):
        assert expected.is_met_by(finding), f"{finding}\ninstead of\n{expected}"


def test_checking_needs_no_network_and_loads_each_schema_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What takes time: the schema of a version (half a second), a whole load by the reference
    runner, other machines."""
    cwltool = load_cwltool()
    new_loader, used = cwltool._new_loader, []

    def noted(version: str) -> Any:
        loader, names = new_loader(version)
        used.append((version, names))
        return loader, names

    def unreachable(*_: Any, **__: Any) -> NoReturn:
        raise AssertionError("a check asks for the network")

    def whole_load(*_: Any) -> NoReturn:
        raise AssertionError("a template that is known to be wrong is loaded as before a run")

    monkeypatch.setattr(cwltool, "_new_loader", noted)
    monkeypatch.setattr(cwltool, "load", whole_load)
    for name in ("connect", "connect_ex", "sendto"):
        monkeypatch.setattr(socket.socket, name, unreachable)
    monkeypatch.setattr(socket, "getaddrinfo", unreachable)
    for wrong in WRONG.values():
        assert compiled(wrong).plan is None
    assert load_cwltool() is cwltool
    assert {version for version, _ in used} == {"v1.0", "v1.2"}
    assert len({id(names) for _, names in used}) == 2, (
        "one schema for each version, however many templates are checked"
    )
