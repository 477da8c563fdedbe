"""Templates over REST, on a real database."""

import asyncio
from dataclasses import replace
from uuid import uuid4

import asyncpg
import pytest

from sluice.clients.operator import OperatorClient
from sluice.contracts.access.services import CallingService
from sluice.contracts.common.problems import Conflict, NotFound, Unprocessable
from sluice.contracts.common.states import ChainState
from sluice.contracts.data.datasets import NewDataset
from sluice.contracts.templates.plan import Plan
from sluice.contracts.templates.templates import NewTemplate
from sluice.cwl import Upload
from sluice.servicekit.access.principal import ServiceCaller
from sluice.servicekit.database import Database
from tests.integration.operator.conftest import Operator
from tests.integration.operator.templates.stored_templates import PARTS, count_rows
from wfms.operator.settings import OperatorSettings
from wfms.operator.templates.domain.submitted_files import SubmittedFiles
from wfms.operator.templates.usecases.compile_files import CompilationResult, Compiler
from wfms.operator.templates.usecases.store_template import store_template
from wfms.operator.wiring import make_context


@pytest.mark.parametrize("path", ["/templates/%00", "/templates/x?version=99999999999999999999"])
async def test_value_that_the_database_cannot_store_is_refused(
    operator: Operator, path: str
) -> None:
    answer = await operator.http.get(f"/api/v1{path}")
    assert (answer.status_code, "cannot be stored" in answer.json()["detail"]) == (422, True)
    page = await operator.http.get(path)
    assert (page.status_code, "cannot be stored" in page.text) == (422, True)


async def test_equal_text_is_stored_once_and_other_text_as_a_new_version(
    operator: Operator, spd_text: str
) -> None:
    first = await operator.http.post("/api/v1/templates", json={"name": "spd", "cwl": spd_text})
    again = await operator.http.post("/api/v1/templates", json={"name": "spd", "cwl": spd_text})
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json() == again.json()
    other = await operator.client.store_template(
        NewTemplate(name="spd", cwl=spd_text + "\n# other\n")
    )
    assert other.version == 2
    listed = (await operator.client.list_templates()).templates
    assert [(template.name, template.version, template.cwl) for template in listed] == [
        ("spd", 2, other.cwl)
    ]
    assert [step.name for step in listed[0].plan.steps][:2] == ["decode", "build_events"]
    assert [
        template.version for template in (await operator.client.list_templates(all=True)).templates
    ] == [2, 1]
    old = await operator.client.get_template("spd", version=1)
    assert old.cwl == spd_text
    assert old.template is not None
    assert old.template["class"] == "Workflow"
    back = await operator.client.store_template(NewTemplate(name="spd", cwl=spd_text))
    assert back.version == 3, "an old text is stored as the latest version"


async def test_concurrent_uploads_under_one_name_get_consecutive_versions(
    operator: Operator, spd_text: str
) -> None:
    texts = [spd_text, spd_text + "# two\n"]
    stored = await asyncio.gather(
        *(operator.client.store_template(NewTemplate(name="spd", cwl=text)) for text in texts)
    )
    assert sorted(template.version for template in stored) == [1, 2]
    twice = await asyncio.gather(
        *(operator.client.store_template(NewTemplate(name="twice", cwl=spd_text)) for _ in range(2))
    )
    assert [template.version for template in twice] == [1, 1]
    assert await count_rows(operator) == 3


class Instant(Compiler):
    """A compiler that returns a fixed result, so that many uploads reach the database at once."""

    def __init__(self, plan: Plan) -> None:
        super().__init__()
        self._plan = plan

    async def compile(self, upload: Upload, *, name: str) -> CompilationResult:
        return CompilationResult(self._plan, [], next(iter(upload.texts)), {})


