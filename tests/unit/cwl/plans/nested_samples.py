"""A template with a nested workflow that scatters over data, and edits of it."""

from pathlib import Path

NESTED = (
    Path(__file__).parents[3] / "differential" / "templates" / "nested-over-data.cwl"
).read_text()

WITH_FIELDS = (
    "requirements: {Scatter",
    '$namespaces: {sluice: "urn:sluice:cwl:"}\nrequirements: {Scatter',
)

#: Edit for a nested workflow that runs in one job: its lists are values, which no step can join.
ONE_LIST = ("{source: [inside/cut, inside/same], linkMerge: merge_flattened}", "inside/cut")
