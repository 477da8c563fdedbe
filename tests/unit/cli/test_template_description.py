"""Parameters of a template in `sluice template show`."""

from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

import pytest

from sluice.cli.commands.templates.template_description import description_lines
from sluice.contracts.templates.plan import Parameter, Plan
from sluice.contracts.templates.templates import Template
from sluice.cwl import compile_file

PACK = Path(__file__).parents[3] / "templates" / "masstimes"


def get_plan(name: str) -> Plan:
    plan = compile_file(PACK / f"{name}.cwl", name=name)[0].plan
    assert plan is not None
    return plan


def describe_plan(plan: Plan) -> str:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    template = Template(id=UUID(int=1), name=plan.name, version=1, created_at=now, plan=plan)
    return "\n".join(description_lines(template))


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("annotate", "gold: File  (asset:mt-gold, if no other is given)"),
        ("crawl", "contact: string  (from metadata 'contact', else has to be given)"),
        ("crawl", "delays: double = 1.0  (from metadata 'delays')"),
        ("crawl", "max_items: int = 1000"),
    ],
)
def test_parameters_show_their_bindings(name: str, line: str) -> None:
    assert line in describe_plan(get_plan(name))


def test_parameter_bound_to_an_asset_need_not_be_given() -> None:
    assert "has to be given" not in describe_plan(get_plan("train"))


@pytest.mark.parametrize(
    ("name", "parameter", "line"),
    [
        ("most", Parameter(type="int"), "most: int  (optional)"),
        ("contact", Parameter(type="int"), "contact: int  (from metadata 'contact', optional)"),
        ("least", Parameter(type="int", default=3), "least: int = 3"),
    ],
)
def test_optional_parameter_is_shown_as_optional(
    name: str, parameter: Parameter, line: str
) -> None:
    plan = get_plan("crawl").model_copy(update={"parameters": {name: parameter}})
    assert f"  {line}" in describe_plan(plan).splitlines()
