"""The supported and refused features of CWL, with the alternatives to refused ones.

The checks and the reference page use these tables.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class SupportLevel(StrEnum):
    """How a feature is supported.

    ``WHOLE`` features keep a workflow from being spread over jobs.
    """

    SYSTEM = "supported"
    JOB = "inside a job only"
    WHOLE = "with the whole workflow inside one job"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Feature:
    """Support of a feature.

    ``note`` describes the support. The note of a refused feature, and of one that keeps a workflow
    from being spread, is the alternative in findings.
    """

    support: SupportLevel
    note: str = ""


def _supported(note: str = "") -> Feature:
    return Feature(SupportLevel.SYSTEM, note)


def _job_only(note: str = "worked out by the pilot") -> Feature:
    return Feature(SupportLevel.JOB, note)


def _whole(alternative: str) -> Feature:
    return Feature(SupportLevel.WHOLE, alternative)


def _refused(alternative: str) -> Feature:
    return Feature(SupportLevel.REFUSED, alternative)


Features = Mapping[str, Feature]


def refused_features(features: Features) -> tuple[str, ...]:
    """Return the names of the refused features."""
    return tuple(
        name for name, feature in features.items() if feature.support is SupportLevel.REFUSED
    )


def inside_jobs(features: Features) -> tuple[str, ...]:
    """Return the names of the features that work inside jobs only."""
    return tuple(name for name, feature in features.items() if feature.support is SupportLevel.JOB)


#: The CWL versions. The newest comes last.
VERSIONS: Features = {"v1.0": _supported(), "v1.1": _supported(), "v1.2": _supported()}

#: Processes that a step can run.
PROCESSES: Features = {
    "CommandLineTool": _supported("one job for each file, or for all; a template may be one tool"),
    "ExpressionTool": _job_only(),
    "Operation": _supported(
        "with `sluice:ask`: people are asked about each file; with `sluice:invoke`: the step's"
        " files say what is run"
    ),
    "Workflow": _job_only(
        "if it takes data sets and scatters over them, its steps become steps of the template"
    ),
}

#: Fields of a step's input that pilots evaluate.
LINK_FIELDS: Features = {
    "valueFrom": _job_only(),
    "loadContents": _job_only("for `valueFrom` and `when`"),
    "loadListing": _job_only("for `valueFrom` and `when`"),
}

#: Fields of a step that decide which jobs it has.
JOB_FIELDS: Features = {
    "scatter": _supported("over data sets and lists of values: one job for each entry"),
    "when": _job_only("a job that is passed over gives no entry"),
}

NESTED = "nested_crossproduct"
CROSSPRODUCTS = ("flat_crossproduct", NESTED)
SCATTER_METHODS: Features = {
    "dotproduct": _supported(
        "files of the same number together; values by their place in the list"
    ),
    "flat_crossproduct": _supported("all combinations, row by row, as entries of one data set"),
    NESTED: _whole("write 'scatterMethod: flat_crossproduct', which gives one list, row by row"),
}

#: Kinds of sources of an input or an output.
SOURCES: Features = {
    "merge_flattened": _supported("the entries of one data set behind those of the other"),
    "merge_nested": _supported("of sources that are one file or value each: a list of them"),
    "merge_nested of whole data sets": _job_only("joined in each job"),
    "first_non_null": _supported("among sources of one file or value each"),
    "the_only_non_null": _supported("among sources of one file or value each"),
    "all_non_null": _supported("also over data sets, which leave out what was not written"),
    "pickValue among whole data sets": _job_only("chosen in each job"),
    "outputs that join whole data sets": _whole(
        "name an output for each, or let a step merge them"
    ),
    "several parameters": _job_only("joined in each job"),
    "data sets and parameters": _job_only("joined in each job"),
    "several parameters that are scattered over": _whole("let the workflow have one for all"),
    "default beside a source": _job_only(),
    "default beside a source that is scattered over": _whole(
        "give the default to the input of the workflow instead"
    ),
    "what a step changes in place": _whole("let the others read the output of this step"),
    "output that is an input of the workflow": _whole("leave it out, as it is there already"),
}

#: Kinds of inputs of the workflow.
INPUTS: Features = {
    "File[]": _supported("the first is the data set"),
    "Directory[]": _supported("the data set, where no input is a File[]"),
    "File": _supported("a parameter: a data set of one file"),
    "values": _supported("parameters: numbers, texts, lists and records of them"),
    "no data set": _supported("a template of parameters alone, whose chains are asked for"),
    "a second File[]": _supported("a data set that each chain is given, or the files of an asset"),
    "Directory": _supported("a parameter: a data set of one directory, or the files of an asset"),
    "a further Directory[]": _supported("a data set that each chain is given"),
    "files within other types": _supported("a parameter: one bundle of a value with its files"),
    "default of a file": _supported(
        "text of at most 1 MiB, which goes to the jobs with the template"
    ),
    "default of a file outside the template": _supported("none: each chain must give the file"),
    "default of files or directories": _whole(
        "give them with each chain, or bind the parameter to an asset (sluice:bind)"
    ),
    "secondaryFiles of the data set": _supported("patterns such as `.bai`"),
    "secondaryFiles of a parameter": _supported("of a `File` or `File[]`: patterns such as `.bai`"),
    "secondaryFiles of an input by an expression": _supported(
        "a parameter: one bundle, with the files that a job order names"
    ),
    "lists that are scattered over": _supported("one job for each value"),
    "whole number of more than 64 bits": _refused(
        "write it with a decimal point or an exponent where a double is taken, quote it if it is"
        " text"
    ),
}

#: Requirements and hints about the workflow, not the tool.
WORKFLOW_REQUIREMENTS: Features = {
    "MultipleInputFeatureRequirement": _supported(),
    "ScatterFeatureRequirement": _supported(),
    "StepInputExpressionRequirement": _job_only(),
    "SubworkflowFeatureRequirement": _job_only("see `Workflow`"),
}

#: Requirements of tools. A refused requirement may be a hint, which has no effect.
TOOL_REQUIREMENTS: Features = {
    "DockerRequirement": _supported("the node's engine: Docker, Podman, Apptainer or udocker"),
    "EnvVarRequirement": _job_only(),
    "InitialWorkDirRequirement": _job_only(),
    "InlineJavascriptRequirement": _job_only("in a sandbox; no service evaluates anything"),
    "InplaceUpdateRequirement": _job_only(
        "the tool changes a copy of its input; others that read the same file keep the workflow in"
        " one job"
    ),
    "LoadListingRequirement": _job_only(),
    "NetworkAccess": _job_only("a container has a network where it is asked for"),
    "ResourceRequirement": _supported(
        "numbers; an expression is evaluated in the job, whose node is chosen by the default"
    ),
    "SchemaDefRequirement": _supported("types by name, also from files; none may contain itself"),
    "ShellCommandRequirement": _job_only(),
    "SoftwareRequirement": _refused(
        "make it a hint, and bring the software in a container or install it on the nodes"
    ),
    "ToolTimeLimit": _supported("seconds, also by expression; one hour where there is none"),
    "WorkReuse": _job_only("accepted, but results are never reused"),
}
#: Requirements that v1.0 does not have.
REQUIREMENTS_SINCE_V1_1 = frozenset(
    {
        "InplaceUpdateRequirement",
        "LoadListingRequirement",
        "NetworkAccess",
        "ToolTimeLimit",
        "WorkReuse",
    }
)

#: The address of Sluice's extension fields.
NAMESPACE = "urn:sluice:cwl:"
CWLTOOL_NAMESPACE = "http://commonwl.org/cwltool#"
#: Extensions of cwltool. A refused extension is refused as a hint, too, because results would
#: differ from what was requested.
CWLTOOL_EXTENSIONS: Features = {
    "CUDARequirement": _supported("the number of GPUs, their capability and their CUDA version"),
    "TimeLimit": _supported("as `ToolTimeLimit`, in v1.0"),
    "MPIRequirement": _refused(
        "let the tool start its processes itself, and ask for their cores with"
        " 'ResourceRequirement'"
    ),
    "Secrets": _job_only("inputs of tools whose values are secrets, given with `sluice:bind`"),
}

_INTO_A_REGISTRY = (
    "put the image into a registry and name it in 'dockerPull', or onto the nodes and name it in"
    " 'dockerImageId'"
)
CONTAINERS: Features = {
    "dockerPull": _supported("each node pulls it once"),
    "dockerImageId": _supported("what it is called on the nodes"),
    "dockerOutputDirectory": _supported("an absolute path"),
    "dockerFile": _refused(_INTO_A_REGISTRY),
    "dockerLoad": _refused(_INTO_A_REGISTRY),
    "dockerImport": _refused(_INTO_A_REGISTRY),
}

#: Extension fields that are planned, each with its alternative.
PLANNED_FIELDS: Features = {
    "device": _refused(
        "ask for a GPU with the hint 'cwltool:CUDARequirement', or with 'sluice:gpu'"
    ),
}
