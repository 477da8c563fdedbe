"""Set up a human task and a browser that has answered one of its items."""

from collections.abc import Callable
from typing import Any, NamedTuple
from urllib.parse import urljoin

import httpx

from tests.waiting import wait_until

_TEMPLATE = """
cwlVersion: v1.2
class: Workflow
$namespaces: {{sluice: "urn:sluice:cwl:"}}
requirements: {{ScatterFeatureRequirement: {{}}}}
sluice:match: {{kind: {kind}}}
inputs: {{texts: "File[]"}}
outputs: {{answers: {{type: "File[]", outputSource: {step}/answer}}}}
steps:
  {step}:
    sluice:ask: {{question: Is it one?, link: 30}}
    scatter: text
    in: {{text: texts}}
    out: [answer]
    run:
      class: Operation
      inputs: {{text: File}}
      outputs: {{answer: File}}
"""


class AskedStep(NamedTuple):
    """A human task. ``link`` and ``device`` are UUIDs."""

    group: str
    template: str
    step: str
    link: str
    device: str

    @property
    def place(self) -> str:
        return f"{self.group}/{self.template}/{self.step}"


def human_task_template(*, kind: str, step: str) -> str:
    return _TEMPLATE.format(kind=kind, step=step)


def asked_step(
    ask: Callable[[str, str, Any], Any], visit: httpx.Client, *, group: str, template: str
) -> AskedStep:
    """Return the human task of a template with a chain after its first answer.

    ``ask`` sends a request (method, path, body) with sufficient permissions and returns the answer.
    ``visit`` is a browser on the site of the links."""

    def steps() -> list[dict[str, Any]]:
        answer = ask("GET", "/api/v1/asking/steps", None)["steps"]
        return [each for each in answer if each["template"] == template and each["items"]]

    wait_until(steps, what="the human task")
    step = steps()[0]["step"]
    path = f"/api/v1/asking/steps/{group}/{template}/{step}"
    link = ask("POST", f"{path}/links", {"days": 2})
    there = urljoin(str(visit.base_url), link["url"])
    page = there.partition("?")[0]
    assert visit.get(there).status_code == httpx.codes.SEE_OTHER
    page_items = _next(visit, page, {"requested_items": 1})
    answer = {"item": page_items["items"][0]["id"], "answer": "yes", "seconds": 2}
    _next(visit, page, {"answers": [answer], "requested_items": 0})
    [device] = ask("GET", f"{path}/devices", None)["devices"]
    return AskedStep(group, template, step, link["uid"], device["uid"])


def _next(visit: httpx.Client, page: str, body: dict[str, Any]) -> dict[str, Any]:
    answer = visit.post(f"{page}/next", json=body, headers={"Sluice-Ask": "1"})
    assert answer.is_success, answer.text
    return dict(answer.json())
