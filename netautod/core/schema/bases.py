"""Marshmallow bases: strict request schemas, answer schemas that describe output, and one error sentence."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, ClassVar

from marshmallow import EXCLUDE, RAISE, Schema, ValidationError, fields, pre_load, validate, validates_schema

from netautod.core.errors import InvalidInput
from netautod.core.json import values as json_values
from netautod.core.schema import bounds
from netautod.core.schema.bounds import MOST_ELEMENTS, MOST_IDS, MOST_NAMED, MOST_OBJECT_BYTES

UUID_FORM = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
TIMESTAMP_FORM = r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$"


def uuid_or_none(text: str) -> str | None:
    """Return the id in lower case, or None for anything but the 8-4-4-4-12 form."""
    return text.lower() if UUID_FORM.fullmatch(text) else None


class Integer(fields.Integer):
    """A JSON integer: not `"7"`, not 1.9, not true."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> int:
        if type(value) is not int:
            raise self.make_error("invalid")
        return value


class Boolean(fields.Boolean):
    """A field for JSON true or false: not `"yes"`, not 1."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> bool:
        if type(value) is not bool:
            raise self.make_error("invalid")
        return value


class Name(fields.String):
    """A trimmed name of 1 to 255 characters."""

    def __init__(self, *, max_length: int = 255, **options: Any) -> None:
        super().__init__(**options)
        self.validators = [*self.validators, validate.Length(min=1, max=max_length)]

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        return str(super()._deserialize(value, attr, data, **kwargs)).strip()


class Text(fields.String):
    """An optional text; `""` is the same as null."""

    def __init__(self, *, max_length: int = 4096, **options: Any) -> None:
        super().__init__(**{"allow_none": True, **options})
        self.validators = [*self.validators, validate.Length(max=max_length)]

    def deserialize(self, value: Any, attr: str | None = None, data: Any = None, **kwargs: Any) -> Any:
        # Before the validators run: they cannot measure null.
        return super().deserialize(None if value == "" else value, attr, data, **kwargs)


class ShortList(fields.List[Any]):
    """An array of at most `most` elements, which are not looked at if there are more."""

    def __init__(self, element: fields.Field[Any], *, most: int = MOST_ELEMENTS, **options: Any) -> None:
        self._short = validate.Length(max=most)
        super().__init__(element, validate=self._short, **options)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> list[Any]:
        if isinstance(value, list):
            self._short(value)  # marshmallow would measure after it has loaded all elements
        return super()._deserialize(value, attr, data, **kwargs)


class Id(fields.String):
    """A UUID in the 8-4-4-4-12 form; loaded in lower case."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        found = uuid_or_none(str(super()._deserialize(value, attr, data, **kwargs)))
        if found is None:
            raise ValidationError("Not a UUID.")
        return found


class Ids(fields.Field[list[str]]):
    """A field for up to 10,000 UUIDs: a list of Id would take 100 ms of the loop instead of 5."""

    def __init__(self, **options: Any) -> None:
        described = {"type": "array", "items": {"type": "string", "format": "uuid"}, "maxItems": MOST_IDS}
        super().__init__(validate=validate.Length(max=MOST_IDS), metadata=described, **options)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> list[str]:
        if not isinstance(value, list):
            raise ValidationError("Not a valid list.")
        found = [uuid_or_none(one) if isinstance(one, str) else None for one in value]
        wrong = [number for number, one in enumerate(found) if one is None]
        if wrong:
            raise ValidationError({str(number): ["Not a UUID."] for number in wrong})
        return [one for one in found if one is not None]


class JsonObject(fields.Dict):
    """A field for a free-form JSON object of at most `most_bytes`."""

    most_bytes: int

    def __init__(self, *, most_bytes: int = MOST_OBJECT_BYTES, **options: Any) -> None:
        described = {"additionalProperties": {}, "description": f"At most {most_bytes // 1024} KiB as JSON."}
        invalid = {"invalid": "Not a JSON object."}
        super().__init__(**{"error_messages": invalid, "metadata": described, **options})
        self.most_bytes = most_bytes

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        if isinstance(value, dict) and (complaint := bounds.too_large(value, self.most_bytes)):
            raise ValidationError(complaint)
        return super()._deserialize(value, attr, data, **kwargs)  # type: ignore[no-untyped-call]  # of marshmallow


