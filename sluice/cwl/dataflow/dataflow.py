"""The workflow with its dataflow, as the checks and the plan need it."""

from dataclasses import dataclass

from sluice.contracts.access.secrets import SECRET_SCHEME, SecretRef
from sluice.contracts.data.append_only import Collect
from sluice.contracts.data.asset_refs import AssetRef, is_asset
from sluice.cwl.dataflow.chosen_outputs import add_choosing_steps
from sluice.cwl.dataflow.joined_links import split_joined_links
from sluice.cwl.dataflow.links import Wiring, read_links, read_modes
from sluice.cwl.dataflow.secondary_files import declare_needed_files
from sluice.cwl.documents.workflow import Workflow, read_workflow
from sluice.cwl.properties.extension_reader import Extensions
from sluice.cwl.properties.template import ParsedTemplate
from sluice.cwl.reading.findings import Findings


@dataclass(frozen=True, slots=True)
class Dataflow:
    """A workflow, its links and its extension fields."""

    workflow: Workflow
    wiring: Wiring
    extensions: Extensions

    @property
    def secrets(self) -> dict[str, SecretRef]:
        """The secrets by parameter, as ``sluice:bind`` binds them."""
        bindings: dict[str, str] = self.extensions.workflow.values.get("bind", {})
        return {
            name: SecretRef(name=target.removeprefix(SECRET_SCHEME))
            for name, target in bindings.items()
            if target.startswith(SECRET_SCHEME)
        }

    @property
    def assets(self) -> dict[str, AssetRef]:
        """The assets by parameter, as ``sluice:bind`` binds them."""
        return bound_assets(self.extensions)

    def append_target(self, output: str) -> Collect | None:
        """Return the append-only data set that gets the files of a workflow output, or None."""
        fields = self.extensions.outputs.get(output)
        return None if fields is None else fields.values.get("collect")

    @property
    def folders_of_steps(self) -> dict[str, dict[str, str]]:
        """Return the names of folders, by step and by the tool port that gets the folder."""
        folders: dict[str, dict[str, str]] = {}
        for (step, port), stream in self.wiring.input_streams.items():
            if stream.folder:
                parameter = self.wiring.origins[step, port].port
                folders.setdefault(step, {})[port] = self.assets[parameter].name
        return folders

    @property
    def items_of_steps(self) -> dict[str, list[str]]:
        """Return the tool ports that get an item of a list, by step."""
        return {
            step: [link.name for link in links] for step, links in self.wiring.item_links.items()
        }

    @property
    def secrets_of_steps(self) -> dict[str, dict[str, SecretRef]]:
        """Return the secrets, by step and by the tool port that gets the secret."""
        secrets: dict[str, dict[str, SecretRef]] = {}
        for (step, port), origin in self.wiring.origins.items():
            if origin.step is None and origin.port in self.secrets:
                secrets.setdefault(step, {})[port] = self.secrets[origin.port]
        return secrets


def read_dataflow(template: ParsedTemplate, findings: Findings) -> Dataflow:
    """Read the dataflow of a template. Wrong links are reported and left out."""
    workflow = read_workflow(template.canonical, findings)
    extensions = template.extensions
    assets = frozenset(bound_assets(extensions))
    declare_needed_files(workflow, assets, findings)
    add_choosing_steps(workflow)
    appended_outputs = {
        name for name, fields in extensions.outputs.items() if "collect" in fields.values
    }
    wiring = read_links(
        workflow,
        findings,
        assets=assets,
        appended_outputs=frozenset(appended_outputs),
    )
    split_joined_links(workflow, wiring)
    read_modes(workflow, wiring, findings)
    return Dataflow(workflow, wiring, template.extensions)


def bound_assets(extensions: Extensions) -> dict[str, AssetRef]:
    """Return the assets that ``sluice:bind`` binds to parameters."""
    bindings: dict[str, str] = extensions.workflow.values.get("bind", {})
    return {name: AssetRef.read(target) for name, target in bindings.items() if is_asset(target)}
