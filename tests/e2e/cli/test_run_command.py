"""`sluice run` as people type it, on a real system."""

import asyncio
import hashlib
import json
import subprocess
from pathlib import Path

import pytest

from bench.chain_run import run_template
from sluice.clientkit.transfer.output_folder import reserve_folder
from sluice.clientkit.watch.wait_reasons import UnschedulableStep
from sluice.contracts.common.states import ChainState
from sluice.contracts.templates.templates import NewTemplate
from tests.e2e.commands import SLUICE, interrupt_run, run_sluice, write_texts, write_workflow
from tests.e2e.systems import LiveSystem
from tests.waiting import Gate, eventually

pytestmark = pytest.mark.xdist_group("e2e-command")


def test_run_processes_files_and_writes_a_manifest(system: LiveSystem, tmp_path: Path) -> None:
    """Invariant 8: the merge gets the files in the order of the command line."""
    workflow, texts = (
        write_workflow(tmp_path / "shout.cwl"),
        write_texts(tmp_path / "in", "one", "two", "three"),
    )
    inputs = [texts[2], texts[0], texts[1]]
    run_sluice(
        "run",
        str(workflow),
        "--input",
        *inputs,
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
    ], "the person's own files are kept"


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
def test_failed_run_explains_the_failure(
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
    done = run_sluice(
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
    assert answer["status"] == ChainState.FAILED
    assert answer["reason"]
    [failed] = answer["failed_jobs"]
    assert failed["class"] == error_class
    assert sentence in failed["message"]
    at = ["--url", system.url]
    watched = run_sluice("chain", "watch", answer["chain"], *at, code=1).stderr
    assert f"step shout, job {failed['job']} (text 0.txt): {failed['message']}" in watched
    assert f"its log: sluice logs {failed['job']} --url {system.url}" in watched
    log = run_sluice("logs", str(failed["job"]), *at).stdout
    for name in (answer["chain"], f"{answer['chain']}.shout"):
        assert (
            f"==> shout, job {failed['job']}: failed <==\n{log}"
            in run_sluice("logs", name, *at).stdout
        )
    assert not (tmp_path / "out" / "manifest.json").exists()


def test_manifest_lists_jobs_that_failed_and_their_inputs(
    system: LiveSystem, tmp_path: Path
) -> None:
    no_bad = "[sh, -c, '! grep bad \"$0\"']"
    workflow = write_workflow(tmp_path / "some.cwl", command=no_bad, attempts=1)
    boundary = "    sluice:boundary: {minimum: 0.5, sufficient: 1.0}\n    sluice:retry:"
    workflow.write_text(workflow.read_text().replace("    sluice:retry:", boundary))
    texts = write_texts(tmp_path / "in", "one", "bad", "three")
    out, second_run = tmp_path / "out", tmp_path / "again"
    answer = json.loads(
        run_sluice(
            *("run", str(workflow), "-i", *texts, "-o", str(out), "--dataset", "three words"),
            *("--url", system.url, "--json"),
        ).stdout
    )
    assert "three words" in run_sluice("chain", "list", "--url", system.url).stdout
    run_sluice("chain", "get", answer["chain"], "-o", str(second_run), "--url", system.url)
    for folder in (out, second_run):
        [failed] = json.loads((folder / "manifest.json").read_text())["failed_jobs"]
        assert failed == answer["failed_jobs"][0]
        assert failed["inputs"] == [Path(texts[1]).name]


def test_run_and_get_list_the_logs_of_failed_jobs(system: LiveSystem, tmp_path: Path) -> None:
    no_bad = "[sh, -c, '! grep bad \"$0\"']"
    workflow = write_workflow(tmp_path / "some.cwl", command=no_bad, attempts=1)
    boundary = "    sluice:boundary: {minimum: 0.5, sufficient: 1.0}\n    sluice:retry:"
    workflow.write_text(workflow.read_text().replace("    sluice:retry:", boundary))
    texts = write_texts(tmp_path / "in", "one", "bad")
    out, second_run = tmp_path / "out", tmp_path / "again"
    at = ("--url", system.url)
    listed = {out: run_sluice("run", str(workflow), "-i", *texts, "-o", str(out), *at).stdout}
    chain = json.loads((out / "manifest.json").read_text())["chain"]
    listed[second_run] = run_sluice("chain", "get", chain, "-o", str(second_run), *at).stdout
    for folder, lines in listed.items():
        [log] = folder.glob("failed/shout/*/log.txt")
        assert f"{log}  {log.stat().st_size} B" in lines.splitlines()


def test_run_refuses_an_invalid_workflow_with_all_findings(
    system: LiveSystem, tmp_path: Path
) -> None:
    workflow = tmp_path / "wrong.cwl"
    workflow.write_text(
        write_workflow(tmp_path / "right.cwl")
        .read_text()
        .replace("text: texts", "text: textz")
        .replace("shout/loud", "shout/lout")
    )
    texts, out = write_texts(tmp_path / "in", "x"), ("-o", str(tmp_path / "out"))
    done = run_sluice("run", str(workflow), "-i", *texts, *out, "--url", system.url, code=1)
    assert "textz" in done.stderr
    assert "lout" in done.stderr
    assert "wrong" not in list_template_names(system, "--all")


VALUES = """\
cwlVersion: v1.2
class: Workflow
requirements: {ScatterFeatureRequirement: {}}
inputs: {cuts: "int[]", word: {type: string, default: cut}, ref: File?}
outputs: {all: {type: "File[]", outputSource: try/said}}
steps:
  try:
    scatter: cut
    in: {cut: cuts, word: word, ref: ref}
    out: [said]
    run:
      class: CommandLineTool
      baseCommand: [sh, -c, 'echo "$0" "$1"; test -z "$2" || cat "$2"']
      arguments: [$(inputs.word), $(inputs.cut), $(inputs.ref)]
      inputs: {cut: int, word: string, ref: File?}
      outputs: {said: stdout}
      stdout: cut-$(inputs.cut).txt
      requirements: {ToolTimeLimit: {timelimit: 60}}
"""


def test_run_takes_a_job_order_for_a_workflow_without_data(
    system: LiveSystem, tmp_path: Path
) -> None:
    """There is no data set, and a repeated run runs again."""
    workflow, order, ref = (tmp_path / name for name in ("v.cwl", "order.yml", "ref.txt"))
    workflow.write_text(VALUES)
    ref.write_text("a reference\n")
    order.write_text("cuts: [3, 1, 2]\nword: deep\nref: {class: File, path: ref.txt}\n")
    command = ("run", str(workflow), "--job", str(order), "--url", system.url)
    for out, more, word in (("one", (), "deep"), ("two", ("--param", "word=high"), "high")):
        run_sluice(*command, *more, "--out", str(tmp_path / out))
        outputs = json.loads((tmp_path / out / "manifest.json").read_text())["outputs"]
        assert [each["name"] for each in outputs] == ["cut-3.txt", "cut-1.txt", "cut-2.txt"]
        text = (tmp_path / out / "cut-1.txt").read_text()
        assert text == f"{word} 1\na reference\n"
    options = ("--quiet", "--url", system.url, "--outdir", str(tmp_path / "by-runner"))
    answer = json.loads(run_sluice("cwl-runner", *options, str(workflow), str(order)).stdout)
    assert [each["basename"] for each in answer["all"]] == [each["name"] for each in outputs]
    second_run = run_sluice(*command, "--out", str(tmp_path / "three"), "--json")
    assert json.loads(second_run.stdout)["status"] == ChainState.FINISHED
    texts = [{"class": "File", "path": "ref.txt"}]
    (tmp_path / "whole.json").write_text(json.dumps({"texts": texts, "suffix": "?"}))
    run_sluice(
        "run",
        str(write_workflow(tmp_path / "s.cwl")),
        "--job",
        str(tmp_path / "whole.json"),
        *("--url", system.url, "--out", str(tmp_path / "five")),
    )
    assert (tmp_path / "five" / "joined.txt").read_text() == "A REFERENCE?\n"
    failure = run_sluice(*command, "--input", str(ref), "--out", str(tmp_path / "four"), code=1)
    assert "takes no data set: all its inputs are parameters" in failure.stderr
    nowhere = ("--out", str(tmp_path / "six"), "--url", system.url)
    failed_run = run_sluice("run", str(workflow), *nowhere, code=1)
    assert "'cuts' (a list of int) is required" in failed_run.stderr
    none = run_sluice("run", str(write_workflow(tmp_path / "s.cwl")), *nowhere, code=1)
    assert "needs a data set for its input 'texts': give its files with --input" in none.stderr


def list_template_names(system: LiveSystem, *options: str) -> list[str]:
    return [
        one["name"]
        for one in json.loads(
            run_sluice("template", "list", "--json", *options, "--url", system.url).stdout
        )
    ]


def test_run_does_not_change_the_published_template(system: LiveSystem, tmp_path: Path) -> None:
    """The run uses a new version of the file; the next data set uses the published one."""
    workflow, texts = write_workflow(tmp_path / "live.cwl"), write_texts(tmp_path / "in", "a")
    workflow.write_text(
        workflow.read_text().replace("inputs:", "sluice:match: {trial: live}\ninputs:", 1)
    )
    run_sluice("template", "upload", str(workflow), "--url", system.url)
    workflow.write_text(workflow.read_text().replace(".upper()", ".lower()"))
    run_sluice(
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
    run_sluice(
        "run", str(workflow), "-i", *texts, "-o", str(tmp_path / "again"), "--url", system.url
    )
    assert (tmp_path / "out" / "joined.txt").read_text() == "a!\n", "the run uses its own version"
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert manifest["template"] == {"name": "live", "version": None}
    run_sluice(
        "dataset", "register", "comes-later", *texts, "--meta", "trial=live", "--url", system.url
    )

    def list_processed_chains() -> list[str]:
        chains = json.loads(run_sluice("chain", "list", "--json", "--url", system.url).stdout)
        return [
            f"{one['template']} {one['template_version']}"
            for one in chains
            if one["dataset_name"] == "comes-later"
        ]

    asyncio.run(
        eventually(
            lambda: asyncio.to_thread(lambda: bool(list_processed_chains())),
            what="the data set is matched",
        )
    )
    assert list_processed_chains() == ["live 1"]
    assert list_template_names(system).count("live") == 1
    assert list_template_names(system, "--all").count("live") == 2, (
        "two equal runs have one run template"
    )
    assert "live (run)" in run_sluice("chain", "list", "--url", system.url).stdout


def test_run_names_missing_files(system: LiveSystem, tmp_path: Path) -> None:
    workflow = write_workflow(tmp_path / "shout.cwl")
    done = run_sluice(
        "run", str(workflow), "-i", str(tmp_path / "absent.txt"), "--url", system.url, code=1
    )
    assert "absent.txt" in done.stderr


def write_large(path: Path) -> Path:
    """Write a workflow whose first step fits no node."""
    workflow = write_workflow(path)
    needs = "requirements: {ResourceRequirement: {coresMin: 9999}, ToolTimeLimit"
    workflow.write_text(workflow.read_text().replace("requirements: {ToolTimeLimit", needs, 1))
    return workflow


def test_run_ends_if_no_node_can_fit(system: LiveSystem, tmp_path: Path) -> None:
    workflow, texts = write_large(tmp_path / "huge.cwl"), write_texts(tmp_path / "in", "a")
    done = run_sluice(
        "run", str(workflow), "-i", *texts, "-o", str(tmp_path / "out"), "--url", system.url, code=1
    )
    assert (
        "step shout cannot run, for no node fits: a job needs 9999 cores, the node has "
        in " ".join(done.stderr.split())
    )
    assert "The chain is canceled; with --wait it would wait for such a node." in " ".join(
        done.stderr.split()
    )
    chains = json.loads(run_sluice("chain", "list", "--json", "--url", system.url).stdout)
    [chain] = [chain for chain in chains if chain["template"] == "huge"]
    assert chain["state"] == ChainState.CANCELED
    reason = "`sluice run` gave up: step shout cannot run, for no node fits: a job needs 9999 cores"
    assert chain["reason"].startswith(reason)
    tasks = json.loads(run_sluice("task", "list", "--json", "--url", system.url).stdout)
    [ended] = [task["jobs"] for task in tasks if task["chain_uid"] == chain["uid"] and task["jobs"]]
    assert ended["reason"] == chain["reason"]


def test_benchmarks_and_demonstrations_end_if_no_node_can_fit(
    system: LiveSystem, tmp_path: Path
) -> None:
    new = NewTemplate(name="vast", cwl=write_large(tmp_path / "vast.cwl").read_text())
    texts = [Path(text) for text in write_texts(tmp_path / "in", "a")]
    with pytest.raises(UnschedulableStep, match="no node fits: a job needs 9999 cores"):
        asyncio.run(run_template(system.url, new, texts))


def test_run_explains_why_a_step_waits(system: LiveSystem, tmp_path: Path) -> None:
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
        chains = json.loads(run_sluice("chain", "list", "--json", "--url", system.url).stdout)
        [chain] = [chain for chain in chains if chain["template"] == "large"]
        run_sluice("chain", "cancel", chain["uid"], "--yes", "--url", system.url)
        stderr = process.stderr.read()
    assert "canceled by request" in stderr
    assert process.returncode == 1


def test_run_checks_its_output_folder_before_it_starts(tmp_path: Path) -> None:
    workflow, texts = write_workflow(tmp_path / "shout.cwl"), write_texts(tmp_path / "in", "a")
    home, out = tmp_path / "home", tmp_path / "out"
    out.mkdir()
    (out / "kept.txt").write_text("mine")
    for folder, reason in (
        (out, "it has 'kept.txt' already"),
        (out / "kept.txt", "is a file; name a folder"),
    ):
        refused = run_sluice(
            "run", str(workflow), "-i", *texts, "--out", str(folder), "--home", str(home), code=1
        )
        assert reason in refused.stderr
    other = tmp_path / "other"
    with reserve_folder(other, empty=True):
        refused = run_sluice(
            "run", str(workflow), "-i", *texts, "--out", str(other), "--home", str(home), code=1
        )
    assert f"--out {other}: another command" in refused.stderr
    assert not home.exists()


def test_interrupted_run_tells_how_to_continue(system: LiveSystem, tmp_path: Path) -> None:
    gate = Gate(tmp_path / "gate")
    waiting = f"import sys\nopen({str(gate)!r}).close()\nprint('through', *sys.argv[2:])"
    workflow = write_workflow(
        tmp_path / "gated.cwl", command=json.dumps(["python3", "-c", waiting])
    )
    texts, out = write_texts(tmp_path / "in", "a"), str(tmp_path / "out")
    chain, output = interrupt_run(str(workflow), "-i", *texts, "--out", out, "--url", system.url)
    assert f"sluice chain watch {chain} --url {system.url}" in output
    assert f"sluice chain get {chain} --out {out} --url {system.url}" in output
    assert (
        "there are results when it has finished"
        in run_sluice("chain", "get", chain, "--url", system.url, code=1).stderr
    )
    gate.open()
    run_sluice("chain", "watch", chain, "--url", system.url)
    run_sluice("chain", "get", chain, "--out", out, "--url", system.url)
    assert (tmp_path / "out" / "joined.txt").read_text() == "through !\n"