async def test_versions_of_many_concurrent_uploads_have_no_gaps(
    operator: Operator, spd_text: str
) -> None:
    checked = await operator.client.check_template(cwl=spd_text)
    assert checked.plan is not None
    database = next(part for part in operator.service.components if isinstance(part, Database))
    url = operator.database_url
    base_context = make_context(
        OperatorSettings(database_url=url, broker_url=url),
        database,
        links=operator.links,
        transport=operator.transport,
    )
    context = replace(base_context, compiler=Instant(checked.plan))
    uploads = [SubmittedFiles({"busy.cwl": f"{spd_text}# {number}\n"}) for number in range(12)]
    stored = await asyncio.gather(
        *(store_template(context, sent, name="busy", template_id=uuid4()) for sent in uploads)
    )
    assert sorted(answer.template.version for answer in stored) == list(range(1, 13))


async def test_refused_template_has_all_findings_and_is_not_stored(
    operator: Operator, spd_text: str
) -> None:
    bad = spd_text.replace("scatter: hits", "scatter: hitz", 1).replace(
        "type: float", "type: flaot", 1
    )
    with pytest.raises(Unprocessable) as refusal:
        await operator.client.store_template(NewTemplate(name="bad", cwl=bad))
    errors = [finding for finding in refusal.value.findings if finding.severity == "error"]
    assert len(errors) >= 2
    for word in ("hitz", "flaot"):
        line = next(number for number, text in enumerate(bad.splitlines(), 1) if word in text)
        assert any(
            word in error.message and error.line is not None and error.column is not None
            for error in errors
        )
        assert any(error.line == line for error in errors)
    assert {error.file for error in errors} == {"workflow.cwl"}
    assert await count_rows(operator) == 0


async def test_comparison_shows_the_changes_and_stores_nothing(
    operator: Operator, spd_text: str
) -> None:
    new = await operator.client.compare_template(NewTemplate(name="spd", cwl=spd_text))
    assert (new.before, new.version, new.nothing) == (None, 1, False)
    assert next(change.name for change in new.plan if change.part == "step") == "decode"
    await operator.client.store_template(NewTemplate(name="spd", cwl=spd_text))
    same = await operator.client.compare_template(NewTemplate(name="spd", cwl=spd_text))
    assert (same.before, same.version, same.nothing, same.plan, same.files) == (1, 1, True, [], [])
    bad = NewTemplate(name="spd", cwl=spd_text.replace("scatter: hits", "scatter: hitz", 1))
    with pytest.raises(Unprocessable, match="in its text"):
        await operator.client.compare_template(bad)
    assert await count_rows(operator) == 1


async def test_second_publication_on_top_of_the_same_version_is_refused(
    operator: Operator, spd_text: str
) -> None:
    texts = [spd_text + "# a\n", spd_text + "# b\n"]
    both = [
        operator.client.store_template(NewTemplate(name="spd", cwl=text, replaces=0))
        for text in texts
    ]
    answers = await asyncio.gather(*both, return_exceptions=True)
    [refusal] = [answer for answer in answers if isinstance(answer, Conflict)]
    assert "the latest version is 1 now" in refusal.detail
    assert await count_rows(operator) == 1
    stored = await operator.client.store_template(NewTemplate(name="spd", cwl=spd_text, replaces=1))
    assert stored.version == 2
    again = await operator.client.store_template(NewTemplate(name="spd", cwl=spd_text, replaces=1))
    assert again.version == 2, "a repeated request is not refused"


NO_WORKFLOWS = [
    "a: [b",
    "- 1\n- 2\n",
    "class: CommandLineTool\ncwlVersion: v1.2\n",
    "\x00\x01",
    "just words",
    'a: "\\0"',
    "&a [*a]",
]


async def test_text_that_is_no_workflow_is_refused_with_findings(
    operator: Operator, subtests: pytest.Subtests
) -> None:
    for text in NO_WORKFLOWS:
        with subtests.test(text=text):
            with pytest.raises(Unprocessable) as refusal:
                await operator.client.store_template(NewTemplate(name="bad", cwl=text))
            assert refusal.value.findings
    assert await count_rows(operator) == 0


async def test_text_that_json_cannot_hold_is_refused_with_findings(
    operator: Operator, spd_text: str
) -> None:
    for bad in ('"raw \\0"', '"raw \\ud800"'):
        with pytest.raises(Unprocessable) as refusal:
            await operator.client.store_template(
                NewTemplate(name="bad", cwl=spd_text.replace("label: Raw frames", f"label: {bad}"))
            )
        assert refusal.value.findings
    assert await count_rows(operator) == 0


