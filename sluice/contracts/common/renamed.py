"""Names that fields had in the previous release."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, ClassVar, cast

from pydantic import (
    GetJsonSchemaHandler,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from sluice.contracts.common.base import Contract

_old_names_wanted: ContextVar[bool] = ContextVar("old_names_wanted", default=False)


@contextmanager
def old_names_written(wanted: bool = True) -> Iterator[None]:
    """Write fields under their old names, for a reader of the previous release."""
    token = _old_names_wanted.set(wanted)
    try:
        yield
    finally:
        _old_names_wanted.reset(token)


class ContractWithOldNames(Contract):
    """A contract with fields that had other names in the previous release.

    Fields are read under both names. They are written under the old names only for readers of the
    previous release (ADR 5).
    """

    #: Old names by new name.
    old_names: ClassVar[Mapping[str, str]] = {}
    #: Whether all readers get the old names.
    always_old_names: ClassVar[bool] = False

    @model_validator(mode="before")
    @classmethod
    def _read_old_names(cls, given: Any) -> Any:
        if not isinstance(given, Mapping):
            return given
        new_names = {old: new for new, old in cls.old_names.items() if new not in given}
        return {new_names.get(name, name): value for name, value in given.items()}

    @model_serializer(mode="wrap")
    def _write_old_names(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        written: dict[str, Any] = write(self)
        if not (self.always_old_names or _old_names_wanted.get()):
            return written
        return {self.old_names.get(name, name): value for name, value in written.items()}

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Describe the fields under their new names."""
        described = {key: value for key, value in core_schema.items() if key != "serialization"}
        return handler(cast(CoreSchema, described))
