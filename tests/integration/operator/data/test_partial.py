"""Partial results of a chain that did not finish: command, archive, page; with the real DMS."""

import io
import json
import zipfile
from pathlib import Path

from sluice.contracts.chains.chains import ChainDataset, ChainStep
from sluice.contracts.common.states import ChainDatasetStatus, ChainState, DatasetState, StepState
from tests.integration.operator.data.results import Results, create_filled_dataset
from tests.integration.operator.sluice_command import Command
from tests.waiting import eventually

LOG = b"cannot read line 7\n"


async def fail_chain(results: Results, state: ChainState = ChainState.FAILED) -> None:
    """Fail the chain in its last step, with two logs of one name and a deleted output."""
    first, second = results.chain.datasets
    logs = await create_filled_dataset(
        results.dms, results.folder, {"00000000.1.log": LOG, "1.log": b"second"}
    )
    assert first.step is not None
    assert second.step is not None
    steps = [
        ChainStep(name=first.step, state=StepState.FINISHED),
        ChainStep(name=second.step, state=StepState.FAILED, reason="1 of 6 jobs failed"),
        ChainStep(name="last", state=StepState.PENDING),
    ]
    log = ChainDataset(
        uid=logs, name="log", step=second.step, port=None, state=ChainDatasetStatus.READY
    )
    await results.dms.delete_dataset(first.uid, force=True)

    async def is_deleted() -> bool:
        return (await results.dms.get_dataset(first.uid)).state is DatasetState.DELETED

    await eventually(is_deleted, what="the first output is deleted")
    changed = {"state": state, "steps": steps, "datasets": [first, second, log],
               "reason": "step failed"}  # fmt: skip
    chains = results.operator.neighbours.chains
    chains[results.chain.uid] = results.chain.model_copy(update=changed)


async def test_command_downloads_partial_results_and_names_what_is_missing(
    results: Results, sluice: Command, tmp_path: Path
) -> None:
    await fail_chain(results)
    _, second = results.chain.datasets
    uid, folder = str(results.chain.uid), tmp_path / "left"
    refused = await sluice("chain", "get", uid, "--out", str(folder), code=1)
    assert "what its steps gave: --partial" in refused
    for _ in range(2):  # The second call keeps the existing files.
        message = await sluice("chain", "get", uid, "--partial", "--out", str(folder))
        assert "it was deleted, because it was no longer needed" in message
        assert "the step never began" in message
    output, logs = folder / f"{second.step}.{second.port}", folder / f"{second.step}.logs"
    assert (output / "table.csv").read_bytes() == b"run,hits\n312,<i>77</i>\n"
    assert {file.read_bytes() for file in logs.iterdir()} == {LOG, b"second"}
    manifest = json.loads((folder / "manifest.json").read_text())
    assert (manifest["chain"], manifest["partial"], manifest["state"]) == (uid, True, "failed")
    assert [step["state"] for step in manifest["steps"]] == ["finished", "failed", "pending"]
    assert [missing["why"] for missing in manifest["missing"]] == [
        "it was deleted, because it was no longer needed",
        "only the outputs of finished jobs: the step failed (1 of 6 jobs failed)",
        "the step never began",
    ]
    written = {file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file()}
    assert {entry["name"] for entry in manifest["outputs"]} == written - {"manifest.json"}


async def test_archive_and_page_have_the_same_partial_results(results: Results) -> None:
    await fail_chain(results)
    first, second = results.chain.datasets
    address = f"/api/v1/chains/{results.chain.uid}/archive"
    assert (await results.get(address)).status_code == 409
    answer = await results.get(f"{address}?partial=true")
    names = zipfile.ZipFile(io.BytesIO(answer.content)).namelist()
    assert {name.split("/")[0] for name in names} == {
        f"{second.step}.{second.port}",
        f"{second.step}.logs",
    }
    assert "graph.partial.zip" in answer.headers["content-disposition"]
    page = (await results.get(f"/chains/{results.chain.uid}")).text
    for shown in ("Partial results", "partial=true&amp;format=tar", "the step never began",
                  f"{first.port} of {first.step}"):  # fmt: skip
        assert shown in page


async def test_partial_results_of_a_running_chain_are_refused(
    results: Results, sluice: Command, tmp_path: Path
) -> None:
    await fail_chain(results, ChainState.IN_PROGRESS)
    uid = str(results.chain.uid)
    refused = await results.get(f"/api/v1/chains/{uid}/archive?partial=true")
    assert refused.status_code == 409
    assert "when it has ended" in refused.json()["detail"]
    output = await sluice("chain", "get", uid, "--partial", "--out", str(tmp_path / "x"), code=1)
    assert f"sluice chain cancel {uid}" in output
    assert not (tmp_path / "x").exists()
    assert "Partial results" not in (await results.get(f"/chains/{uid}")).text


async def test_chain_without_remaining_data_has_no_partial_archive(results: Results) -> None:
    await fail_chain(results)
    chains = results.operator.neighbours.chains
    chains[results.chain.uid] = chains[results.chain.uid].model_copy(
        update={"datasets": results.chain.datasets[:1]}
    )
    refused = await results.get(f"/api/v1/chains/{results.chain.uid}/archive?partial=true")
    assert refused.status_code == 409
    assert "and all its data have been deleted" in refused.json()["detail"]
