"""The pages that start and rerun a chain, for parameters of all CWL types."""

import html
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest

from sluice.contracts.common.problems import Unprocessable
from sluice.contracts.common.states import ChainState
from sluice.contracts.templates.templates import NewTemplate
from tests.integration.operator.conftest import Operator
from tests.integration.operator.forms import read_token
from tests.integration.operator.scene import Counts, Scene
from tests.unit.cwl.samples import OF_TYPES

UID = "6f0c7f5e-6c1b-5d0f-9a52-3b8c1d1a7e11"
#: What a browser sends for a form in which only the required fields are filled.
FILLED = {
    "dataset": "",
    "template": "types",
    "param-sample/label": "tumour",
    "param-sample/control": "",
    "param-sample/library/layout": "paired",
    "param-sample/library/sizes": "150\r\n\r\n151\r\n",
    "param-reference/label": "",
    "param-reference/control": "",
    "param-reference/library/layout": "",
    "param-reference/library/sizes": "",
    "param-rows": '[{"name": "a", "value": 1}]',
    "param-cut": "auto",
    "param-names": "a b\r\nc\r\n",
    "param-level": "low",
    "param-quick": "",
    "param-window/first": "1",
    "param-window/last": "9",
    "param-masked": "",
    "param-masked/label": "m",
}
VALUES: dict[str, Any] = {
    "sample": {"label": "tumour", "library": {"layout": "paired", "sizes": [150, 151]}},
    "rows": [{"name": "a", "value": 1}],
    "cut": "auto",
    "names": ["a b", "c"],
    "level": "low",
    "masked": {"label": "m"},
}


@pytest.fixture
async def page(operator: Operator) -> httpx.Response:
    await operator.client.store_template(NewTemplate(name="types", cwl=OF_TYPES))
    return await operator.http.get("/chains/new?template=types")


def find_start_tag(page: str, name: str) -> str:
    """Return the start tag of the field of this name."""
    match = re.search(rf'<(?:input|select|textarea)[^>]* name="{re.escape(name)}"[^>]*>', page)
    assert match is not None, name
    return match[0]


def read_description(page: str, name: str) -> str:
    """Return the text that describes the field of this name."""
    match = re.search(r'aria-describedby="([^"]+)"', find_start_tag(page, name))
    assert match is not None
    text = re.search(rf'<p class="hint" id="{re.escape(match[1])}">(.*?)</p>', page)
    assert text is not None
    return html.unescape(re.sub(r"<[^>]+>", "", text[1]))


async def test_form_has_a_field_for_each_part_of_a_value(page: httpx.Response) -> None:
    text = page.text
    legends = sorted(re.findall(r"<legend>(\w+) ", text))
    assert legends == ["library", "library", "masked", "reference", "sample", "window"]
    assert " required" in find_start_tag(text, "param-sample/label")
    assert " required" not in find_start_tag(text, "param-reference/label")
    assert "<textarea" in find_start_tag(text, "param-names")
    assert "<select" in find_start_tag(text, "param-sample/control")
    assert 'value="1"' in find_start_tag(text, "param-window/first")
    assert read_description(text, "param-sample/label") == "Name on the tube. It has to be given."
    assert "first type that fits: int, then string" in read_description(text, "param-cut")
    assert "One value a line." in read_description(text, "param-names")
    assert 'Example: [{"name": "text", "value": 1}].' in read_description(text, "param-rows")
    assert "data set of one bundle" in read_description(text, "param-masked")
    ids = re.findall(r' id="([^"]+)"', text)
    assert len(ids) == len(set(ids))


async def test_posted_fields_become_the_values_of_the_chain(
    operator: Operator, page: httpx.Response
) -> None:
    form = FILLED | {"csrf_token": read_token(page)}
    started = await operator.http.post("/chains/new", data=form)
    assert started.status_code == 303
    changed = {"param-window/last": "8", "param-masked": UID, "param-masked/label": ""}
    changed |= {"param-cut": "7", "param-reference/label": "r"}
    changed |= {"param-reference/library/layout": "single"}
    assert (await operator.http.post("/chains/new", data=form | changed)).status_code == 303
    first, second = operator.neighbours.requested
    assert first.params == VALUES, "the optional record and the unchanged default are left out"
    assert second.params == VALUES | {
        "window": {"first": 1, "last": 8},
        "masked": {"class": "File", "dataset": UID},
        "cut": 7,
        "reference": {"label": "r", "library": {"layout": "single"}},
    }


