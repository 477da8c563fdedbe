"""The command as people type it, against real systems."""

import asyncio
import hashlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from tests.e2e.systems import NO_CONTAINERS, LiveSystem, home_folder
from tests.waiting import eventually

pytestmark = pytest.mark.xdist_group("e2e-command")

SLUICE = str(Path(sys.executable).parent / "sluice")

SHOUT = """\
cwlVersion: v1.2
$namespaces: {{sluice: "urn:sluice:cwl:"}}
class: Workflow
requirements: {{ScatterFeatureRequirement: {{}}}}
inputs:
  texts: File[]
  suffix: {{type: string, default: "!"}}
outputs:
  all: {{type: File, outputSource: join/joined}}
steps:
  shout:
    scatter: text
    in: {{text: texts, suffix: suffix}}
    out: [loud]
    sluice:retry: {{attempts: {attempts}}}
    run:
      class: CommandLineTool
      baseCommand: {command}
      requirements: {{ToolTimeLimit: {{timelimit: {limit}}}}}
      inputs:
        text: {{type: File, inputBinding: {{position: 1}}}}
        suffix: {{type: string, inputBinding: {{position: 2}}}}
      outputs:
        loud: {{type: File, outputBinding: {{glob: {glob}}}}}
      stdout: loud.txt
  join:
    in: {{parts: shout/loud}}
    out: [joined]
    run:
      class: CommandLineTool
      baseCommand: cat
      arguments: [$(inputs.parts)]
      requirements: {{ToolTimeLimit: {{timelimit: 60}}}}
      inputs: {{parts: "File[]"}}
      outputs: {{joined: {{type: stdout}}}}
      stdout: joined.txt
"""

UPPER = '[python3, -c, "import sys; print(open(sys.argv[1]).read().strip().upper() + sys.argv[2])"]'


