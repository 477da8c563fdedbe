"""Parameters that are files or data sets, given as paths."""

import tarfile
from pathlib import Path
from typing import Any

import pytest

from sluice.clientkit.transfer.inputs import BundledEntry, InputEntry, list_entries
from sluice.clientkit.transfer.parameter_files import dataset_entries, dataset_value, local_files
from sluice.clientkit.transfer.upload import store_entry
from sluice.contracts.common.problems import Unprocessable
from sluice.contracts.templates.parameters import find_problems
from sluice.contracts.templates.plan import (
    DIRECTORIES,
    FILES,
    DataEntries,
    Parameter,
    SecondaryFile,
)
from sluice.cwl_values import BundleError, pack
from tests.unit.wfms.chains.plans import make_plan, make_step

WITH_INDEX = DataEntries(
    secondary_files=[SecondaryFile(pattern=".bai"), SecondaryFile(pattern="^.md", required=False)]
)
PLAN = make_plan(
    make_step("only"),
    outputs=[("only", "out")],
    parameters={
        "ref": Parameter(type="File"),
        "mates": Parameter(type=FILES),
        "cuts": Parameter(type="int[]"),
        "tree": Parameter(type="Directory", entries=DataEntries(type="Directory")),
        "trees": Parameter(type=DIRECTORIES, entries=DataEntries(type="Directory")),
        "bam": Parameter(type="File", entries=WITH_INDEX),
        "bams": Parameter(type=FILES, entries=WITH_INDEX),
    },
)


@pytest.fixture
def mates(tmp_path: Path) -> list[Path]:
    (tmp_path / "mates").mkdir()
    paths = [tmp_path / "mates" / name for name in ("1.txt", "2.txt", "10.txt")]
    for path in paths:
        path.write_text(path.name)
    return paths


def test_data_set_parameter_is_a_folder_or_a_list_of_files(mates: list[Path]) -> None:
    folder, (first, second, _) = mates[0].parent, mates
    for value, expected in (
        (str(folder), sorted(mates)),
        ([str(second), str(first)], [second, first]),
        (str(first), [first]),
        ([{"class": "File", "location": first.as_uri()}, str(second)], [first, second]),
    ):
        assert local_files(PLAN, {"mates": value, "cuts": [1]}) == {"mates": expected}


def test_reference_to_a_data_set_is_not_a_path(mates: list[Path]) -> None:
    there: Any = {"class": "File", "dataset": "6f0c7f5e-6c1b-5d0f-9a52-3b8c1d1a7e11"}
    assert local_files(PLAN, {"mates": there, "ref": there}) == {}
    assert local_files(PLAN, {"mates": "asset:mates", "ref": str(mates[0])}) == {"ref": [mates[0]]}


def test_missing_files_are_named(tmp_path: Path, mates: list[Path]) -> None:
    with pytest.raises(Unprocessable) as refused:
        local_files(PLAN, {"mates": [str(mates[0]), "nowhere"], "ref": str(tmp_path)})
    assert sorted(finding.message for finding in refused.value.findings) == [
        "parameter 'mates': nowhere: no such file",
        f"parameter 'ref': {tmp_path}: a folder, and not a file",
    ]


@pytest.fixture
def bams(tmp_path: Path) -> list[Path]:
    (tmp_path / "bams").mkdir()
    paths = [tmp_path / "bams" / name for name in ("a.bam", "b.bam")]
    for path in paths:
        path.write_text(path.name)
        path.with_name(f"{path.name}.bai").write_text("index")
    paths[0].with_suffix(".md").write_text("a note")
    (tmp_path / "odd.txt").write_text("odd")
    return paths


def read_bundle(entry: InputEntry) -> tuple[str, list[str]]:
    """Return class and name of the entry, and its secondary files."""
    assert isinstance(entry, BundledEntry)
    beside = [other["basename"] for other in entry.value.get("secondaryFiles", ())]
    return f"{entry.value['class']} {entry.value['basename']}", beside


def read_bundles(**parameters: Any) -> list[tuple[str, list[str]]]:
    (entries,) = local_files(PLAN, parameters).values()
    return [read_bundle(entry) for entry in entries]


