"""The GPU needs of a step's jobs, from cwltool's ``CUDARequirement`` and ``sluice:gpu``."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter, ValidationError

from sluice.contracts.jobs.gpus import MAX_GPUS_PER_JOB, GpuAmount, GpuNeeds, Version, version_key
from sluice.cwl.properties.requirements import CUDA_REQUIREMENT, Requirement, Requirements
from sluice.cwl.reading.findings import Findings, TextPlace, suggest_or_list, text_place
from sluice.cwl.reading.nodes import plain_json
from sluice.text.visible_text import quoted

_CUDA_FIELD, _CAPABILITY_FIELD, _MIN_COUNT_FIELD, _MAX_COUNT_FIELD = _FIELDS = (
    "cudaVersionMin",
    "cudaComputeCapability",
    "cudaDeviceCountMin",
    "cudaDeviceCountMax",
)
_VERSION: TypeAdapter[str] = TypeAdapter(Version)


def read_gpu_needs(
    tools: Sequence[Requirements],
    amount: GpuAmount | None,
    place: TextPlace,
    findings: Findings,
) -> GpuNeeds | None:
    """Return the GPU needs of a job that runs the tools one after another.

    The job needs as much as the most demanding tool.

    Args:
        tools: The requirements of each tool.
        amount: The value of ``sluice:gpu``, or None.
        place: The place of ``sluice:gpu``.
        findings: Gets the errors.

    Returns:
        The needs, or None if no GPU is needed.
    """
    cuda_requirements = [
        requirements[CUDA_REQUIREMENT] for requirements in tools if CUDA_REQUIREMENT in requirements
    ]
    if not cuda_requirements and amount is None:
        return None
    tool_needs = [
        dict(_CudaReader(requirement, findings).read()) for requirement in cuda_requirements
    ]
    min_gpus = max((body.get("least", 1) for body in tool_needs), default=1)
    max_count = max([min_gpus, *(body["most"] for body in tool_needs if "most" in body)])
    if amount is not None and amount.share < 1 and max_count > 1:
        findings.error(
            place,
            f"a share is of one GPU, and the tool asks for up to {max_count}: ask for whole ones",
        )
    return GpuNeeds(
        least=min_gpus,
        most=max_count,
        capability=_newest_version(tool_needs, "capability"),
        capabilities=_common_capabilities(tool_needs),
        cuda=_newest_version(tool_needs, "cuda"),
        **({} if amount is None else amount.model_dump()),
    )


def _newest_version(tool_needs: Sequence[dict[str, Any]], name: str) -> str | None:
    return max((body[name] for body in tool_needs if name in body), key=version_key, default=None)


def _common_capabilities(tool_needs: Sequence[dict[str, Any]]) -> list[str]:
    """Return the capabilities that all tools with a list accept."""
    lists = [body["capabilities"] for body in tool_needs if "capabilities" in body] or [[]]
    return [version for version in lists[0] if all(version in other for other in lists)]


@dataclass(frozen=True, slots=True)
class _CudaReader:
    requirement: Requirement
    findings: Findings

    def read(self) -> Iterator[tuple[str, Any]]:
        """Yield fields of ``GpuNeeds``, and report wrong ones."""
        body = self.requirement.body
        for key in body:
            if key not in (*_FIELDS, "class"):
                self._report_error(
                    key, f"is not a field of a CUDARequirement{suggest_or_list(key, _FIELDS)}"
                )
        if body.get(_CUDA_FIELD) is not None and self._is_version(_CUDA_FIELD, body[_CUDA_FIELD]):
            yield "cuda", str(body[_CUDA_FIELD])
        match body.get(_CAPABILITY_FIELD):
            case None:
                pass
            case list() as versions:
                if all([self._is_version(_CAPABILITY_FIELD, version) for version in versions]):
                    yield "capabilities", [str(version) for version in versions]
            case version:
                if self._is_version(_CAPABILITY_FIELD, version):
                    yield "capability", str(version)
        counts = {
            key: body[key]
            for key in (_MIN_COUNT_FIELD, _MAX_COUNT_FIELD)
            if body.get(key) is not None and self._is_count(key, body[key])
        }
        if counts.get(_MAX_COUNT_FIELD, counts.get(_MIN_COUNT_FIELD, 1)) < counts.get(
            _MIN_COUNT_FIELD, 1
        ):
            self._report_error(
                _MAX_COUNT_FIELD,
                f"is fewer than {quoted(_MIN_COUNT_FIELD)}, {counts[_MIN_COUNT_FIELD]}",
            )
            return
        for key, name in ((_MIN_COUNT_FIELD, "least"), (_MAX_COUNT_FIELD, "most")):
            if key in counts:
                yield name, counts[key]

    def _is_version(self, key: str, value: Any) -> bool:
        try:
            _VERSION.validate_python(value, strict=True)
        except ValidationError:
            self._report_error(
                key, f'is a version in quotes, such as "11.4", not {quoted(plain_json(value))}'
            )
            return False
        return True

    def _is_count(self, key: str, value: Any) -> bool:
        if isinstance(value, str):
            self.findings.warning(
                text_place(self.requirement.body, key),
                f"{quoted(key)} is an expression, which only the job can evaluate: one GPU is"
                " requested",
            )
            return False
        if type(value) is int and 1 <= value <= MAX_GPUS_PER_JOB:
            return True
        self._report_error(
            key, f"is a number from 1 to {MAX_GPUS_PER_JOB}, not {quoted(plain_json(value))}"
        )
        return False

    def _report_error(self, key: str, message: str) -> None:
        self.findings.error(text_place(self.requirement.body, key), f"{quoted(key)} {message}")
