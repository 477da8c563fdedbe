"""Tasks and steps for tests, with the fields of their first input and output given by name."""

from collections.abc import Mapping
from typing import Any

from sluice.contracts.common.states import InputMode, TaskMode
from sluice.contracts.jobs.needs import Needs
from sluice.contracts.jobs.tasks import Task

_INPUT = {
    "dat_in_uid": "dat_in_uid",
    "dat_in_port": "port",
    "dat_in_mode": "mode",
    "dat_in_optional": "optional",
    "dat_in_kind": "kind",
    "next_inputs": "next_inputs",
    "pick": "pick",
}
_OUTPUT = {
    "dat_out_uid": "dat_out_uid",
    "dat_out_port": "port",
    "dat_out_optional": "optional",
    "dat_out_kind": "kind",
    "dat_out_spread": "spread",
    "dat_stor_url": "dat_stor_url",
    "dat_out_url": "dat_out_url",
}


def group_needs(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields with those of ``Needs`` in one field ``needs``."""
    plain = {key: value for key, value in fields.items() if key not in Needs.model_fields}
    needs = {key: value for key, value in fields.items() if key in Needs.model_fields}
    return plain | ({"needs": Needs(**needs)} if needs else {})


def build_task(**fields: Any) -> Task:
    """Return a task.

    ``dat_in_*`` and ``dat_out_*`` are fields of its main input and first output, ``side_inputs``
    and ``side_outputs`` the others. Fields of ``Needs`` are given as they are.
    """
    task_fields = group_needs(fields)
    merges = task_fields["mode"] is TaskMode.MERGE
    main = {"mode": InputMode.ALL if merges else InputMode.EACH} | _take_part(task_fields, _INPUT)
    first = _take_part(task_fields, _OUTPUT)
    inputs = [main, *task_fields.pop("side_inputs", ())]
    outputs = [first, *task_fields.pop("side_outputs", ())]
    return Task(**{"inputs": inputs, "outputs": outputs} | task_fields)


def _take_part(fields: dict[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    return {name: fields.pop(key) for key, name in names.items() if key in fields}
