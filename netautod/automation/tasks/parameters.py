"""The check of `parameters` against the executor's schema and the records that they name; their loading for a
run.
"""

import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from marshmallow import Schema, ValidationError

from netautod.core.errors import InvalidInput
from netautod.core.identity.caller import Caller, OrgId
from netautod.core.schema.bases import refuse_too_much, sentence, uuid_or_none
from netautod.core.work.plugin_calls import no_exit

logger = logging.getLogger(__name__)


def loaded(kind: type[Schema] | None, parameters: Mapping[str, Any]) -> Any:
    """Load parameters by the schema; without one they stay as they are stored.

    The schema gets a copy, so that it cannot change what is stored or what the next attempt gets. Raises
    ValidationError; InvalidInput for a schema that fails in another way.
    """
    if kind is None:
        return parameters
    with _named(kind):
        return kind().load(_copy(parameters))


@contextmanager
def _named(kind: type[Schema]) -> Iterator[None]:
    """Translate failures of a plugin's schema into errors that name it, while the block runs."""
    try:
        with no_exit():
            yield
    except ValidationError:
        raise
    except Exception as error:
        # It is the plugin's mistake, but a retry of the same cannot succeed.
        logger.exception("the parameters schema %s failed", kind.__qualname__)
        text = "parameters: the plugin's schema failed on them; the service log has the details"
        raise InvalidInput(text) from error


@dataclass(frozen=True, kw_only=True)
class Reference:
    """A kind of record that parameters may name: the permission that naming it needs, and a check that it
    exists.
    """

    permission: str
    exists: Callable[[OrgId, str], Awaitable[bool]]


def _copy(value: Any) -> Any:
    """Copy a JSON value; this takes a fifth of the time of deepcopy, which would hold up the event loop."""
    if isinstance(value, Mapping):
        return {name: _copy(one) for name, one in value.items()}
    return [_copy(one) for one in value] if isinstance(value, list) else value


class SchemaRules:
    """The `ParameterRules` that come from the executors' marshmallow schemas.

    A schema field with `metadata={"reference": "<kind>"}` holds the id of a record of that kind.
    """

    def __init__(
        self, *, schemas: Mapping[str, type[Schema] | None], references: Mapping[str, Reference]
    ) -> None:
        self._schemas = schemas
        self._references = references

    def schemas(self) -> Mapping[str, type[Schema] | None]:
        return self._schemas

    async def check(
        self, caller: Caller, task_type: str, parameters: Mapping[str, Any], before: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        kind = self._schemas.get(task_type)
        if kind is None:
            return parameters
        with _named(kind):
            schema = kind()
        refuse_too_much(schema, parameters, within="parameters.")
        try:
            # Only validated: the sent values are stored, so that a client reads back its own. The exception
            # are the ids of records: users of a record are found by the form of the id that this service
            # writes.
            loaded(kind, parameters)
        except ValidationError as error:
            raise InvalidInput(sentence({"parameters": error.messages})) from error
        ids: dict[str, str] = {}
        for name, field in schema.fields.items():
            reference = self._references.get(str(field.metadata.get("reference")))
            value = parameters.get(name)
            if reference is not None and value is not None and value != before.get(name):
                caller.require(reference.permission)
                ids[name] = await self._existing(reference, caller.org_id, name, str(value))
        return {**parameters, **ids}

    async def _existing(self, reference: Reference, org_id: OrgId, name: str, value: str) -> str:
        record_id = uuid_or_none(value)
        if record_id is None or not await reference.exists(org_id, record_id):
            raise InvalidInput(f"parameters.{name}: no such record in this organization")
        return record_id
