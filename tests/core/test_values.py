"""Values made at once: the same as from their constructor, and never with a field too few or too many."""

from dataclasses import FrozenInstanceError, dataclass

import pytest

from netautod.core.schema.bulk_values import made


@dataclass(frozen=True, kw_only=True)
class Port:
    number: int
    name: str = "http"


def test_a_value_is_that_of_the_constructor() -> None:
    port = made(Port, {"name": "ssh", "number": 22})
    assert (port, hash(port), repr(port)) == (
        Port(number=22, name="ssh"),
        hash(Port(number=22, name="ssh")),
        "Port(number=22, name='ssh')",
    )
    with pytest.raises(FrozenInstanceError):
        port.number = 23  # type: ignore[misc]


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        pytest.param({"number": 22}, "name", id="a field with a default is missing"),
        pytest.param({"name": "ssh"}, "number", id="a field is missing"),
        pytest.param({"name": "ssh", "nummer": 22}, "number, nummer", id="a field that it does not have"),
    ],
)
def test_all_fields_are_given(fields: dict[str, object], wrong: str) -> None:
    with pytest.raises(TypeError, match=f"Port: missing, or no field of it: {wrong}$"):
        made(Port, fields)
