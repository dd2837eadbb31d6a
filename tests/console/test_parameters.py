"""The parameters of a task as a form: what becomes a control, and that no stored value is lost by it."""

from typing import Any

import pytest
from marshmallow import INCLUDE, Schema, fields, validate

from netautod.console.base.forms import Form
from netautod.console.runs.parameters import controls_of, sent, shown
from netautod.core.errors import InvalidInput


class Inner(Schema):
    site = fields.String()
    deep = fields.Dict()


class Parameters(Schema):
    class Meta:
        unknown = INCLUDE

    text = fields.String(validate=validate.Length(max=255))
    prompt = fields.String(validate=validate.Length(max=65536))
    mode = fields.String(validate=validate.OneOf(["fast", "safe"]), metadata={"label": "How"})
    count = fields.Integer()
    share = fields.Float()
    strict = fields.Boolean()
    device_filter = fields.Nested(Inner, allow_none=True)
    names = fields.List(fields.String())
    told = fields.String(dump_only=True)


class Broken(Schema):
    def __init__(self) -> None:
        raise RuntimeError("no")


VALUES: list[dict[str, Any]] = [
    {},
    {"text": "a", "count": 0, "share": 0.5, "strict": False, "mode": "safe", "prompt": "two\nlines\n"},
    {"device_filter": {"site": "Ulm"}},
    {"device_filter": {"site": "Ulm", "deep": {"a": [1]}}},
    {"device_filter": {}},
    {"device_filter": None, "other": "kept"},
    # What a control cannot show stays as it is.
    {"text": " blanks "},
    {"text": "two\nlines", "mode": "unknown", "count": "7", "strict": "yes", "names": ["<b>"]},
    {"text": "", "count": True, "share": 3},
    {"device_filter": ["odd"]},
]


def test_simple_fields_become_controls() -> None:
    kinds = {".".join(one.path): one.kind for one in controls_of(Parameters)}
    assert kinds == {
        "text": "text",
        "prompt": "area",
        "mode": "choice",
        "count": "whole",
        "share": "number",
        "strict": "truth",
        "device_filter.site": "text",
    }
    labels = {one.label for one in controls_of(Parameters)}
    assert {"How", "Device filter, site", "Count"} <= labels


@pytest.mark.parametrize("values", VALUES)
@pytest.mark.parametrize("kind", [Parameters, None, Broken])
def test_a_form_that_is_sent_as_it_was_shown_says_the_same(
    values: dict[str, Any], kind: type[Schema] | None
) -> None:
    part = shown("a_type", kind, values)
    given = {
        name: [text.replace("\n", "\r\n")] for name, text in {**part.texts, part.field: part.rest}.items()
    }
    assert sent(Form(given=given), "a_type", kind) == values


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"parameters.a": "[]"}, "parameters: Not a JSON object"),
        ({"parameters.a": "{'a': 1}"}, "parameters: Not valid JSON"),
        ({"parameters.a": '{"text": "x"}', "parameters.a.text": "y"}, "parameters.text: It is in the JSON"),
        (
            {"parameters.a": '{"device_filter": 1}', "parameters.a.device_filter.site": "y"},
            "parameters.device_filter.site: device_filter is no object",
        ),
    ],
)
def test_what_is_no_form_of_them_is_refused(given: dict[str, str], complaint: str) -> None:
    form = Form(given={name: [text] for name, text in given.items()})
    with pytest.raises(InvalidInput, match=complaint.replace("(", r"\(")):
        sent(form, "a", Parameters)
