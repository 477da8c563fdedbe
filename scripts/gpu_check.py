"""Check what only a machine with an NVIDIA GPU can show (``make gpu-check``).

Its devices are found, each whole one is used by one job at a time, and halves by two jobs. A full
GPU is reported as out of memory. The script prints a report. Exit codes: 0 all checks passed, 1 a
check failed, 2 there is no GPU.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path

from pilot.node.gpus import NodeGpu, find_gpus

#: Prints the device that it sees, and the times of its start and end.
LOOK = """
import os, time
from ctypes import byref, c_int, c_void_p, CDLL
cuda, device, context = CDLL("libcuda.so.1"), c_int(), c_void_p()
assert cuda.cuInit(0) == 0, "cuInit"
number = c_int()
assert cuda.cuDeviceGetCount(byref(number)) == 0, "cuDeviceGetCount"
assert cuda.cuDeviceGet(byref(device), 0) == 0, "cuDeviceGet"
assert cuda.cuCtxCreate_v2(byref(context), 0, device) == 0, "cuCtxCreate"
began = time.time()
time.sleep(2)
print(number.value, os.environ["CUDA_VISIBLE_DEVICES"], began, time.time())
"""

#: Allocates more GPU memory than there is.
FILL = """
import sys
from ctypes import byref, c_int, c_size_t, c_void_p, CDLL
cuda, device, context = CDLL("libcuda.so.1"), c_int(), c_void_p()
assert cuda.cuInit(0) == 0
assert cuda.cuDeviceGet(byref(device), 0) == 0
assert cuda.cuCtxCreate_v2(byref(context), 0, device) == 0
if cuda.cuMemAlloc_v2(byref(c_void_p()), c_size_t(1 << 42)) == 2:
    sys.exit("CUDA_ERROR_OUT_OF_MEMORY")
"""

WORKFLOW = """
cwlVersion: v1.2
class: Workflow
$namespaces: {{cwltool: "http://commonwl.org/cwltool#", sluice: "urn:sluice:cwl:"}}
requirements: {{ScatterFeatureRequirement: {{}}}}
inputs: {{files: "File[]"}}
outputs: {{said: {{type: "File[]", outputSource: look/said}}}}
steps:
  look:
    scatter: file
    in: {{file: files}}
    out: [said]
    sluice:retry: {{attempts: 1}}
    sluice:gpu: {{share: {share}}}
    run:
      class: CommandLineTool
      baseCommand: [python3, -c, {program}]
      hints: {{ToolTimeLimit: {{timelimit: 120}}, cwltool:CUDARequirement: {{cudaVersionMin: "1.0",
        cudaComputeCapability: "1.0"}}}}
      inputs: {{file: File}}
      outputs: {{said: {{type: stdout}}}}
      stdout: $(inputs.file.basename).said
"""


def main() -> int:
    """Run all checks, print a report, and return the exit status."""
    gpus = find_gpus()
    if not gpus:
        print("no NVIDIA GPU on this machine, or no driver for it: nothing was checked")
        return 2
    for node_gpu in gpus:
        gpu = node_gpu.gpu
        print(f"{gpu.name} {gpu.uuid}: {gpu.memory} MiB, compute capability {gpu.capability},"
              f" driver {gpu.driver}, CUDA {gpu.cuda}")  # fmt: skip
    with tempfile.TemporaryDirectory(prefix="sluice-gpu-check-") as folder:
        failures = list(_run_checks(Path(folder), gpus))
    for sentence in failures:
        print(f"WRONG: {sentence}")
    print("gpu-check:", "failed" if failures else "all is as it should be")
    return 1 if failures else 0


def _run_checks(folder: Path, gpus: Sequence[NodeGpu]) -> Iterator[str]:
    """Run all checks, and return the failures."""
    home = ["--home", str(folder / "home")]
    _sluice("up", "--detach", "--port", "0", *home)
    try:
        uuids = {node_gpu.gpu.uuid for node_gpu in gpus}
        for share, jobs_per_device in ((1, 1), (0.5, 2)):
            yield from _check_sharing(
                folder, home, share=share, jobs_per_device=jobs_per_device, uuids=uuids
            )
        yield from _check_full_gpu(folder, home)
    finally:
        _sluice("down", "--now", *home)


def _check_sharing(
    folder: Path, home: Sequence[str], *, share: float, jobs_per_device: int, uuids: set[str]
) -> Iterator[str]:
    """Check how jobs share devices; ``jobs_per_device`` jobs have one device at a time."""
    jobs = 2 * jobs_per_device * len(uuids)
    done, out = _run(folder, home, LOOK, share=share, jobs=jobs)
    if done.returncode:
        yield f"jobs that ask for {share} of a GPU failed: {done.stderr[-500:]}"
        return
    outputs = [path.read_text().split() for path in sorted(out.glob("*.said"))]
    spans = [(uuid, float(began), float(ended)) for _, uuid, began, ended in outputs]
    overlapping = max(
        sum(uuid == other and began < end and start < ended for other, start, end in spans)
        for uuid, began, ended in spans
    )
    overlaps = sum(
        one[0] == two[0] and one[1] < two[2] and two[1] < one[2]
        for one, two in combinations(spans, 2)
    )
    print(f"{share} of a GPU: {len(outputs)} jobs on {len({span[0] for span in spans})} devices,"
          f" at most {overlapping} overlapping one")  # fmt: skip
    if {number for number, *_ in outputs} != {"1"}:
        yield f"jobs see {sorted({number for number, *_ in outputs})} devices, not 1"
    if not {uuid for uuid, *_ in spans} <= uuids:
        yield "jobs were told of devices that are not this machine's"
    if jobs_per_device == 1 and overlaps:
        yield f"{overlaps} pairs of jobs had the same whole device at the same time"
    if jobs_per_device > 1 and not overlaps:
        yield "no two jobs with halves of a device had it at the same time"


def _check_full_gpu(folder: Path, home: Sequence[str]) -> Iterator[str]:
    done, _ = _run(folder, home, FILL, share=1, jobs=1)
    output = done.stdout + done.stderr
    print("a job that takes more memory than its GPU has: exit", done.returncode)
    if "its GPU had no memory left" not in output:
        yield f"a full GPU was not told as such: {output[-500:]}"


def _run(
    folder: Path, home: Sequence[str], program: str, *, share: float, jobs: int
) -> tuple["subprocess.CompletedProcess[str]", Path]:
    place = Path(tempfile.mkdtemp(dir=folder))
    (place / "look.cwl").write_text(WORKFLOW.format(program=json.dumps(program), share=share))
    files = [place / f"{number}.txt" for number in range(jobs)]
    for path in files:
        path.write_text(path.name)
    inputs = [word for path in files for word in ("--input", str(path))]
    done = _sluice(
        "run", str(place / "look.cwl"), *inputs, "--out", str(place / "out"), *home, check=False
    )
    return done, place / "out"


def _sluice(*words: str, check: bool = True) -> "subprocess.CompletedProcess[str]":
    command = [str(Path(sys.executable).with_name("sluice")), *words]
    return subprocess.run(command, check=check, capture_output=True, text=True)


if __name__ == "__main__":
    sys.exit(main())
