"""The versions of secrets that a chain's tasks use."""

from collections.abc import Mapping

from sluice.contracts.access.secrets import SecretRef
from sluice.contracts.templates.plan import Plan, PlanStep


def with_versions(plan: Plan, versions: Mapping[str, int]) -> Plan:
    """Return the plan with the version of every secret, from ``versions`` by secret name."""

    def fix_refs(refs: Mapping[str, SecretRef]) -> dict[str, SecretRef]:
        return {
            key: SecretRef(name=ref.name, version=versions[ref.name]) for key, ref in refs.items()
        }

    def fix_step(step: PlanStep) -> PlanStep:
        needs = step.needs.model_copy(update={"secrets": fix_refs(step.needs.secrets)})
        return step.model_copy(update={"needs": needs})

    if not plan.secrets:
        return plan
    return plan.model_copy(
        update={"secrets": fix_refs(plan.secrets), "steps": [fix_step(step) for step in plan.steps]}
    )
