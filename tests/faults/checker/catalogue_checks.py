"""Every output is in the catalogue once, from the winning attempt, in order and correct."""

from collections import Counter
from collections.abc import Iterator

from tests.faults.checker.expectation import ExpectedFile
from tests.faults.checker.job_checks import map_winning_attempts
from tests.faults.checker.snapshot import CatalogueFile
from tests.faults.checker.view import StepView, View, list_job_inputs


def check_outputs_once(view: View) -> Iterator[str]:
    """Require one file of the winning attempt at each port of a finished job (invariant 3)."""
    for run, step in view.steps():
        expected = Counter((job, attempt) for job, attempt in map_winning_attempts(step).items())
        seqs = {job["id"]: job["seq"] for job in step.jobs}
        inputs = {job["id"]: list_job_inputs(job) for job in step.jobs}
        for port, dataset in step.outputs.items():
            where, files = f"{run.expected.dataset}: {step.step.name}/{port}", view.files(dataset)
            outputs = Counter((file.origin["job"], file.origin["attempt"]) for file in files)
            for key in (expected - outputs) + (outputs - expected):
                yield (
                    f"{where}: job {key[0]}, attempt {key[1]} has {outputs[key]} files in the"
                    f" catalogue, not {expected[key]}"
                )
            for file in files:
                if file.seq != seqs.get(file.origin["job"]) or file.origin["inputs"] != inputs.get(
                    file.origin["job"]
                ):
                    yield f"{where}: {file.name} does not have the number and the inputs of its job"


def check_logs_once(view: View) -> Iterator[str]:
    """Require one log for each attempt that reported a log."""
    for run, step in view.steps():
        expected_logs = Counter(
            (row["job_id"], row["attempt"])
            for rows in step.attempts.values()
            for row in rows
            if row["log_url"] is not None
        )
        catalogue_counts = Counter(
            (file.origin["job"], file.origin["attempt"]) for file in view.files(step.logs)
        )
        for key in (expected_logs - catalogue_counts) + (catalogue_counts - expected_logs):
            where = f"{run.expected.dataset}: {step.step.name}: job {key[0]}, attempt {key[1]}"
            yield f"{where} has {catalogue_counts[key]} logs, not {expected_logs[key]}"


def check_counts_of_datasets(view: View) -> Iterator[str]:
    for dataset in view.catalogue.datasets.values():
        files = view.files(dataset)
        if (dataset["count_files"], dataset["bytes"]) != (
            len(files),
            sum(file.size for file in files),
        ):
            yield (
                f"data set {dataset['name']} counts {dataset['count_files']} files or bytes that"
                f" are not its {len(files)}"
            )
        if dataset["close_at"] is not None and dataset["close_at"] != len(files):
            yield (
                f"data set {dataset['name']} was to close at {dataset['close_at']} files and has"
                f" {len(files)}"
            )


def check_counts_of_storages(view: View) -> Iterator[str]:
    """Require that used bytes of storages and runs of periods are counted correctly."""
    stored_bytes: Counter[object] = Counter()
    sizes = {row["id"]: row["size"] for row in view.state.rows("dms", "files")}
    for row in view.state.rows("dms", "replicas"):
        if row["state"] != "deleted":
            stored_bytes[row["storage_id"]] += sizes[row["file_id"]]
    used: Counter[object] = Counter()
    for row in view.state.rows("dms", "storage_usage"):
        used[row["storage_id"]] += row["bytes"]
    for storage in view.state.rows("dms", "storages"):
        if stored_bytes[storage["id"]] != used[storage["id"]]:
            yield (
                f"storage {storage['name']} counts {used[storage['id']]} bytes;"
                f" {stored_bytes[storage['id']]} lie there"
            )
    runs = Counter(row["period"] for row in view.state.rows("dms", "runs"))
    for period in view.state.rows("dms", "periods"):
        if period["runs"] != runs[period["name"]]:
            yield (
                f"period {period['name']} counts {period['runs']} runs and has"
                f" {runs[period['name']]}"
            )


def check_expected_outputs(view: View) -> Iterator[str]:
    """Require exactly the expected outputs with name and content, in order."""
    for run in view.runs:
        for place, expected in run.expected.outputs.items():
            step, port = place.split("/")
            catalogue_files = view.files(run.steps[step].outputs[port])
            if len(catalogue_files) != len(expected):
                yield (
                    f"{run.expected.dataset}: {place} has {len(catalogue_files)} files,"
                    f" not {len(expected)}"
                )
            for file, expected_file in zip(catalogue_files, expected, strict=False):
                if not _equals_expected_file(file, expected_file):
                    yield (
                        f"{run.expected.dataset}: {place} has {file.name} with {file.sha256[:12]}"
                        f" where {expected_file.name} must be"
                    )
        expected_files = [(file.name, file.sha256) for file in run.expected.files]
        if [(file.name, file.sha256) for file in view.files(run.dataset)] != expected_files:
            yield f"{run.expected.dataset}: the input in the catalogue is not what was brought in"


def check_file_order(view: View) -> Iterator[str]:
    """Require that maps keep the numbers of their inputs, and merges the order (invariant 8)."""
    for run, step in view.steps():
        for port, dataset in step.outputs.items():
            where = f"{run.expected.dataset}: {step.step.name}/{port}"
            if step.step.group is None:
                numbers = {file.own_name: file.seq for file in view.files(step.input)}
                misplaced_files = [
                    file
                    for file in view.files(dataset)
                    if [file.seq] != [numbers.get(n) for n in file.origin["inputs"]]
                ]
                yield from (
                    f"{where}: {file.name} has number {file.seq}, and its input another"
                    for file in misplaced_files
                )
            else:
                yield from _check_merge_order(view, step, view.files(dataset), where)


def _check_merge_order(
    view: View, step: StepView, files: list[CatalogueFile], where: str
) -> Iterator[str]:
    read = view.files(step.input)
    if [name for file in files for name in file.origin["inputs"]] != [
        file.own_name for file in read
    ]:
        yield f"{where}: the merged files do not hold each file of the input once, in order"
    numbers = {file.own_name: file.seq for file in read}
    for file in files:
        own = [numbers.get(name) for name in file.origin["inputs"]]
        if (file.meta["first_seq"], file.meta["last_seq"], file.meta["files"]) != (
            own[0],
            own[-1],
            len(own),
        ):
            yield f"{where}: {file.name} says {file.meta} of inputs {own[0]} to {own[-1]}"


def _equals_expected_file(file: CatalogueFile, expected_file: ExpectedFile) -> bool:
    return file.own_name == expected_file.name and expected_file.sha256 in {None, file.sha256}