def sluice(*arguments: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    environment = os.environ | NO_CONTAINERS
    done = subprocess.run(
        [SLUICE, *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env=environment,
    )
    assert done.returncode == code, (
        f"exit {done.returncode}, not {code}\n{done.stdout}\n{done.stderr}"
    )
    assert "Traceback" not in done.stderr
    return done


def write_workflow(
    path: Path, *, command: str = UPPER, limit: int = 60, glob: str = "loud.txt", attempts: int = 3
) -> Path:
    path.write_text(SHOUT.format(command=command, limit=limit, glob=glob, attempts=attempts))
    return path


def write_texts(folder: Path, *words: str) -> list[str]:
    folder.mkdir(exist_ok=True)
    for number, word in enumerate(words):
        (folder / f"text {number}.txt").write_text(word + "\n")
    return [str(path) for path in sorted(folder.iterdir())]


def test_run_carries_files_through_and_writes_a_manifest(
    system: LiveSystem, tmp_path: Path
) -> None:
    """Invariant 8: the merge receives the files in the order in which they were given."""
    workflow, texts = (
        write_workflow(tmp_path / "shout.cwl"),
        write_texts(tmp_path / "in", "one", "two", "three"),
    )
    given = [texts[2], texts[0], texts[1]]
    sluice(
        "run",
        str(workflow),
        "--input",
        *given,
        "--param",
        "suffix=?",
        "--out",
        str(tmp_path / "out"),
        "--url",
        system.url,
    )
    joined = (tmp_path / "out" / "joined.txt").read_bytes()
    assert joined == b"THREE?\nONE?\nTWO?\n"
    [entry] = json.loads((tmp_path / "out" / "manifest.json").read_text())["outputs"]
    assert (entry["name"], entry["size"], entry["sha256"]) == (
        "joined.txt",
        len(joined),
        hashlib.sha256(joined).hexdigest(),
    )
    assert entry["origin"]["attempt"] == 1
    assert [Path(text).read_text() for text in texts] == [
        "one\n",
        "two\n",
        "three\n",
    ], "the person's own files stay"


@pytest.mark.parametrize(
    ("options", "error_class", "sentence"),
    [
        ({"command": "[no-such-program-here]"}, "tool_failed", "no-such-program-here"),
        ({"command": "[sh, -c, 'echo the reason >&2; exit 3']"}, "tool_failed", "3"),
        ({"command": "[sleep, '1000', '--']", "limit": 1}, "tool_timeout", "1 s"),
        ({"glob": "nothing-here.txt"}, "tool_failed", "loud"),
    ],
    ids=["no program", "exit code", "hangs", "no output"],
)
def test_run_that_fails_says_why_in_plain_words(
    system: LiveSystem,
    tmp_path: Path,
    options: dict[str, str | int],
    error_class: str,
    sentence: str,
) -> None:
    if "sleep" in str(options.get("command")):
        options = options | {"command": "[python3, -c, 'import time; time.sleep(1000)']"}
    workflow = write_workflow(tmp_path / "bad.cwl", attempts=1, **options)  # type: ignore[arg-type] # parametrised
    texts = write_texts(tmp_path / "in", "one")
    done = sluice(
        "run",
        str(workflow),
        "-i",
        *texts,
        "-o",
        str(tmp_path / "out"),
        "--url",
        system.url,
        "--json",
        code=1,
    )
    answer = json.loads(done.stdout)
    assert answer["status"] == "failed"
    assert answer["reason"]
    [failed] = answer["failed_jobs"]
    assert failed["class"] == error_class
    assert sentence in failed["message"]
    assert not (tmp_path / "out" / "manifest.json").exists()


def test_run_refuses_a_wrong_template_with_every_reason_and_stores_nothing(
    system: LiveSystem, tmp_path: Path
) -> None:
    workflow = tmp_path / "wrong.cwl"
    workflow.write_text(
        write_workflow(tmp_path / "right.cwl")
        .read_text()
        .replace("text: texts", "text: textz")
        .replace("shout/loud", "shout/lout")
    )
    done = sluice(
        "run", str(workflow), "-i", *write_texts(tmp_path / "in", "x"), "--url", system.url, code=1
    )
    assert "textz" in done.stderr
    assert "lout" in done.stderr
    assert "wrong" not in names_of_templates(system, "--all")


def names_of_templates(system: LiveSystem, *options: str) -> list[str]:
    return [
        one["name"]
        for one in json.loads(
            sluice("template", "list", "--json", *options, "--url", system.url).stdout
        )
    ]


def test_run_leaves_what_is_published_as_it_is(system: LiveSystem, tmp_path: Path) -> None:
    """A trial of the file that a live template was made of: the next data set still goes through
    the live one."""
    workflow, texts = write_workflow(tmp_path / "live.cwl"), write_texts(tmp_path / "in", "a")
    workflow.write_text(
        workflow.read_text().replace("inputs:", "sluice:match: {trial: live}\ninputs:", 1)
    )
    sluice("template", "upload", str(workflow), "--url", system.url)
    workflow.write_text(workflow.read_text().replace(".upper()", ".lower()"))
    sluice(
        "run",
        str(workflow),
        "-i",
        *texts,
        "-o",
        str(tmp_path / "out"),
        "--meta",
        "trial=live",
        "--url",
        system.url,
    )
    sluice("run", str(workflow), "-i", *texts, "-o", str(tmp_path / "again"), "--url", system.url)
    assert (tmp_path / "out" / "joined.txt").read_text() == "a!\n", "the trial's own files"
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert manifest["template"] == {"name": "live", "version": None}
    sluice(
        "dataset", "register", "comes-later", *texts, "--meta", "trial=live", "--url", system.url
    )

    def carried() -> list[str]:
        chains = json.loads(sluice("chain", "list", "--json", "--url", system.url).stdout)
        return [
            f"{one['template_name']} {one['template_version']}"
            for one in chains
            if one["dataset_name"] == "comes-later"
        ]

    asyncio.run(
        eventually(
            lambda: asyncio.to_thread(lambda: bool(carried())), what="the data set is matched"
        )
    )
    assert carried() == ["live 1"]
    assert names_of_templates(system).count("live") == 1
    assert names_of_templates(system, "--all").count("live") == 2, (
        "what was run twice is there once"
    )
    assert "live (run)" in sluice("chain", "list", "--url", system.url).stdout


def test_run_names_files_that_are_not_there(system: LiveSystem, tmp_path: Path) -> None:
    workflow = write_workflow(tmp_path / "shout.cwl")
    done = sluice(
        "run", str(workflow), "-i", str(tmp_path / "absent.txt"), "--url", system.url, code=1
    )
    assert "absent.txt" in done.stderr


def write_large(path: Path) -> Path:
    """Its first step fits no node."""
    workflow = write_workflow(path)
    asking = "requirements: {ResourceRequirement: {coresMin: 9999}, ToolTimeLimit"
    workflow.write_text(workflow.read_text().replace("requirements: {ToolTimeLimit", asking, 1))
    return workflow


def test_run_ends_where_no_node_will_ever_fit(system: LiveSystem, tmp_path: Path) -> None:
    workflow, texts = write_large(tmp_path / "huge.cwl"), write_texts(tmp_path / "in", "a")
    done = sluice(
        "run", str(workflow), "-i", *texts, "-o", str(tmp_path / "out"), "--url", system.url, code=1
    )
    assert (
        "step shout cannot run, for no node fits: a job needs 9999 cores, the node has "
        in " ".join(done.stderr.split())
    )
    assert "The chain is canceled; with --wait it would wait for such a node." in " ".join(
        done.stderr.split()
    )
    chains = json.loads(sluice("chain", "list", "--json", "--url", system.url).stdout)
    assert [chain["state"] for chain in chains if chain["template_name"] == "huge"] == ["canceled"]


def test_run_tells_what_keeps_a_step_waiting(system: LiveSystem, tmp_path: Path) -> None:
    workflow, texts = write_large(tmp_path / "large.cwl"), write_texts(tmp_path / "in", "a")
    command = [
        SLUICE,
        "run",
        str(workflow),
        "-i",
        *texts,
        "-o",
        str(tmp_path / "out"),
        "--url",
        system.url,
        "--wait",
    ]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        line = next(line for line in process.stderr if "waits:" in line)
        assert "shout waits: No pilot fits: a job needs 9999 cores" in line
        chains = json.loads(sluice("chain", "list", "--json", "--url", system.url).stdout)
        [chain] = [chain for chain in chains if chain["template_name"] == "large"]
        sluice("chain", "cancel", chain["uid"], "--url", system.url)
        said = process.stderr.read()
    assert "canceled by request" in said
    assert process.returncode == 1


def test_lists_are_tables_and_json(system: LiveSystem, tmp_path: Path) -> None:
    workflow, texts = (
        write_workflow(tmp_path / "listed.cwl"),
        write_texts(tmp_path / "in", "a", "b"),
    )
    sluice("run", str(workflow), "-i", *texts, "-o", str(tmp_path / "out"), "--url", system.url)
    chains = json.loads(sluice("chain", "list", "--json", "--url", system.url).stdout)
    [chain] = [chain for chain in chains if chain["template_name"] == "listed"]
    assert chain["state"] == "finished"
    assert "listed" in sluice("chain", "list", "--url", system.url).stdout
    assert "shout" in sluice("chain", "show", chain["uid"], "--url", system.url).stdout
    page = httpx.get(f"{system.url}/chains/{chain['uid']}")
    assert page.is_success
    assert chain["dataset_name"] in page.text, "its page on the web"
    tasks = json.loads(
        sluice("task", "list", "--chain", chain["uid"], "--json", "--url", system.url).stdout
    )
    assert sorted(task["jobs"]["total"] for task in tasks) == [1, 2]
    task = next(task for task in tasks if task["step"] == "shout")
    jobs = json.loads(sluice("task", "jobs", task["task_id"], "--json", "--url", system.url).stdout)
    assert [job["inputs"] for job in jobs] == [["text 0.txt"], ["text 1.txt"]]
    assert (
        json.loads(sluice("pilot", "list", "--json", "--url", system.url).stdout)[0]["slots"] == 2
    )
    datasets = json.loads(sluice("dataset", "list", "--json", "--url", system.url).stdout)
    uids = {one["uid"] for one in chain["datasets"]}
    [output] = [one for one in datasets if one["uid"] in uids and one["type"] == "output"]
    assert output["name"][:8] in sluice("dataset", "list", "--url", system.url).stdout


def test_a_discarded_chain_leaves_no_file(system: LiveSystem, tmp_path: Path) -> None:
    workflow, texts = (
        write_workflow(tmp_path / "thrown-away.cwl"),
        write_texts(tmp_path / "in", "a", "b"),
    )
    sluice("run", str(workflow), "-i", *texts, "-o", str(tmp_path / "out"), "--url", system.url)
    chains = json.loads(sluice("chain", "list", "--json", "--url", system.url).stdout)
    [chain] = [chain for chain in chains if chain["template_name"] == "thrown-away"]
    folders = {
        one["uid"]: httpx.get(f"{system.dms_url}/api/v1/datasets/{one['uid']}").json()
        for one in chain["datasets"]
    }
    [output] = [one for one in folders.values() if one["type"] == "output"]
    there = [path for path in system.storage_files("output") if output["name"] in str(path)]
    assert there, "the output is on its storage"
    assert "deleted now" in sluice("chain", "discard", chain["uid"], "--url", system.url).stdout

    def gone() -> bool:
        states = [
            httpx.get(f"{system.dms_url}/api/v1/datasets/{uid}").json()["state"] for uid in folders
        ]
        return set(states) == {"deleted"}

    asyncio.run(
        eventually(lambda: asyncio.to_thread(gone), what="all data sets of the chain are deleted")
    )
    assert [path for path in there if path.exists()] == []


def test_results_are_had_again_and_never_overwritten_unasked(
    system: LiveSystem, tmp_path: Path
) -> None:
    workflow, texts = write_workflow(tmp_path / "again.cwl"), write_texts(tmp_path / "in", "a", "b")
    at, first, again = ["--url", system.url], tmp_path / "first", tmp_path / "again"
    sluice("run", str(workflow), "-i", *texts, "-o", str(first), *at)
    [chain] = [
        one
        for one in json.loads(sluice("chain", "list", "--json", *at).stdout)
        if one["template_name"] == "again"
    ]
    get = ["chain", "get", chain["uid"], "--out", str(again), *at]
    assert str(again / "joined.txt") in sluice(*get).stdout
    assert {path.name: path.read_text() for path in again.iterdir()} == {
        path.name: path.read_text() for path in first.iterdir()
    }
    before = (again / "joined.txt").stat()
    sluice(*get)
    assert (again / "joined.txt").stat().st_ino == before.st_ino, "it is there, and right"
    (again / "joined.txt").write_text("mine")
    refused = sluice(*get, code=1)
    assert "it has joined.txt already" in refused.stderr
    assert (again / "joined.txt").read_text() == "mine"
    sluice(*get, "--force")
    assert (again / "joined.txt").read_text() == "A!\nB!\n"
    uids = {one["uid"]: one for one in chain["datasets"]}
    output = next(uid for uid, one in uids.items() if one["port"] == "joined")
    sluice("dataset", "get", output, "--out", str(tmp_path / "set"), *at)
    assert (tmp_path / "set" / "joined.txt").read_text() == "A!\nB!\n"
    assert json.loads((tmp_path / "set" / "manifest.json").read_text())["dataset"]["uid"] == output
    assert "finished" in sluice("chain", "watch", chain["uid"], *at).stderr


def test_run_looks_at_its_folder_before_anything_starts(tmp_path: Path) -> None:
    workflow, texts = write_workflow(tmp_path / "shout.cwl"), write_texts(tmp_path / "in", "a")
    home, out = tmp_path / "home", tmp_path / "out"
    out.mkdir()
    (out / "kept.txt").write_text("mine")
    for folder, why in (
        (out, "it has kept.txt already"),
        (out / "kept.txt", "is a file; name a folder"),
    ):
        refused = sluice(
            "run", str(workflow), "-i", *texts, "--out", str(folder), "--home", str(home), code=1
        )
        assert why in refused.stderr
    assert not home.exists()


def interrupted(*arguments: str) -> tuple[str, str]:
    """Runs until there is a chain, then Ctrl-C: the chain, and what was said."""
    command = [SLUICE, "run", *arguments]
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, env=os.environ | NO_CONTAINERS
    ) as process:
        assert process.stderr is not None
        chain = next(line for line in process.stderr if line.startswith("chain ")).split()[1]
        process.send_signal(signal.SIGINT)
        said = process.stderr.read()
    assert process.returncode == 130
    assert "Traceback" not in said
    return chain, said


def test_after_ctrl_c_the_chain_goes_on_and_the_command_says_how(
    system: LiveSystem, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    waiting = (
        f"import os, sys, time\nwhile not os.path.exists({str(gate)!r}):"
        " time.sleep(0.05)\nprint('through', *sys.argv[2:])"
    )
    workflow = write_workflow(
        tmp_path / "gated.cwl", command=json.dumps(["python3", "-c", waiting])
    )
    texts, out = write_texts(tmp_path / "in", "a"), str(tmp_path / "out")
    chain, said = interrupted(str(workflow), "-i", *texts, "--out", out, "--url", system.url)
    assert f"sluice chain watch {chain} --url {system.url}" in said
    assert f"sluice chain get {chain} --out {out} --url {system.url}" in said
    assert (
        "there are results when it has finished"
        in sluice("chain", "get", chain, "--url", system.url, code=1).stderr
    )
    gate.touch()
    sluice("chain", "watch", chain, "--url", system.url)
    sluice("chain", "get", chain, "--out", out, "--url", system.url)
    assert (tmp_path / "out" / "joined.txt").read_text() == "through !\n"


def test_without_a_system_the_command_says_what_to_do(tmp_path: Path) -> None:
    done = sluice("task", "list", "--home", str(tmp_path / "nothing"), code=1)
    assert "sluice up" in done.stderr
    sluice("status", "--home", str(tmp_path / "nothing"), code=1)


def test_up_run_down(tmp_path: Path) -> None:
    """Up twice is once; a run uses what is up; down stops it; a run without a system starts one and
    stops it again, interrupted or not."""
    with home_folder() as folder:
        check_up_run_down(folder, tmp_path)


def check_up_run_down(folder: Path, tmp_path: Path) -> None:
    home = ["--home", str(folder)]
    workflow, texts = write_workflow(tmp_path / "shout.cwl"), write_texts(tmp_path / "in", "x")
    (mine := tmp_path / "my data").mkdir()
    sluice("up", "--detach", "--port", "0", "--storage-root", str(mine), *home)
    sluice("storage", "add", "archive", "input", f"file://{mine}", "--read-only", *home)
    assert (
        "--storage-root"
        in sluice("storage", "add", "other", "input", f"file://{tmp_path}/in", *home, code=1).stderr
    )
    assert "already runs" in sluice("up", "--detach", *home).stdout
    assert json.loads(sluice("status", "--json", *home).stdout)["running"]
    sluice("run", str(workflow), "-i", *texts, "-o", str(tmp_path / "first"), *home)
    assert "stopped" in sluice("down", *home).stdout
    sluice("run", str(workflow), "-i", *texts, "-o", str(tmp_path / "second"), *home)
    assert (
        (tmp_path / "second" / "joined.txt").read_text()
        == (tmp_path / "first" / "joined.txt").read_text()
        == "X!\n"
    )
    sluice("status", *home, code=1)
    # Interrupted, it stops the system that it started, and says so; the chain goes on with the next
    # one.
    chain, said = interrupted(str(workflow), "-i", *texts, "-o", str(tmp_path / "third"), *home)
    assert "stops with it. The chain goes on when it runs again:\n  sluice up --home" in said
    sluice("status", *home, code=1)
    sluice("up", "--detach", "--port", "0", *home)
    sluice("chain", "watch", chain, *home)
    sluice("chain", "get", chain, "--out", str(tmp_path / "third"), *home)
    assert (tmp_path / "third" / "joined.txt").read_text() == "X!\n"
    sluice("down", *home)
