"""The options of `sluice cwl-runner`: each option of cwltool works here or is refused by name."""

import argparse
import sys
from collections.abc import Sequence
from typing import Any

from cwltool.argparser import arg_parser

_NODES = "its jobs run on the system's pilots, whose settings say so"
_ENGINE = (
    "which engine runs containers, and how, is a setting of each pilot (SLUICE_PILOT_CONTAINERS)"
)
_PROVENANCE = "the system keeps its own record of a run, and no research object is made of it"
_FOLDERS = f"folders of jobs are made where {_NODES} (SLUICE_PILOT_WORK_DIR)"
_EXPRESSIONS = (
    "expressions of tools are evaluated by pilots, within their limits and without a console"
)
_DEPENDENCIES = "software that a tool needs is installed on the nodes, or comes in its container"

#: The reasons why values other than the default are refused, by ``dest`` in cwltool's parser.
UNSUPPORTED_OPTIONS = {
    "beta_conda_dependencies": _DEPENDENCIES,
    "beta_dependencies_directory": _DEPENDENCIES,
    "beta_dependency_resolvers_configuration": _DEPENDENCIES,
    "beta_use_biocontainers": _DEPENDENCIES,
    "cachedir": "nothing is taken from an earlier run",
    "cidfile_dir": _ENGINE,
    "cidfile_prefix": _ENGINE,
    "custom_net": _ENGINE,
    "cwl_full_name": _PROVENANCE,
    "eval_timeout": _EXPRESSIONS,
    "force_docker_pull": _ENGINE,
    "host_provenance": _PROVENANCE,
    "image_base_path": _ENGINE,
    "js_console": _EXPRESSIONS,
    "log_dir": "what a tool writes to its own log is in the system: `sluice job logs`",
    "mpi_config_file": "MPI is not supported",
    "no_match_user": _ENGINE,
    "no_read_only": _ENGINE,
    "orcid": _PROVENANCE,
    "podman": _ENGINE,
    "preserve_entire_environment": (
        "jobs may run on other machines: name what they need with --preserve-environment"
    ),
    "provenance": _PROVENANCE,
    "pull_image": _ENGINE,
    "record_container_id": _ENGINE,
    "rm_container": _ENGINE,
    "rm_tmpdir": _FOLDERS,
    "singularity": _ENGINE,
    "strict_cpu_limit": _ENGINE,
    "strict_memory_limit": _ENGINE,
    "tmp_outdir_prefix": _FOLDERS,
    "tmpdir_prefix": _FOLDERS,
    "user_provenance": _PROVENANCE,
    "user_space_docker_cmd": _ENGINE,
}
#: The reasons why single values are refused, by ``dest`` and value.
UNSUPPORTED_VALUES = {("move_outputs", "leave"): _FOLDERS}
#: The ``dest`` of each option that works as in cwltool.
SUPPORTED_OPTIONS = frozenset(
    {
        "basedir",
        "compute_checksum",
        "debug",
        "default_container",
        "disable_js_validation",
        "do_validate",
        "doc_cache",
        "enable_color",
        "enable_dev",
        "enable_ext",
        "enable_ga4gh_tool_registry",
        "fast_parser",
        "ga4gh_tool_registries",
        "generate_help_preview",
        "help",
        "job_order",
        "js_hint_options_file",
        "make_template",
        "move_outputs",
        "no_warnings",
        "on_error",
        "outdir",
        "overrides",
        "pack",
        "parallel",
        "parallel_max",
        "preserve_environment",
        "print_deps",
        "print_dot",
        "print_input_deps",
        "print_pre",
        "print_rdf",
        "print_subgraph",
        "print_supported_versions",
        "print_targets",
        "quiet",
        "rdf_serializer",
        "relative_deps",
        "relax_path_checks",
        "single_process",
        "single_step",
        "skip_schemas",
        "strict",
        "target",
        "timestamps",
        "tool_help",
        "use_container",
        "validate",
        "verbose",
        "version",
        "workflow",
        "write_summary",
    }
)


class UnsupportedOption(ValueError):
    """An option of cwltool is not supported here; ``str()`` is a sentence."""

    def __init__(self, option: str, reason: str) -> None:
        super().__init__(f"{option} is not supported: {reason}")


def parse(
    arguments: Sequence[str], *, extra_options: Sequence[argparse.Action]
) -> argparse.Namespace:
    """Parse options as cwltool does, and the options of ``extra_options``.

    Messages have colours by default only if standard error is a terminal.

    Raises:
        UnsupportedOption: An option of cwltool is not supported here.
        SystemExit: The options are wrong (exit code 2, usage on standard error).
    """
    parser = arg_parser()
    parser.prog = "sluice cwl-runner"
    # An abbreviated option may be the name of an input, which follows the process.
    parser.allow_abbrev = False
    parser.set_defaults(enable_color=sys.stderr.isatty())
    for option in extra_options:
        action = {"action": "store_true"} if option.nargs == 0 else {}
        parser.add_argument(
            *option.option_strings,
            dest=option.dest,
            default=option.default,
            help=option.help,
            **action,
        )
    options: argparse.Namespace = parser.parse_args(list(arguments))
    unsupported_options = {
        option: reason
        for action in parser._actions
        if (reason := _find_rejection_reason(action, getattr(options, action.dest, action.default)))
        is not None
        for option in action.option_strings
    }
    if unsupported_options:
        given_options = {argument.split("=", 1)[0] for argument in arguments}
        option = next(
            (word for word in unsupported_options if word in given_options),
            next(iter(unsupported_options)),
        )
        raise UnsupportedOption(option, unsupported_options[option])
    return options


def _find_rejection_reason(action: argparse.Action, value: Any) -> str | None:
    """Return why the value is refused, if this option may have set it; otherwise None."""
    if isinstance(value, str) and (action.dest, value) in UNSUPPORTED_VALUES:
        reason: str | None = UNSUPPORTED_VALUES[(action.dest, value)]
    else:
        reason = None if value == action.default else UNSUPPORTED_OPTIONS.get(action.dest)
    constant = getattr(action, "const", None)
    return reason if constant is None or constant == value else None
