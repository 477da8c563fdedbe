"""Files as values of parameters."""

from sluice.contracts.common.states import InputMode
from sluice.contracts.data.datasets import Dataset, NewDataset, NewFile
from sluice.contracts.templates.plan import Parameter, Plan, Source, StepInput
from tests.integration.wfms.wfms_fixture import WfmsFixture
from tests.unit.wfms.chains.plans import make_plan, make_step


async def create_file_dataset(
    wfms: WfmsFixture, name: str, *, files: int = 1, close: bool = True
) -> Dataset:
    dataset = await wfms.dms.register_dataset(NewDataset(name=name))
    new = [
        NewFile(
            seq=n,
            name=f"{name}-{n}",
            size=1,
            checksum="sha256:" + "0" * 64,
            url=f"file://{wfms.folder}/input/{name}-{n}",
        )
        for n in range(files)
    ]
    await wfms.dms.register_many_files(dataset.uid, new)
    return await wfms.dms.close_dataset(dataset.uid) if close else dataset


def make_plan_with_file_parameters(*names: str) -> Plan:
    sides = [
        StepInput(port=f"at_{name}", source=Source(step=None, port=name), mode=InputMode.ONE)
        for name in names
    ]
    parameters = {name: Parameter(type="File") for name in names}
    return make_plan(
        make_step("only", sides=sides), outputs=[("only", "out")], parameters=parameters
    )


def make_file_value(dataset: Dataset, **more: str) -> dict[str, str]:
    return {"class": "File", "dataset": str(dataset.uid), **more}
