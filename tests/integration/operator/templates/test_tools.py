"""The library of tools, and templates composed of tools, by page and by REST."""

import pytest

from sluice.clients.base import API
from sluice.contracts.common.problems import NotFound, Unprocessable
from sluice.contracts.templates.tools import ComposeTools, NewTool, ToolList
from tests.integration.operator.conftest import Operator
from tests.integration.operator.forms import read_token

LAYOUT = """\
# Finds regions.
cwlVersion: v1.2
class: CommandLineTool
doc: Finds the regions of a page.
baseCommand: [head, -n, "1"]
inputs:
  page: {type: File, inputBinding: {}}
  scale: {type: float, default: 0.5}
outputs: {regions: stdout}
requirements: {ToolTimeLimit: {timelimit: 10}}
"""
JOIN = """\
cwlVersion: v1.2
class: CommandLineTool
baseCommand: cat
arguments: [$(inputs.parts)]
inputs: {parts: "File[]"}
outputs: {all: stdout}
requirements: {ToolTimeLimit: {timelimit: 10}}
"""


async def put(operator: Operator, **texts: str) -> None:
    for name, text in texts.items():
        await operator.client.store_tool(NewTool(name=name, cwl=text))


async def list_versions(operator: Operator) -> ToolList:
    return await operator.client.call("GET", f"{API}/tools/layout/versions", answer=ToolList)


async def test_versions_of_a_tool_are_kept_until_removed(operator: Operator) -> None:
    client = operator.client
    first = await client.store_tool(NewTool(name="layout", cwl=LAYOUT))
    assert (first.tool.version, first.new) == (1, True)
    assert [(port.name, port.type, port.default) for port in first.tool.inputs] == [
        ("page", "File", None),
        ("scale", "float", 0.5),
    ]
    again = await client.store_tool(NewTool(name="layout", cwl=LAYOUT))
    assert (again.tool.version, again.new) == (1, False)
    await client.store_tool(NewTool(name="layout", cwl=LAYOUT.replace("0.5", "0.7")))
    assert [tool.version for tool in (await list_versions(operator)).tools] == [2, 1]
    assert (await client.get_tool("layout", version=1)).cwl == LAYOUT
    [listed] = (await client.list_tools()).tools
    assert (listed.version, listed.cwl, listed.doc) == (2, None, "Finds the regions of a page.")
    await client.remove_tool("layout", version=2)
    assert (await client.get_tool("layout")).version == 1
    third = await client.store_tool(NewTool(name="layout", cwl=LAYOUT.replace("0.5", "0.7")))
    assert third.tool.version == 3, "a version number is not used again"
    await client.remove_tool("layout")
    for call in (client.get_tool, client.remove_tool):
        with pytest.raises(NotFound, match="there is no tool 'layout'"):
            await call("layout")
    with pytest.raises(NotFound, match="there is no tool 'layout'"):
        await list_versions(operator)


async def test_invalid_tool_is_not_stored(operator: Operator) -> None:
    for text, message in (
        (LAYOUT.replace("timelimit: 10", "timelimit: -1"), "a time limit is 0"),
        (
            LAYOUT.replace("CommandLineTool", "ExpressionTool"),
            "the library has CommandLineTools only",
        ),
        ("nothing: [", "not YAML"),
    ):
        with pytest.raises(Unprocessable) as refused:
            await operator.client.store_tool(NewTool(name="layout", cwl=text))
        assert any(message in finding.message for finding in refused.value.findings)
    assert (await operator.client.list_tools()).tools == []


async def test_workflow_is_composed_of_tools_and_published(operator: Operator) -> None:
    await put(operator, layout=LAYOUT, join=JOIN)
    client = operator.client
    only = await client.compose(ComposeTools(name="ocr", tools=["layout", "join"]))
    assert only.template is None
    assert "# Composed of the tools layout 1, join 1." in only.cwl
    assert (await client.list_templates()).templates == []
    await put(operator, layout=LAYOUT.replace("0.5", "0.7"))
    stored = await client.compose(ComposeTools(name="ocr", tools=["layout@1", "join"], store=True))
    assert stored.template is not None
    assert stored.cwl == only.cwl, "the named version is used"
    template = await client.get_template("ocr")
    assert template.cwl == stored.cwl
    assert [step.name for step in template.plan.steps] == ["layout", "join"]
    assert template.plan.parameters["scale"].default == 0.5


async def test_impossible_composition_is_explained(operator: Operator) -> None:
    await put(operator, layout=LAYOUT, join=JOIN)
    client = operator.client
    with pytest.raises(
        NotFound, match=r"there is no tool 'joyn' .*; these tools would fit: join, layout"
    ):
        await client.compose(ComposeTools(name="ocr", tools=["layout", "joyn"]))
    with pytest.raises(NotFound, match="no version 7 of tool 'join'; its versions are 1"):
        await client.compose(ComposeTools(name="ocr", tools=["layout", "join@7"]))
    folder = JOIN.replace('"File[]"', "Directory")
    await put(operator, folder=folder)
    with pytest.raises(Unprocessable, match="its input 'parts' takes Directory, but no"):
        await client.compose(ComposeTools(name="ocr", tools=["layout", "folder"], store=True))
    assert (await client.list_templates()).templates == []


async def test_pages_store_tools_and_compose_a_template(operator: Operator) -> None:
    http = operator.http
    page = await http.get("/tools")
    form = {"csrf_token": read_token(page)}
    invalid_response = await http.post(
        "/tools", data={**form, "name": "layout", "cwl": "class: Workflow"}
    )
    assert invalid_response.status_code == 422
    assert "the library has CommandLineTools only" in invalid_response.text
    assert "class: Workflow" in invalid_response.text, "the form keeps the typed text"
    for name, text in (("layout", LAYOUT), ("join", JOIN)):
        stored = await http.post("/tools", data={**form, "name": name, "cwl": text})
        assert stored.headers["location"] == f"/tools/{name}", stored.text
    shown = (await http.get("/tools/layout")).text
    assert "Stored as version 1." in shown
    assert "# Finds regions." in shown
    unfit = await http.post(
        "/tools/compose", data={**form, "name": "ocr", "tools": "layout, nothing"}
    )
    assert (unfit.status_code, "these tools would fit: join, layout" in unfit.text) == (404, True)
    compose_form = {**form, "name": "ocr", "tools": "layout join"}
    for bind, message in (
        ("scale", "give each parameter once"),
        ("x=y", "&#39;x&#39; is not a param"),
    ):
        unfit = await http.post("/tools/compose", data={**compose_form, "bind": bind})
        assert (unfit.status_code, message in unfit.text) == (422, True), unfit.text
    response = await http.post("/tools/compose", data={**compose_form, "bind": "scale=enlargement"})
    assert response.status_code == 303, response.text
    review = (await http.get(response.headers["location"])).text
    assert "enlargement" in review
    assert "Composed of the tools layout 1, join 1." in review
    assert (await operator.client.list_templates()).templates == [], (
        "the template is reviewed before publication"
    )
    removed = await http.post("/tools/join/remove", data={**form, "version": "1"})
    assert removed.status_code == 303
    assert [tool.name for tool in (await operator.client.list_tools()).tools] == ["layout"]
