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


class HumanTask(NamedTuple):
    """A human task. ``link`` and ``browser`` are UUIDs."""

    group: str
    template: str
    step: str
    link: str
    browser: str

    @property
    def path(self) -> str:
        return f"{self.group}/{self.template}/{self.step}"


def make_human_task_template(*, kind: str, step: str) -> str:
    return _TEMPLATE.format(kind=kind, step=step)


def create_answered_task(
    send: Callable[[str, str, Any], Any], browser: httpx.Client, *, group: str, template: str
) -> HumanTask:
    """Return the human task of a template with a chain after its first answer.

    ``send`` sends a request (method, path, body) with sufficient permissions and returns the
    answer.
    ``browser`` is a browser on the site of the links."""

    def list_steps_with_items() -> list[dict[str, Any]]:
        answer = send("GET", "/api/v1/asking/steps", None)["steps"]
        return [each for each in answer if each["template"] == template and each["items"]]

    wait_until(list_steps_with_items, what="the human task")
    step = list_steps_with_items()[0]["step"]
    path = f"/api/v1/asking/steps/{group}/{template}/{step}"
    link = send("POST", f"{path}/links", {"days": 2})
    link_url = urljoin(str(browser.base_url), link["url"])
    page = link_url.partition("?")[0]
    assert browser.get(link_url).status_code == httpx.codes.SEE_OTHER
    page_items = _request_next_items(browser, page, {"requested_items": 1})
    answer = {"item": page_items["items"][0]["id"], "answer": "yes", "seconds": 2}
    _request_next_items(browser, page, {"answers": [answer], "requested_items": 0})
    [answered_browser] = send("GET", f"{path}/browsers", None)["browsers"]
    return HumanTask(group, template, step, link["uid"], answered_browser["uid"])


def _request_next_items(browser: httpx.Client, page: str, body: dict[str, Any]) -> dict[str, Any]:
    answer = browser.post(f"{page}/next", json=body, headers={"Sluice-Ask": "1"})
    assert answer.is_success, answer.text
    return dict(answer.json())
