"""Each wrong template gives exactly the expected findings, at little cost."""

import socket
from functools import cache
from typing import Any, NoReturn

import pytest

from sluice.contracts.common.problems import Finding
from sluice.cwl.compiler import compile_upload
from sluice.cwl.cwltool_checks.cwltool_library import load_cwltool
from sluice.cwl.reading.uploads import take_files
from tests.unit.cwl.errors.program_internals import find_messages_with_internals
from tests.wrong.table import FOLDER, ExpectedFinding, WrongTemplate, read_wrong_templates

WRONG_TEMPLATES = read_wrong_templates()


@cache
def compile_named(name: str) -> Any:
    return compile_wrong_template(WRONG_TEMPLATES[name])


def compile_wrong_template(template: WrongTemplate) -> Any:
    return compile_upload(take_files(template.files, main=template.main), name="t").compiled


def test_expected_findings_cover_all_wrong_templates() -> None:
    assert WRONG_TEMPLATES.keys() == {path.name for path in FOLDER.iterdir()}
    assert len(WRONG_TEMPLATES) >= 30


def _place_and_severity(finding: Finding | ExpectedFinding) -> tuple[object, ...]:
    return finding.file, finding.line, finding.column, finding.severity


@pytest.mark.parametrize("name", WRONG_TEMPLATES)
def test_wrong_template_gives_exactly_the_expected_findings(name: str) -> None:
    result = compile_named(name)
    assert (result.plan is None) is WRONG_TEMPLATES[name].is_refused
    findings_text = "\n".join(map(str, result.findings))
    assert [_place_and_severity(finding) for finding in result.findings] == [
        _place_and_severity(finding) for finding in WRONG_TEMPLATES[name].findings
    ], findings_text
    for finding, expected in zip(result.findings, WRONG_TEMPLATES[name].findings, strict=True):
        assert expected.is_met_by(finding), f"{finding}\ninstead of\n{expected}"


def test_messages_about_the_wrong_templates_show_no_program_internals() -> None:
    found = {
        name: internals
        for name in WRONG_TEMPLATES
        if (
            internals := find_messages_with_internals(
                finding.message for finding in compile_named(name).findings
            )
        )
    }
    assert found == {}


def test_checks_use_no_network_and_load_each_schema_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A schema takes half a second to load, and the network takes longer."""
    cwltool = load_cwltool()
    new_loader, used = cwltool._new_loader, []

    def record_loader(version: str) -> Any:
        loader, names = new_loader(version)
        used.append((version, names))
        return loader, names

    def unreachable(*_: Any, **__: Any) -> NoReturn:
        raise AssertionError("a check asks for the network")

    monkeypatch.setattr(cwltool, "_new_loader", record_loader)
    for name in ("connect", "connect_ex", "sendto"):
        monkeypatch.setattr(socket.socket, name, unreachable)
    monkeypatch.setattr(socket, "getaddrinfo", unreachable)
    for template in WRONG_TEMPLATES.values():
        assert (compile_wrong_template(template).plan is None) is template.is_refused
    assert load_cwltool() is cwltool
    assert {version for version, _ in used} == {"v1.0", "v1.2"}
    assert len({id(names) for _, names in used}) == 2, "a schema was loaded more than once"
