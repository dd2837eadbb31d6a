"""Checks a task's `parameters` against its executor's schema and the records they name."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from marshmallow import Schema, ValidationError

from netautod.core.errors import InvalidInput
from netautod.core.identity import Caller, OrgId
from netautod.core.schema import refuse_too_much, sentence, uuid_or_none


@dataclass(frozen=True, kw_only=True)
class Reference:
    """A kind of record that parameters may name: what naming it needs, and whether it exists."""

    permission: str
    exists: Callable[[OrgId, str], Awaitable[bool]]


class SchemaRules:
    """`ParameterRules` from the executors' marshmallow schemas.

    A schema field with `metadata={"reference": "<kind>"}` holds the id of a record of that kind.
    """

    def __init__(
        self, *, schemas: Mapping[str, type[Schema] | None], references: Mapping[str, Reference]
    ) -> None:
        self._schemas = schemas
        self._references = references

    def known(self, task_type: str) -> bool:
        return task_type in self._schemas

    async def check(
        self, caller: Caller, task_type: str, parameters: Mapping[str, Any], before: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        kind = self._schemas.get(task_type)
        if kind is None:
            return parameters
        schema = kind()
        refuse_too_much(schema, parameters, within="parameters.")
        try:
            # Only validated: what is stored is what was sent, so that a client reads back its own values.
            schema.load(dict(parameters))
        except ValidationError as error:
            raise InvalidInput(sentence({"parameters": error.messages})) from error
        for name, field in schema.fields.items():
            reference = self._references.get(str(field.metadata.get("reference")))
            value = parameters.get(name)
            if reference is not None and value is not None and value != before.get(name):
                caller.require(reference.permission)
                await self._check_exists(reference, caller.org_id, name, str(value))
        return parameters

    async def _check_exists(self, reference: Reference, org_id: OrgId, name: str, value: str) -> None:
        record_id = uuid_or_none(value)
        if record_id is None or not await reference.exists(org_id, record_id):
            raise InvalidInput(f"parameters.{name}: no such record in this organization")