async def test_errors_stay_at_their_fields_with_the_typed_texts(
    operator: Operator, page: httpx.Response
) -> None:
    wrong = {
        "param-sample/label": "",
        "param-sample/library/layout": "<b>",
        "param-sample/library/sizes": "150\r\nlong\r\n",
        "param-reference/control": "true",
        "param-rows": '[{"name": "a", "value": "x"}]',
        "param-names": "",
    }
    form = FILLED | {"csrf_token": read_token(page)} | wrong
    refused = await operator.http.post("/chains/new", data=form)
    text = refused.text
    assert (refused.status_code, operator.neighbours.requested) == (422, [])
    for name, problem in {
        "param-sample/label": "(string) is required and has no value.",
        "param-sample/library/layout": "Must be one of single, paired, not '<b>'.",
        "param-sample/library/sizes": "Must be a whole number in line 2, not 'long'.",
        "param-reference/label": "(string) is required and has no value.",
        "param-reference/library/layout": "(one of single, paired) is required and has no value.",
        "param-rows": "Field '[0].value' must be int, not 'x'.",
        "param-names": "(a list of string) is required and has no value.",
    }.items():
        assert 'aria-invalid="true"' in find_start_tag(text, name), name
        assert f'href="#{name}"' in text
        assert read_description(text, name).startswith(problem), name
    assert text.count('aria-invalid="true"') == 7
    assert ">\n150\r\nlong\r\n</textarea>" in text
    assert 'value="m"' in find_start_tag(text, "param-masked/label")
    assert "<option selected>true</option>" in text


@pytest.mark.parametrize("text", ['[{"name": "\\ud800", "value": 1}]', "[" * 99 + "]" * 99])
async def test_json_that_no_request_may_contain_is_refused(
    operator: Operator, page: httpx.Response, text: str
) -> None:
    form = FILLED | {"csrf_token": read_token(page), "param-rows": text}
    refused = await operator.http.post("/chains/new", data=form)
    assert (refused.status_code, operator.neighbours.requested) == (422, [])
    assert html.escape(text) in refused.text.replace("&#34;", "&quot;")


@pytest.mark.usefixtures("page")
async def test_unknown_field_of_a_record_is_refused_in_a_request(operator: Operator) -> None:
    wrong = VALUES | {"sample": VALUES["sample"] | {"lable": "tumour"}}
    with pytest.raises(Unprocessable, match=r"field 'lable' is unknown \(did you mean 'label'\?"):
        await operator.client.request_chain(None, "types", params=wrong)
    assert operator.neighbours.datasets == {}


async def test_rerun_changes_a_field_of_a_record(operator: Operator, tmp_path: Path) -> None:
    template = await operator.client.store_template(NewTemplate(name="types", cwl=OF_TYPES))
    scene = Scene(operator.neighbours, template, tmp_path, datetime.now(UTC))
    chain = scene.chain("values", 3, [Counts(failed=1, total=1)], ChainState.FAILED)
    masked = {"class": "File", "dataset": UID, "bundle": True}
    params = VALUES | {"masked": masked, "window": {"first": 1, "last": 9}}
    operator.neighbours.chains[chain.uid] = chain.model_copy(update={"params": params})
    address = f"/chains/{chain.uid}/rerun"
    page = await operator.http.get(address)
    assert "Run it again" in page.text
    assert 'value="tumour"' in find_start_tag(page.text, "param-sample/label")
    assert f'value="{UID}"' in find_start_tag(page.text, "param-masked")
    assert not re.search(r'<(?:input|textarea|select)[^>]* name="param-[^>]* required', page.text)
    # Top-level fields show the values of the chain as placeholders.
    sent = {**FILLED, "param-masked": UID, "param-masked/label": ""}
    sent |= dict.fromkeys(["param-rows", "param-cut", "param-names", "param-level"], "")
    form = {"csrf_token": read_token(page), "key": str(uuid4()), "what": ""}
    await operator.http.post(address, data=sent | form | {"param-sample/library/sizes": "99"})
    assert [rerun.params for rerun in operator.neighbours.reruns] == [
        {"sample": {"label": "tumour", "library": {"layout": "paired", "sizes": [99]}}}
    ]