def test_directory_parameter_is_one_entry(bams: list[Path]) -> None:
    folder = bams[0].parent
    for value in (str(folder), {"class": "Directory", "location": folder.as_uri()}):
        assert read_bundles(tree=value) == [("Directory bams", [])]
    assert read_bundles(trees=[str(folder), str(folder.parent)]) == [
        ("Directory bams", []),
        (f"Directory {folder.parent.name}", []),
    ]
    (entries,) = local_files(PLAN, {"tree": str(folder)}).values()
    assert dataset_value("uid", entries) == {
        "class": "Directory",
        "dataset": "uid",
        "retention": "delete",
    }


def test_file_parameters_come_with_their_secondary_files(bams: list[Path]) -> None:
    first, second = ("File a.bam", ["a.bam.bai", "a.md"]), ("File b.bam", ["b.bam.bai"])
    assert read_bundles(bam=str(bams[0])) == [first]
    assert read_bundles(bams=str(bams[0].parent)) == [first, second]
    (entries,) = local_files(PLAN, {"bams": [str(path) for path in bams]}).values()
    assert dataset_value("uid", entries)["class"] == "File"


def test_secondary_files_named_in_a_job_order_are_included(bams: list[Path]) -> None:
    """A file that a pattern finds as well is included once."""
    beside = [
        {"class": "File", "path": str(path)}
        for path in (bams[0].with_name("a.bam.bai"), bams[0].parent.parent / "odd.txt")
    ]
    value = {"class": "File", "path": str(bams[0]), "secondaryFiles": beside}
    assert read_bundles(bam=value) == [("File a.bam", ["a.bam.bai", "a.md", "odd.txt"])]


def test_secondary_files_that_the_template_does_not_declare_make_a_bundle(
    bams: list[Path],
) -> None:
    other = {"class": "File", "path": str(bams[1]), "basename": "other.bam"}
    value = {"class": "File", "path": str(bams[0]), "secondaryFiles": [other]}
    assert read_bundles(ref=value) == [("File a.bam", ["other.bam"])]
    ((name, entries),) = local_files(PLAN, {"ref": value}).items()
    assert (name, dataset_value("uid", entries)["bundle"]) == ("ref", True)
    ((_, plain),) = local_files(PLAN, {"ref": str(bams[0])}).items()
    assert "bundle" not in dataset_value("uid", plain)


def test_missing_secondary_file_is_named(bams: list[Path]) -> None:
    bams[1].with_name("b.bam.bai").unlink()
    with pytest.raises(Unprocessable, match=r"'bam': files that must be .*b\.bam: b\.bam\.bai"):
        local_files(PLAN, {"bam": str(bams[1])})
    with pytest.raises(Unprocessable) as refused:
        local_files(PLAN, {"tree": str(bams[1])})
    (finding,) = refused.value.findings
    assert finding.message == f"parameter 'tree': {bams[1]}: a file, and not a folder"


def test_data_set_may_be_named_in_a_job_order(mates: list[Path]) -> None:
    listed = [{"class": "File", "path": str(path)} for path in reversed(mates)]
    assert dataset_entries(PLAN, listed) == list(reversed(mates))
    assert dataset_entries(PLAN, []) == []
    for value in (3, [3]):
        with pytest.raises(Unprocessable, match="is the data set: a list of files or directories"):
            dataset_entries(PLAN, value)


def _make_directory_entry(way: str, folder: Path) -> InputEntry:
    """Return a directory as an entry, given in one of the possible ways."""
    if way == "data set":
        [entry] = list_entries([folder], DataEntries(type="Directory"))
    elif way == "job order":
        given_there = {"class": "Directory", "location": folder.as_uri()}
        [entry] = local_files(PLAN, {"trees": [given_there]})["trees"]
    elif way == "parameter":
        [entry] = local_files(PLAN, {"tree": str(folder)})["tree"]
    else:
        first = folder.parent / "first.bam"
        _write(first, folder.parent / "first.bam.bai")
        beside = [{"class": "Directory", "path": str(folder)}]
        value: Any = {"class": "File", "path": str(first), "secondaryFiles": beside}
        [entry] = local_files(PLAN, {"bam": value})["bam"]
    return entry


def _write(*paths: Path) -> None:
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(path.name)


WAYS = ["data set", "job order", "parameter", "secondary file"]


