"""The parameters of a task as a form: a control for each simple field of the schema, JSON for the rest."""

import json
import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from marshmallow import Schema, fields, validate

from netautod.console.base.forms import Form, json_of
from netautod.core.errors import InvalidInput
from netautod.core.work.plugin_calls import no_exit

logger = logging.getLogger(__name__)
Kind = Literal["text", "area", "whole", "number", "truth", "choice", "credential"]
DEEPEST = 3  # nested schemas that become controls; what is deeper is JSON
LONG_TEXT = 1000  # characters; a field that takes more is an area
_WHOLE = re.compile(r"-?[0-9]{1,18}")


@dataclass(frozen=True, kw_only=True)
class Control:
    """A control of a form.

    `path` holds the names that lead to the value; `options` are those of a choice.
    """

    path: tuple[str, ...]
    label: str
    kind: Kind
    hint: str = ""
    options: tuple[str, ...] = ()

    @property
    def choices(self) -> list[tuple[str, str]]:
        return [(one, one) for one in self.options]

    def name_in(self, task_type: str) -> str:
        """Return the name of the control's field in the form."""
        return f"{field_of(task_type)}.{'.'.join(self.path)}"

    def text_of(self, value: Any) -> str | None:
        """Return the text that the control shows for a stored value; None if it cannot, and the value stays
        JSON.
        """
        if self.kind == "truth":
            return str(value).lower() if isinstance(value, bool) else None
        if self.kind in ("whole", "number"):
            number = isinstance(value, int | float) and not isinstance(value, bool)
            return str(value) if number else None
        if not isinstance(value, str) or not value or (self.kind == "choice" and value not in self.options):
            return None
        plain = self.kind == "area" or ("\n" not in value and value == value.strip())
        return value if plain else None

    def value_of(self, text: str) -> Any:
        """Convert what was typed; a text that is no such value stays a text, which the schema refuses."""
        if self.kind == "truth" and text in ("true", "false"):
            return text == "true"
        if self.kind == "whole" and _WHOLE.fullmatch(text):
            return int(text)
        if self.kind == "number":
            try:
                return float(text)
            except ValueError:
                return text
        return text


@dataclass(frozen=True, kw_only=True)
class ShownParameters:
    """The parameters of a task type in a form; `texts` by the name of the control's field."""

    task_type: str
    controls: Sequence[Control]
    texts: Mapping[str, str]
    rest: str
    on_devices: bool

    @property
    def field(self) -> str:
        return field_of(self.task_type)


def field_of(task_type: str) -> str:
    return f"parameters.{task_type}"


def shown(task_type: str, kind: type[Schema] | None, parameters: Mapping[str, Any]) -> ShownParameters:
    """Return the stored `parameters` as a form shows them: each value is in a control or in the rest."""
    controls, rest, texts = controls_of(kind), json.loads(json.dumps(parameters)), dict[str, str]()
    for control in controls:
        holder = _holder(rest, control.path)
        text = None if holder is None else control.text_of(holder.get(control.path[-1]))
        if holder is not None and text is not None:
            texts[control.name_in(task_type)] = text
            del holder[control.path[-1]]
    for control in controls:
        if len(control.path) > 1 and rest.get(control.path[0]) == {} and parameters[control.path[0]]:
            del rest[control.path[0]]
    return ShownParameters(
        task_type=task_type,
        controls=controls,
        texts=texts,
        rest=json.dumps(rest, indent=2, ensure_ascii=False) if rest else "",
        on_devices=visits_devices(controls),
    )


def visits_devices(controls: Sequence[Control]) -> bool:
    """Return whether `device_filter` selects the devices that a run visits."""
    return any(control.path[0] == "device_filter" for control in controls)


def sent(form: Form, task_type: str, kind: type[Schema] | None) -> dict[str, Any]:
    """Return the parameters that a form gives.

    Raises InvalidInput if the rest is no JSON object, or if a value is given twice.
    """
    text = form.text(field_of(task_type))
    found = json_of(text, "parameters") if text else {}
    if not isinstance(found, dict):
        raise InvalidInput("parameters: Not a JSON object")
    for control in controls_of(kind):
        name = control.name_in(task_type)
        typed = form.secret(name).replace("\r\n", "\n") if control.kind == "area" else form.text(name)
        if typed.strip():
            _put(found, control.path, control.value_of(typed))
    return found


def controls_of(kind: type[Schema] | None) -> list[Control]:
    """Return the controls of a schema; none for a schema that cannot be built, whose parameters are JSON."""
    if kind is None:
        return []
    try:
        with no_exit():
            return list(_controls(kind(), ()))
    except Exception:
        logger.exception("the parameters schema %s failed", kind.__qualname__)
        return []


def _controls(schema: Schema, above: tuple[str, ...]) -> Iterator[Control]:
    for key, field in schema.fields.items():
        path = (*above, field.data_key or key)
        if field.dump_only:
            continue
        if isinstance(field, fields.Nested) and not field.many and len(path) < DEEPEST:
            yield from _controls(field.schema, path)
        elif (found := _kind(field)) is not None:
            yield Control(
                path=path, kind=found, label=_label(field, path), hint=_hint(field), **_options(field)
            )


def _kind(field: fields.Field[Any]) -> Kind | None:
    if field.metadata.get("reference") == "credential":
        return "credential"
    if isinstance(field, fields.Boolean):
        return "truth"
    if isinstance(field, fields.Integer):
        return "whole"
    if isinstance(field, fields.Float):
        return "number"
    if isinstance(field, fields.String):
        if _options(field):
            return "choice"
        longest = [one.max for one in field.validators if isinstance(one, validate.Length)]
        return "area" if any(each is not None and each > LONG_TEXT for each in longest) else "text"
    return None


def _options(field: fields.Field[Any]) -> dict[str, tuple[str, ...]]:
    for one in field.validators:
        if isinstance(one, validate.OneOf) and isinstance(field, fields.String):
            return {"options": tuple(map(str, one.choices))}
    return {}


def _label(field: fields.Field[Any], path: tuple[str, ...]) -> str:
    given = field.metadata.get("label")
    return str(given) if given else ", ".join(path).replace("_", " ").capitalize()


def _hint(field: fields.Field[Any]) -> str:
    return str(field.metadata.get("description", ""))


def _holder(values: Any, path: tuple[str, ...]) -> dict[str, Any] | None:
    """Return the object that holds the last name of the path; None if there is none."""
    for name in path[:-1]:
        values = values.get(name) if isinstance(values, dict) else None
    return values if isinstance(values, dict) and path[-1] in values else None


def _put(values: dict[str, Any], path: tuple[str, ...], value: Any) -> None:
    for name in path[:-1]:
        values = values.setdefault(name, {})
        if not isinstance(values, dict):
            raise InvalidInput(f"parameters.{'.'.join(path)}: {name} is no object in the JSON")
    if path[-1] in values:
        raise InvalidInput(f"parameters.{'.'.join(path)}: It is in the JSON as well")
    values[path[-1]] = value
