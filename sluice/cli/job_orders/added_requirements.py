"""Requirements that a job order adds to those of a workflow (``cwl:requirements``, CWL v1.2)."""

import io
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sluice.cli.job_orders.job_order import REQUIREMENTS_KEY
from sluice.clientkit.template_files import TemplateFiles
from sluice.contracts.common.problems import Unprocessable
from sluice.contracts.templates.templates import split_main
from sluice.text.visible_text import quoted


def add_requirements(files: TemplateFiles, requirements: Any) -> TemplateFiles:
    """Return the files of a template whose main process has the requirements of a job order.

    They replace requirements of the same class.

    Args:
        files: The files.
        requirements: The value in the job order: a list of requirements, or a mapping by class.

    Raises:
        Unprocessable: The value is something else, or the main file has no process that gets them.
    """
    from ruamel.yaml import YAML  # noqa: PLC0415 - takes long to import
    from ruamel.yaml.error import YAMLError  # noqa: PLC0415 - likewise

    new = _by_class(requirements)
    texts = files.upload.texts
    main, process_id = split_main(files.upload.main or next(iter(texts)), texts)
    yaml = YAML()
    yaml.width = 1 << 16
    try:
        root = yaml.load(texts[main])
    except YAMLError:  # the check of the template reports it with its place
        return files
    process = _find_process(root, process_id or "main")
    if process is None:
        raise Unprocessable(
            f"the job order's {quoted(REQUIREMENTS_KEY)} cannot be added: {quoted(main)} has no"
            f" process with the id {quoted(process_id or 'main')}"
        )
    process["requirements"] = _replace(process.get("requirements"), new)
    text = io.StringIO()
    yaml.dump(root, text)
    new_texts = {**texts, main: text.getvalue()}
    return replace(files, upload=replace(files.upload, texts=new_texts))


def _by_class(requirements: Any) -> dict[str, Any]:
    """Return the requirements of a job order by class.

    Raises:
        Unprocessable: They are neither a list nor a mapping of requirements.
    """
    if isinstance(requirements, list) and all(
        isinstance(each, Mapping) and isinstance(each.get("class"), str) for each in requirements
    ):
        return {
            each["class"]: {key: value for key, value in each.items() if key != "class"}
            for each in requirements
        }
    if isinstance(requirements, Mapping):
        return dict(requirements)
    raise Unprocessable(
        f"{quoted(REQUIREMENTS_KEY)} is a list of requirements, each with its class, or a mapping"
        " by class"
    )


def _replace(old: Any, new: Mapping[str, Any]) -> Any:
    """Return the requirements of a process with new ones in place of those of the same class."""
    if isinstance(old, Mapping):
        return {**old, **new}
    others = old if isinstance(old, list) else []
    return [
        *(each for each in others if not isinstance(each, Mapping) or each.get("class") not in new),
        *({"class": name, **(body or {})} for name, body in new.items()),
    ]


def _find_process(root: Any, process_id: str) -> Any:
    """Return the process of a document that has an id, or its only one; None without it."""
    if not isinstance(root, Mapping) or "$graph" not in root:
        return root if isinstance(root, Mapping) else None
    graph = root["$graph"]
    processes = graph if isinstance(graph, list) else []
    return next(
        (
            each
            for each in processes
            if isinstance(each, Mapping) and str(each.get("id")).removeprefix("#") == process_id
        ),
        None,
    )
