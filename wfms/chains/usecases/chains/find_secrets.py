"""Find the secrets that a new chain needs, so that an accepted chain can run."""

import asyncio
import shlex
from collections.abc import Sequence

from sluice.clients.operator import OperatorClient
from sluice.contracts.access.secrets import SecretRef
from sluice.contracts.chains.chains import NewChain
from sluice.contracts.common.problems import Finding, NotFound
from sluice.contracts.templates.plan import Plan
from sluice.text.visible_text import quoted
from wfms.chains.domain.secrets import with_versions
from wfms.chains.usecases.chains.refusals import ChainRefused


async def find_secrets(operator: OperatorClient, new: NewChain) -> Plan:
    """Return the plan with the newest version of every secret.

    The chain's jobs get these versions, even if newer ones are set later.

    Raises:
        ChainRefused: A secret does not exist, or the template may not use it.
        NotAvailable: The operator service does not answer.
    """
    refs = {ref.name: (parameter, ref) for parameter, ref in new.plan.secrets.items()}
    answers = await asyncio.gather(*(_newest(operator, new, ref) for _, ref in refs.values()))
    problems = [
        Finding.about_parameter(parameter, answer, is_sentence=True)
        for (parameter, _), answer in zip(refs.values(), answers, strict=True)
        if isinstance(answer, str)
    ]
    if problems:
        raise ChainRefused.of(new, problems)
    versions = {
        name: answer
        for name, answer in zip(refs, answers, strict=True)
        if not isinstance(answer, str)
    }
    return with_versions(new.plan, versions)


async def _newest(operator: OperatorClient, new: NewChain, ref: SecretRef) -> int | str:
    """Return the newest version of the secret, or why it cannot be used."""
    try:
        secret = await operator.get_secret(ref.name, template_id=new.template_id)
    except NotFound:
        command = _command(ref, [new.template])
        return f"there is no secret {quoted(ref.name)}; {command} sets it"
    newest_version = secret.newest
    if not newest_version.may_be_used_by(new.template):
        command = _command(ref, [*newest_version.templates, new.template])
        return (
            f"secret {quoted(ref.name)} is for {', '.join(newest_version.templates)}, not for this"
            f" template; {command} adds it, and asks for the value again"
        )
    if secret.refused is not None:
        return (
            f"secret {quoted(ref.name)} {secret.refused}; an administrator can change which"
            " templates may use it"
        )
    return newest_version.version


def _command(ref: SecretRef, templates: Sequence[str]) -> str:
    """Return the command that sets the next version of the secret for exactly ``templates``."""
    patterns = " ".join(f"--for {shlex.quote(pattern)}" for pattern in templates)
    return f"`sluice secret set {ref.name} {patterns}`"
