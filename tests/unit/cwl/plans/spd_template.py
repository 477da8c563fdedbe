"""The path of the template of the pack `spd`."""

from pathlib import Path

SPD = Path(__file__).parents[4] / "templates" / "spd" / "workflow.cwl"
