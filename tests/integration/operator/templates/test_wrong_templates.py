"""Invalid templates are never stored, however they are uploaded."""

from tests.integration.operator.conftest import Operator
from tests.wrong.table import read_wrong_templates

WRONG_TEMPLATES = {
    name: template for name, template in read_wrong_templates().items() if template.is_refused
}


async def test_invalid_template_is_refused_with_all_findings(operator: Operator) -> None:
    for number, (name, template) in enumerate(WRONG_TEMPLATES.items()):
        answer = await operator.http.post(
            "/api/v1/templates",
            json={"name": f"wrong{number}", "files": template.files, "main": template.main},
        )
        assert answer.status_code == 422, f"{name}: {answer.text}"
        places = [
            (finding["file"], finding["line"], finding["column"], finding["severity"])
            for finding in answer.json()["findings"]
        ]
        assert places == [
            (finding.file, finding.line, finding.column, finding.severity)
            for finding in template.findings
        ], name
    assert (await operator.client.list_templates(all=True)).templates == []


async def test_invalid_template_sent_as_text_is_refused(operator: Operator) -> None:
    single = [template for template in WRONG_TEMPLATES.values() if len(template.files) == 1]
    for template in single[::10]:
        text = template.files["workflow.cwl"]
        answer = await operator.http.post(
            "/api/v1/templates?name=wrong",
            content=text.encode(),
            headers={"content-type": "text/plain"},
        )
        assert answer.status_code == 422, text
    assert (await operator.client.list_templates(all=True)).templates == []