async def test_check_of_a_template_stores_nothing(operator: Operator, spd_text: str) -> None:
    good = await operator.client.check_template(cwl=spd_text)
    assert good.plan is not None
    bad = await operator.client.check_template(cwl="class: Workflow", file="mine.cwl")
    assert bad.plan is None
    assert bad.findings[0].file == "mine.cwl"
    assert await count_rows(operator) == 0


async def test_old_version_is_restored_as_a_new_version(operator: Operator, spd_text: str) -> None:
    await operator.client.store_template(NewTemplate(name="parts", files=PARTS))
    await operator.client.store_template(NewTemplate(name="parts", cwl=spd_text))
    restored = await operator.client.restore_template("parts", version=1)
    assert (restored.version, restored.files) == (3, PARTS)
    again = await operator.http.post("/api/v1/templates/parts/restore", json={"version": 1})
    assert (again.status_code, again.json()["version"]) == (200, 3)
    with pytest.raises(NotFound):
        await operator.client.restore_template("parts", version=9)


async def test_rows_of_an_old_release_are_templates_of_one_file(
    operator: Operator, spd_text: str
) -> None:
    stored = await operator.client.store_template(NewTemplate(name="spd", cwl=spd_text))
    connection = await asyncpg.connect(operator.database_url)
    try:
        await connection.execute("UPDATE templates SET main = NULL, files = NULL")
    finally:
        await connection.close()
    assert (await operator.client.get_template("spd")).files == {"workflow.cwl": spd_text}
    assert (
        await operator.client.store_template(NewTemplate(name="spd", cwl=spd_text))
    ).id == stored.id


async def test_deleted_template_is_gone_and_its_version_numbers_continue(
    operator: Operator, spd_text: str
) -> None:
    await operator.client.store_template(NewTemplate(name="spd", cwl=spd_text))
    await operator.client.delete_template("spd")
    assert (await operator.client.list_templates()).templates == []
    for version in (None, 1):
        with pytest.raises(NotFound):
            await operator.client.get_template("spd", version=version)
    with pytest.raises(NotFound):
        await operator.client.delete_template("spd")
    assert (
        await operator.client.store_template(NewTemplate(name="spd", cwl=spd_text))
    ).version == 2


async def test_template_in_use_is_deleted_only_with_force(
    operator: Operator, spd_text: str
) -> None:
    await operator.client.store_template(NewTemplate(name="spd", cwl=spd_text))
    dataset = await operator.client.register_dataset(NewDataset(name="run-1", meta={"run": 1}))
    chain = await operator.client.request_chain(dataset.uid, "spd")
    with pytest.raises(Conflict, match="1 chain of template 'spd' still runs") as refusal:
        await operator.client.delete_template("spd")
    assert [finding.message for finding in refusal.value.findings] == [
        f"chain {chain.uid} of data set run-1, version 1: in_progress"
    ]
    assert len((await operator.client.list_templates()).templates) == 1
    await operator.client.delete_template("spd", force=True)
    assert (await operator.client.get_chain(chain.uid)).state is ChainState.IN_PROGRESS, (
        "the running chain continues"
    )
    with pytest.raises(NotFound):
        await operator.client.request_chain(dataset.uid, "spd")


async def test_list_of_templates_has_the_text_of_the_latest_versions(
    operator: Operator, spd_text: str
) -> None:
    """Services such as the intake get no text."""
    await operator.client.store_template(NewTemplate(name="spd", cwl=spd_text))
    [listed] = (await operator.client.list_templates()).templates
    assert (listed.cwl, listed.template, listed.files) == (spd_text, None, None)
    [version] = (await operator.client.list_templates(all=True)).templates
    assert version.cwl is None
    operator.links.apps["wfms.operator"] = operator.service.app
    intake = operator.links.http_of(ServiceCaller(CallingService.INTAKE), "wfms.operator")
    [read] = (await OperatorClient(intake).list_templates()).templates
    assert read.cwl is None