class Timestamp(fields.String):
    """A field of answers: ISO 8601 UTC with milliseconds and Z."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options, metadata={"format": "date-time", "pattern": TIMESTAMP_FORM})


class Request(Schema):
    """A request body. Fields named in `read_only` may come along and are ignored; others unknown are a 400.

    With `partial` loading (PUT) null clears an optional field; on create null counts as absent.
    `example`: fields that the description's example shows beside those that are needed.
    `needed_in_change`: fields that a PUT needs as well.
    """

    read_only: ClassVar[frozenset[str]] = frozenset()
    example: ClassVar[Mapping[str, Any]] = {}
    refused: ClassVar[Mapping[str, str]] = {}
    needed_in_change: ClassVar[tuple[str, ...]] = ()

    class Meta:
        unknown = RAISE

    @pre_load
    def _tidy(self, data: Any, **kwargs: Any) -> Any:
        if not isinstance(data, Mapping):
            return data
        kept = {key: value for key, value in data.items() if key not in self.read_only}
        if kwargs.get("partial"):
            return kept
        return {key: value for key, value in kept.items() if value is not None}

    @validates_schema
    def _has_what_a_change_needs(self, data: Mapping[str, Any], **kwargs: Any) -> None:
        absent = [name for name in self.needed_in_change if kwargs.get("partial") and name not in data]
        if absent:
            raise ValidationError({name: ["Missing data for required field."] for name in absent})


class Answer(Schema):
    """A schema that describes output: every field is always present. Answers are written by hand; tests
    compare them with this.
    """

    class Meta:
        unknown = RAISE


class Query(Schema):
    """A schema of query parameters; keys that the route does not know are ignored."""

    class Meta:
        unknown = EXCLUDE


class QueryInteger(fields.Integer):
    """A whole number in decimal digits; over `cap` it is lowered to the cap, over `high` it is refused."""

    HIGHEST: ClassVar[int] = 10**18 - 1

    def __init__(self, *, low: int, cap: int | None = None, high: int | None = None, **options: Any) -> None:
        super().__init__(**options)
        self.low, self.cap, self.high = low, cap, high

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> int:
        text = str(value)
        if not re.fullmatch(r"-?[0-9]{1,18}", text):
            raise ValidationError("Not a valid integer.")
        number = int(text)
        if number < self.low:
            raise ValidationError(f"Must be at least {self.low}.")
        if self.high is not None and number > self.high:
            raise ValidationError(f"Must be at most {self.high}.")
        return number if self.cap is None else min(number, self.cap)


class QueryTimestamp(fields.String):
    """An ISO 8601 date and time with an offset; loaded as a UTC datetime."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        try:
            moment = datetime.fromisoformat(str(value))
        except ValueError as error:
            raise ValidationError("Not an ISO 8601 date and time.") from error
        if moment.tzinfo is None:
            raise ValidationError("The offset is missing (for example Z).")
        try:
            return moment.astimezone(UTC)
        except OverflowError as error:
            raise ValidationError("Out of range.") from error


class QueryBoolean(fields.Boolean):
    """A field for the texts `true` and `false`."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> bool:
        if value not in ("true", "false"):
            raise ValidationError("Must be true or false.")
        return bool(value == "true")


class PageQuery(Query):
    limit = QueryInteger(low=1, cap=100, load_default=50)
    offset = QueryInteger(low=0, load_default=0)


class PageAnswer(Answer):
    """A schema of what every paged list carries beside its items."""

    total = fields.Integer()
    limit = fields.Integer()
    offset = fields.Integer()


def load(schema: Schema, data: Any, *, partial: bool = False) -> dict[str, Any]:
    """Return validated data. Raises InvalidInput with one sentence that names the fields."""
    refuse_too_much(schema, data)
    try:
        loaded: dict[str, Any] = schema.load(data, partial=partial)
    except ValidationError as error:
        raise InvalidInput(
            sentence(error.messages if isinstance(error.messages, dict) else {"": error.messages})
        ) from error
    return loaded


def refuse_too_much(schema: Schema, data: Any, *, within: str = "") -> None:
    """Raise InvalidInput for data that marshmallow must not process; `within` is the field that holds it."""
    found = bounds.complaints(schema, data)
    if found is not None:
        raise InvalidInput(
            _listed([_complaint(f"{within}{name}", text) for name, text in found.named.items()], found.count)
        )


def sentence(messages: Any) -> str:
    """Return `{"port": ["Not a valid integer."]}` as `port: Not a valid integer`; at most ten complaints."""
    parts = _complaints(messages, "")
    return _listed(parts[:MOST_NAMED], len(parts))


def _listed(named: list[str], count: int) -> str:
    more = count - len(named)
    return "; ".join(named) + (f"; ... and {more:,} more" if more else "")


def _complaints(messages: Any, path: str) -> list[str]:
    if isinstance(messages, Mapping):
        found: list[str] = []
        for key, inner in messages.items():
            step = path if key == "_schema" else (f"{path}.{key}" if path else str(key))
            found += _complaints(inner, step)
        return found
    texts = messages if isinstance(messages, list) else [messages]
    return [_complaint(path, str(text)) for text in texts]


def _complaint(path: str, text: str) -> str:
    shown = json_values.named(text.rstrip("."))
    return f"{json_values.named(path)}: {shown}" if path else shown
