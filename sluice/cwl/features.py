"""The supported and refused features of CWL, with the alternatives to refused ones.

The checks and the reference page use these tables.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Where(StrEnum):
    """Where a feature is carried out."""

    SYSTEM = "supported"
    JOB = "inside a job only"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Feature:
    """Support of a feature.

    ``note`` describes the support. For a refused feature it is the alternative, as the finding says
    it.
    """

    where: Where
    note: str = ""


def _yes(note: str = "") -> Feature:
    return Feature(Where.SYSTEM, note)


def _in_job(note: str = "worked out by the pilot") -> Feature:
    return Feature(Where.JOB, note)


def _no(way: str) -> Feature:
    return Feature(Where.REFUSED, way)


Features = Mapping[str, Feature]


def refused_features(features: Features) -> tuple[str, ...]:
    """Return the names of the refused features."""
    return tuple(name for name, feature in features.items() if feature.where is Where.REFUSED)


def inside_jobs(features: Features) -> tuple[str, ...]:
    """Return the names of the features that work inside jobs only."""
    return tuple(name for name, feature in features.items() if feature.where is Where.JOB)


#: The CWL versions. The newest comes last.
VERSIONS: Features = {"v1.0": _yes(), "v1.1": _yes(), "v1.2": _yes()}

#: Processes that a step can run.
PROCESSES: Features = {
    "CommandLineTool": _yes("one job for each file, or for all"),
    "ExpressionTool": _in_job(),
    "Operation": _yes(
        "with `sluice:ask`: people are asked of each file; with `sluice:invoke`: the step's files"
        " say what is run"
    ),
    "Workflow": _in_job(
        "where it is fed data sets and scatters over them, its steps become steps of the template"
    ),
}

#: Fields of a step's input that pilots evaluate.
LINK_FIELDS: Features = {
    "valueFrom": _in_job(),
    "loadContents": _in_job("for `valueFrom` and `when`"),
    "loadListing": _in_job("for `valueFrom` and `when`"),
}

#: Fields of a step that decide which jobs it has.
JOB_FIELDS: Features = {
    "scatter": _yes("over data sets and lists of values: one job for each entry"),
    "when": _in_job("a job that is passed over gives no entry"),
}

NESTED = "nested_crossproduct"
CROSSPRODUCTS = ("flat_crossproduct", NESTED)
SCATTER_METHODS: Features = {
    "dotproduct": _yes("files of the same number together; values by their place in the list"),
    "flat_crossproduct": _yes("each with each, row by row: entries of one data set"),
    NESTED: _yes("the same, as an output of the workflow"),
}

#: Kinds of sources of an input or an output.
SOURCES: Features = {
    "merge_flattened": _yes("the entries of one data set behind those of the other"),
    "merge_nested": _yes("of sources that are one file or value each: a list of them"),
    "merge_nested of whole data sets": _no(
        "write 'linkMerge: merge_flattened', which gives the entries of one source after those of"
        " the other"
    ),
    "first_non_null": _yes("among sources of one file or value each"),
    "the_only_non_null": _yes("among sources of one file or value each"),
    "all_non_null": _yes("also over data sets, which leave out what was not written"),
    "pickValue among whole data sets": _no("let a step before it choose"),
    "what a nested_crossproduct gives": _no("write 'scatterMethod: flat_crossproduct'"),
    "outputs that join whole data sets": _no("name an output for each, or let a step merge them"),
    "several parameters": _no("let the workflow have one for all"),
    "default beside a source": _no("give the default to the tool's input instead"),
    "output that is an input of the workflow": _no("leave it out, as it is there already"),
}

#: Kinds of inputs of the workflow.
INPUTS: Features = {
    "File[]": _yes("the first is the data set"),
    "Directory[]": _yes("the data set, where no input is a File[]"),
    "File": _yes("a parameter: a data set of one file"),
    "values": _yes("parameters: numbers, texts, lists and records of them"),
    "no data set": _yes("a template of parameters alone, whose chains are asked for"),
    "a second File[]": _yes("a data set that each chain is given, or the files of an asset"),
    "Directory": _yes("a parameter: a data set of one directory, or the files of an asset"),
    "a further Directory[]": _yes("a data set that each chain is given"),
    "files within other types": _no(
        "a parameter is a File, a Directory or a list of these, or has no files in it"
    ),
    "default of a file": _yes("text of at most 64 KiB, which goes to the jobs with the template"),
    "default of files or directories": _no(
        "give them with each chain, or bind the parameter to an asset (sluice:bind)"
    ),
    "secondaryFiles of the data set": _yes("patterns such as `.bai`"),
    "secondaryFiles of a parameter": _yes("of a `File` or `File[]`: patterns such as `.bai`"),
    "secondaryFiles of an input by an expression": _no("write patterns such as '.bai' or '^.fai?'"),
    "lists that are scattered over": _yes("one job for each value"),
    "whole number of more than 64 bits": _no(
        "write it with a decimal point or an exponent where a double is taken, quote it if it is"
        " text"
    ),
}

#: Requirements and hints about the workflow, not the tool.
OF_WORKFLOWS: Features = {
    "MultipleInputFeatureRequirement": _yes(),
    "ScatterFeatureRequirement": _yes(),
    "StepInputExpressionRequirement": _in_job(),
    "SubworkflowFeatureRequirement": _in_job("see `Workflow`"),
}

#: Requirements of tools. A refused requirement may be a hint, which has no effect.
OF_TOOLS: Features = {
    "DockerRequirement": _yes("the node's engine: Docker, Podman, Apptainer or udocker"),
    "EnvVarRequirement": _in_job(),
    "InitialWorkDirRequirement": _in_job(),
    "InlineJavascriptRequirement": _in_job("in a sandbox; no service evaluates anything"),
    "InplaceUpdateRequirement": _in_job(
        "the tool changes a copy of its input, whose output is what it made of it"
    ),
    "LoadListingRequirement": _in_job(),
    "NetworkAccess": _in_job("a container has a network where it is asked for"),
    "ResourceRequirement": _yes("numbers; an expression gets the default, with a warning"),
    "SchemaDefRequirement": _yes("types by name, also from files; none may contain itself"),
    "ShellCommandRequirement": _in_job(),
    "SoftwareRequirement": _no(
        "make it a hint, and bring the software in a container or install it on the nodes"
    ),
    "ToolTimeLimit": _yes("seconds; one hour where there is none"),
    "WorkReuse": _in_job("nothing is reused; the field may stand there"),
}
#: Requirements that v1.0 does not have.
SINCE_V1_1 = frozenset(
    {
        "InplaceUpdateRequirement",
        "LoadListingRequirement",
        "NetworkAccess",
        "ToolTimeLimit",
        "WorkReuse",
    }
)

CWLTOOL_NAMESPACE = "http://commonwl.org/cwltool#"
#: Extensions of cwltool. A refused extension is refused as a hint, too, because results would
#: differ from what was requested.
OF_CWLTOOL: Features = {
    "CUDARequirement": _yes("the job needs so many GPUs, of that capability, with that CUDA"),
    "TimeLimit": _yes("as `ToolTimeLimit`, in v1.0"),
    "MPIRequirement": _no(
        "let the tool start its processes itself, and ask for their cores with"
        " 'ResourceRequirement'"
    ),
    "Secrets": _in_job("inputs of tools whose values are secrets, given with `sluice:bind`"),
}

_INTO_A_REGISTRY = (
    "put the image into a registry and name it in 'dockerPull', or onto the nodes and name it in"
    " 'dockerImageId'"
)
CONTAINERS: Features = {
    "dockerPull": _yes("each node pulls it once"),
    "dockerImageId": _yes("what it is called on the nodes"),
    "dockerOutputDirectory": _yes("an absolute path"),
    "dockerFile": _no(_INTO_A_REGISTRY),
    "dockerLoad": _no(_INTO_A_REGISTRY),
    "dockerImport": _no(_INTO_A_REGISTRY),
}

#: Extension fields that are planned, each with its alternative.
LATER: Features = {
    "device": _no("ask for a GPU with the hint 'cwltool:CUDARequirement', or with 'sluice:gpu'"),
}
