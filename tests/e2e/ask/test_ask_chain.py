"""A chain with a human task on a whole system."""

import asyncio
import json
import subprocess
from pathlib import Path
from uuid import uuid4

import httpx
import pytest

from sluice.contracts.human_tasks.annotation import AnnotatorAnswer, AskNext, NextItems
from sluice.contracts.human_tasks.supervision import AskLink
from sluice.network.credentials import headers_for
from tests.e2e.commands import SLUICE
from tests.e2e.systems import NO_CONTAINERS, run_live_system
from tests.waiting import eventually

pytestmark = [
    pytest.mark.long("tests/integration tests each service separately"),
    pytest.mark.xdist_group("e2e-ask-chain"),
]

WORKFLOW = """\
cwlVersion: v1.2
$namespaces: {sluice: "urn:sluice:cwl:"}
class: Workflow
requirements: {ScatterFeatureRequirement: {}}
inputs:
  notes: File[]
outputs:
  all: {type: File, outputSource: join/joined}
steps:
  look:
    sluice:ask: {question: Is it a mass?, agree: 2, link: 7}
    scatter: note
    in: {note: notes}
    out: [answer]
    run:
      class: Operation
      inputs: {note: File}
      outputs: {answer: File}
  join:
    in: {parts: look/answer}
    out: [joined]
    run:
      class: CommandLineTool
      baseCommand: cat
      arguments: [$(inputs.parts)]
      requirements: {ToolTimeLimit: {timelimit: 60}}
      inputs: {parts: "File[]"}
      outputs: {joined: {type: stdout}}
      stdout: joined.txt
"""
QUICK = {"SLUICE_ASK_SETTLE": "1", "SLUICE_ASK_UNDO": "0", **NO_CONTAINERS}


async def answer(url: str, word: str) -> None:
    """Answer all items as a new browser."""
    async with httpx.AsyncClient(base_url=url, headers=headers_for(url)) as http:
        path_of_step = "/services/ask/api/v1/asking/steps/everyone/notes/look/links"

        async def has_items() -> bool:
            steps = (await http.get("/services/ask/api/v1/asking/steps")).json()["steps"]
            return bool(steps) and sum(steps[0]["items"].values()) == 3

        await eventually(has_items, what="three items", seconds=60)
        link = AskLink.model_validate((await http.post(path_of_step, json={"days": 1})).json())
    agent = {"User-Agent": f"browser {uuid4()}"}  # Each user agent counts as another person.
    async with httpx.AsyncClient(base_url=url, headers=agent, follow_redirects=True) as browser:
        page = await browser.get(str(link.url))
        assert page.is_success
        assert "Sluice" in page.text
        path, given_answers = page.url.path, list[AnnotatorAnswer]()
        while True:
            body = AskNext(answers=given_answers).model_dump(mode="json")
            back = await browser.post(f"{path}/next", json=body, headers={"Sluice-Ask": "1"})
            items = NextItems.model_validate(back.raise_for_status().json()).items
            if not items:
                return
            given_answers = [
                AnnotatorAnswer(item=item.id, answer=word, seconds=2) for item in items
            ]


def test_agreed_answers_are_the_input_of_the_next_step(tmp_path: Path) -> None:
    (tmp_path / "notes.cwl").write_text(WORKFLOW)
    for number in range(3):
        (tmp_path / f"{number}.txt").write_text(f"at {number}:00")
    with run_live_system(environment=QUICK) as system:
        command = [
            SLUICE, "run", str(tmp_path / "notes.cwl"), "--url", system.url, "--out",
            str(tmp_path / "out"), "--input", *(str(tmp_path / f"{n}.txt") for n in range(3)),
        ]  # fmt: skip
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as run:
            for word in ("yes", "yes"):
                asyncio.run(answer(system.url, word))
            output, _ = run.communicate(timeout=120)
        assert run.returncode == 0, output.decode()
    lines = (tmp_path / "out/joined.txt").read_text().splitlines()
    answer_records = [json.loads(line) for line in lines]
    assert [(one["name"], one["answer"], one["agreed"]) for one in answer_records] == [
        (f"{number}.txt", "yes", 2) for number in range(3)
    ]
