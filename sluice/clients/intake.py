"""Client of the intake."""

from sluice.clients.generated.intake import IntakeCalls
from sluice.contracts.data.append_only import ScheduleState


class IntakeClient(IntakeCalls):
    """Client of the intake."""

    service = "wfms.intake"

    async def get_schedule(self, template: str) -> ScheduleState | None:
        """Return the state of a template's schedule, or None if it has none or is not yet known."""
        schedules = await self.list_schedules(template=template)
        return schedules[0] if schedules else None
