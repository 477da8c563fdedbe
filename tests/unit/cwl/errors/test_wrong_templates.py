"""Each wrong template gives exactly the expected findings, at little cost."""

import socket
from typing import Any, NoReturn

import pytest

from sluice.contracts.common.problems import Finding
from sluice.cwl.compiler import compile_upload
from sluice.cwl.cwltool_checks.cwltool_library import load_cwltool
from sluice.cwl.reading.uploads import take_files
from tests.wrong.table import FOLDER, Expected, Wrong, wrong_templates

WRONG = wrong_templates()


def compiled(wrong: Wrong) -> Any:
    return compile_upload(take_files(wrong.files, main=wrong.main), name="t").compiled


def test_expected_findings_cover_all_wrong_templates() -> None:
    assert WRONG.keys() == {path.name for path in FOLDER.iterdir()}
    assert len(WRONG) >= 30


def _place_and_severity(finding: Finding | Expected) -> tuple[object, ...]:
    return finding.file, finding.line, finding.column, finding.severity


@pytest.mark.parametrize("name", WRONG)
def test_wrong_template_gives_exactly_the_expected_findings(name: str) -> None:
    found = compiled(WRONG[name])
    assert found.plan is None
    told = "\n".join(map(str, found.findings))
    assert [_place_and_severity(finding) for finding in found.findings] == [
        _place_and_severity(finding) for finding in WRONG[name].findings
    ], told
    for finding, expected in zip(found.findings, WRONG[name].findings, strict=True):
        assert expected.is_met_by(finding), f"{finding}\ninstead of\n{expected}"


def test_checks_use_no_network_and_load_each_schema_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A schema takes half a second to load; a full load by cwltool and the network take longer."""
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
    assert len({id(names) for _, names in used}) == 2, "a schema was loaded more than once"