@pytest.mark.parametrize("way", WAYS)
def test_hidden_files_of_a_directory_are_left_out_with_a_message(
    way: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "in"
    _write(*(folder / name for name in ("a.txt", ".DS_Store", "deep/._b.txt", "deep/b.txt")))
    _write(folder / ".git" / "config")
    entry = _make_directory_entry(way, folder)
    stderr = capsys.readouterr().err.replace("\n", " ")
    assert stderr.count("3 hidden files are left out: ") == 1
    store_entry(entry, (tmp_path / "bundle").as_uri(), lambda: None)
    with tarfile.open(tmp_path / "bundle") as archive:
        names = {Path(member.name).name for member in archive if member.isreg()}
    assert names - {"value.json", "first.bam", "first.bam.bai"} == {"a.txt", "b.txt"}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("target", ["secret.txt", "outside", "missing"])
def test_link_out_of_a_directory_is_refused(way: str, target: str, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    _write(folder / "deep" / "a.txt", tmp_path / "secret.txt", tmp_path / "outside" / "b.txt")
    (folder / "deep" / "inside").symlink_to("a.txt")
    _make_directory_entry(way, folder)
    (folder / "deep" / "out").symlink_to(tmp_path / target)
    with pytest.raises(Unprocessable, match="leads out of its folder") as refused:
        _make_directory_entry(way, folder)
    assert str(folder / "deep" / "out") in refused.value.detail


RECORD = {
    "type": "record",
    "fields": [{"name": "reads", "type": FILES}, {"name": "label", "type": "string"}],
}
ANY = DataEntries(type="Any")
BUNDLES = make_plan(
    make_step("only"),
    outputs=[("only", "out")],
    parameters={
        "sample": Parameter(type=RECORD, entries=ANY),
        "either": Parameter(type=["string", "File"], entries=ANY),
        "maybe": Parameter(type=FILES, entries=ANY),
        "each": Parameter(
            type={"type": "array", "items": RECORD}, entries=ANY, entry_per_item=True
        ),
    },
)


def test_value_with_files_is_one_bundle_with_all_of_them(mates: list[Path]) -> None:
    first, second, third = mates
    sample = {"label": "a", "reads": [{"class": "File", "path": str(path)} for path in mates[:2]]}
    maybe = [str(third)]
    local = local_files(BUNDLES, {"sample": sample, "maybe": maybe, "either": "a text"})
    assert local.keys() == {"sample", "maybe"}
    [bundled] = local["sample"]
    assert isinstance(bundled, BundledEntry)
    assert (bundled.source, bundled.value["label"]) == (first, "a")
    assert [file["location"] for file in bundled.value["reads"]] == [
        first.as_uri(),
        second.as_uri(),
    ]
    [bundled] = local["maybe"]
    assert isinstance(bundled, BundledEntry)
    assert [file["location"] for file in bundled.value] == [third.as_uri()]
    assert dataset_value("uid", [bundled])["class"] == "File"


def test_items_of_a_list_are_bundles_in_order(mates: list[Path]) -> None:
    first, second, _ = mates
    none = {"label": "a", "reads": []}
    some = {"label": "b", "reads": [{"class": "File", "path": str(second)}]}
    other = {"label": "c", "reads": [{"class": "File", "path": str(first)}]}
    entries = local_files(BUNDLES, {"each": [none, some, other]})["each"]
    bundled = [entry for entry in entries if isinstance(entry, BundledEntry)]
    assert [entry.value["label"] for entry in bundled] == ["a", "b", "c"]
    assert [entry.source for entry in bundled] == [second, second, first]
    assert bundled[0].value == none


@pytest.mark.parametrize("labels", [[], ["a", "b"]])
def test_list_of_bundles_may_have_no_file(labels: list[str]) -> None:
    items = [{"label": label, "reads": []} for label in labels]
    entries = local_files(BUNDLES, {"each": items})["each"]
    assert [entry.value for entry in entries if isinstance(entry, BundledEntry)] == items
    assert dataset_value("uid", entries) == {
        "class": "File",
        "dataset": "uid",
        "retention": "delete",
    }


@pytest.mark.parametrize("value", [[5], {"class": "File"}, "x"])
def test_list_of_bundles_without_a_data_set_is_refused(value: object) -> None:
    assert local_files(BUNDLES, {"each": value}) == {}
    [problem] = find_problems(BUNDLES, {"each": value})
    assert "a data set with a bundle for each item" in problem.message


def test_value_without_files_or_of_a_data_set_is_given_as_it_is() -> None:
    there = {"class": "File", "dataset": "6f0c7f5e-6c1b-5d0f-9a52-3b8c1d1a7e11"}
    values = {"either": "a text", "sample": there, "maybe": []}
    assert local_files(BUNDLES, values) == {}
    assert find_problems(BUNDLES, values) == []


def test_missing_file_within_a_value_is_named(tmp_path: Path) -> None:
    sample = {"label": "a", "reads": [{"class": "File", "path": str(tmp_path / "nowhere")}]}
    with pytest.raises(Unprocessable) as refused:
        local_files(BUNDLES, {"sample": sample})
    assert [finding.message for finding in refused.value.findings] == [
        f"parameter 'sample': {tmp_path / 'nowhere'}: no such file"
    ]


INDEXED = {
    "type": "record",
    "fields": {
        "one": {"type": ["null", "File"], "secondaryFiles": [".bai", "$(self.nameroot).x"]},
        "many": {"type": "array", "items": "File", "secondaryFiles": [".bai", "^.md?"]},
        "plain": "File",
    },
}


@pytest.mark.parametrize("nested", [False, True], ids=["record", "list of records"])
def test_files_within_a_value_have_the_secondary_files_of_their_field(
    bams: list[Path], nested: bool
) -> None:
    first, second = [{"class": "File", "path": str(path)} for path in bams]
    value: Any = {"one": second, "many": [first, second], "plain": first}
    kind: Any = {"type": "array", "items": ["null", INDEXED]} if nested else INDEXED
    parameters = {"each": Parameter(type=kind, entries=ANY)}
    template = make_plan(make_step("only"), outputs=[("only", "out")], parameters=parameters)
    [bundled] = local_files(template, {"each": [value] if nested else value})["each"]
    assert isinstance(bundled, BundledEntry)
    given = bundled.value[0] if nested else bundled.value
    names = [
        [other["basename"] for other in file.get("secondaryFiles", ())]
        for file in (given["one"], *given["many"], given["plain"])
    ]
    assert names == [["b.bam.bai"], ["a.bam.bai", "a.md"], ["b.bam.bai"], []]


def test_files_within_a_value_have_the_secondary_files_of_the_parameter(bams: list[Path]) -> None:
    entries = DataEntries(type="Any", secondary_files=[SecondaryFile(pattern=".bai")])
    rows = Parameter(type={"type": "array", "items": FILES}, entries=entries)
    template = make_plan(make_step("only"), outputs=[("only", "out")], parameters={"rows": rows})
    value = [[{"class": "File", "path": str(bams[0])}]]
    [bundled] = local_files(template, {"rows": value})["rows"]
    assert isinstance(bundled, BundledEntry)
    assert [other["basename"] for other in bundled.value[0][0]["secondaryFiles"]] == ["a.bam.bai"]
    bams[0].with_name("a.bam.bai").unlink()
    with pytest.raises(Unprocessable, match=r"parameter 'rows': .*a.bam.bai is missing"):
        local_files(template, {"rows": value})


@pytest.mark.parametrize("malformed", ["x", ["x"], [None]])
def test_malformed_secondary_files_are_refused_when_the_value_is_packed(
    bams: list[Path], tmp_path: Path, malformed: object
) -> None:
    rows = Parameter(type={"type": "array", "items": FILES}, entries=ANY)
    template = make_plan(make_step("only"), outputs=[("only", "out")], parameters={"rows": rows})
    value = [[{"class": "File", "path": str(bams[0]), "secondaryFiles": malformed}]]
    [bundled] = local_files(template, {"rows": value})["rows"]
    assert isinstance(bundled, BundledEntry)
    with pytest.raises(BundleError, match="not a list of Files and Directories"):
        pack(bundled.value, tmp_path / "x.tar")


def test_written_directory_keeps_its_listing(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a")
    listing = [{"class": "File", "path": str(tmp_path / "a")}]
    value = {"class": "Directory", "path": str(tmp_path), "listing": listing}
    for given in ({"tree": value}, {"trees": [value]}):
        [[entry]] = local_files(PLAN, given).values()
        assert isinstance(entry, BundledEntry)
        assert entry.value["listing"] == listing


def test_files_within_a_requested_value_are_refused() -> None:
    sample = {"label": "a", "reads": [{"class": "File", "path": "/etc/hostname"}]}
    [problem] = find_problems(BUNDLES, {"sample": sample, "maybe": []})
    assert "has files in it" in problem.message
    [problem] = find_problems(BUNDLES, {"sample": {"label": 3, "reads": []}, "maybe": []})
    assert "field 'label' must be string, not 3" in problem.message
