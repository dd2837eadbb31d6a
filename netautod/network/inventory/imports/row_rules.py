"""The rules of one imported row: those of DeviceRequest, without the costs of a schema for each row."""

from typing import Any

from marshmallow import ValidationError

from netautod.core.errors import InvalidInput
from netautod.core.schema.bases import load
from netautod.network.devices.schemas import DeviceRequest

MOST_FIELDS = 200


class RowRules:
    """The rules of one row, checked by the fields of the schema directly, which takes under half of the time.

    A row that they do not accept is given to the schema, whose verdict and error texts are the ones that
    count.
    """

    def __init__(self) -> None:
        self._schema = DeviceRequest()
        self._fields = self._schema.load_fields
        self._required = [name for name, field in self._fields.items() if field.required]

    def load(self, value: Any) -> dict[str, Any]:
        """Return the fields of the device; raises InvalidInput with a sentence that names those that are
        wrong.

        `value` holds nothing that could not be stored: the reader of the file has checked that.
        """
        if not isinstance(value, dict):
            raise InvalidInput("the row must be a JSON object")
        if len(value) > MOST_FIELDS:  # each of them would be a complaint
            raise InvalidInput(f"the row has more than {MOST_FIELDS} fields")
        loaded: dict[str, Any] = {}
        for name, given in value.items():
            if given is None or name in self._schema.read_only:
                continue
            field = self._fields.get(name)
            if field is None:
                return load(self._schema, value)
            try:
                loaded[name] = field.deserialize(given, name, value)
            except ValidationError:
                return load(self._schema, value)
        if any(name not in loaded for name in self._required):
            return load(self._schema, value)
        return loaded
