"""A workflow whose tool is in another file."""

from tests.unit.cwl.samples import LINEAR

_JOIN = LINEAR.index("      class: CommandLineTool\n      baseCommand: cat")

WORKFLOW = LINEAR[:_JOIN].rstrip().removesuffix("run:") + "run: tools/join.cwl\n"

TOOL = "cwlVersion: v1.2\n" + "\n".join(line[6:] for line in LINEAR[_JOIN:].splitlines()) + "\n"
