"""The same template on the same files, by the reference runner and by Sluice: what each of them answers."""

import asyncio
import hashlib
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sluice.cli import carry
from sluice.cli.connect import connected
from sluice.cli.given_files import bring_in_parameters, local_files
from sluice.contracts.datasets import NewDataset
from sluice.contracts.naming import own_name
from sluice.contracts.states import ChainState
from sluice.contracts.templates import NewTemplate


@dataclass(frozen=True, slots=True)
class Written:
    """A file of a workflow output: its name and what is in it."""

    name: str
    sha256: str


#: Output of the workflow → its files, in order.
Answer = Mapping[str, Sequence[Written]]


def by_cwltool(workflow: Path, files: Sequence[Path], params: Mapping[str, Any], *, folder: Path) -> Answer:
    """Raises ``CalledProcessError`` where cwltool refuses or fails; what it said is printed."""
    order = {"texts": [{"class": "File", "location": f"file://{path}"} for path in files], **params}
    (folder / "order.json").write_text(json.dumps(order))
    command = [sys.executable, "-m", "cwltool", "--quiet", "--outdir", str(folder / "out"), str(workflow), "order.json"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    print(done.stderr)
    done.check_returncode()
    return {name: [_written(file) for file in _listed(value)] for name, value in json.loads(done.stdout).items()}


def by_sluice(url: str, workflow: Path, files: Sequence[Path], params: Mapping[str, Any]) -> Answer:
    """The chain's outputs as the catalogue has them. Fails where the chain does not finish."""
    return asyncio.run(_carry(url, NewTemplate(name=workflow.stem, cwl=workflow.read_text()), files, params))


async def _carry(url: str, given: NewTemplate, files: Sequence[Path], params: Mapping[str, Any]) -> Answer:
    async with connected(url) as connection:
        template = await connection.operator.store_template(given)
        new = NewDataset(name=f"texts-for-{given.name}", on_demand=True)
        dataset = await carry.bring_in(connection, files, dataset=new, on_file=lambda size: None)
        local = local_files(template.plan, params)
        values = await bring_in_parameters(connection, params, local, dataset_name=dataset.name)
        chain = await connection.operator.request_chain(dataset.uid, template.name, params=values)
        chain = await carry.follow(connection, chain, on_look=lambda chain, tasks: None)
        assert chain.state is ChainState.FINISHED, chain.reason
        places = {(output.step, output.port): output.name for output in template.plan.outputs}
        return {
            places[str(one.step), str(one.port)]: [
                Written(own_name(file.name), file.checksum.removeprefix("sha256:"))
                async for file in connection.dms.all_files(one.uid)
            ]
            for one in chain.datasets
            if (one.step, one.port) in places
        }


def _listed(value: Any) -> list[Any]:
    """Files that a job left out have no place in a data set."""
    return [one for one in (value if isinstance(value, list) else [value]) if one is not None]


def _written(file: Mapping[str, Any]) -> Written:
    return Written(file["basename"], hashlib.sha256(Path(file["path"]).read_bytes()).hexdigest())
