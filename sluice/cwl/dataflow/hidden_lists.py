"""Ports whose type does not say whether they take one file or a whole data set."""

from sluice.contracts.common.states import EntryKind, InputMode
from sluice.contracts.templates.plan import main_input_mode
from sluice.cwl.dataflow.links import Wiring
from sluice.cwl.documents.types import is_list, type_alternatives
from sluice.cwl.documents.workflow import Step


def hides_list(step: Step, wiring: Wiring) -> bool:
    """Return whether a data port's type does not say if it takes one file or all.

    A workflow around the tool then states the type.
    """
    for name, mode in input_modes(step, wiring).items():
        stream, takes_all = wiring.find_stream(step.name, name), mode is InputMode.ALL
        if (
            stream is not None
            and stream.kind is EntryKind.FILE
            and not stream.folder
            and any(map(is_list, type_alternatives(step.input_type(name)))) is not takes_all
        ):
            return True
    return False


def input_modes(step: Step, wiring: Wiring) -> dict[str, InputMode]:
    """Return what a job gets at each of its data ports."""
    modes = {side.link.name: side.mode for side in wiring.side_links[step.name]}
    data = wiring.data_links.get(step.name)
    return modes if data is None else {data.name: main_input_mode(wiring.modes[step.name]), **modes}
