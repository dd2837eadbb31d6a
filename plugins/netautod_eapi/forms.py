"""The parts of answers, checked for the form that they must have."""

from collections.abc import Iterator, Mapping
from typing import Any


class OtherForm(Exception):
    """An answer that is not what the command gives; `text` says where."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


def objects(answer: Mapping[str, Any], name: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the entries of an object of objects. Raises OtherForm for anything else, also where it is
    missing.
    """
    found = answer.get(name)
    if not isinstance(found, Mapping):
        raise OtherForm(f"{name} is not an object")
    for key, value in found.items():
        if not isinstance(value, Mapping):
            raise OtherForm(f"{name}.{key} is not an object")
        yield str(key), value


def listed(answer: Mapping[str, Any], name: str) -> Iterator[Mapping[str, Any]]:
    """Yield the entries of an array of objects."""
    found = answer.get(name)
    if not isinstance(found, list):
        raise OtherForm(f"{name} is not an array")
    for value in found:
        if not isinstance(value, Mapping):
            raise OtherForm(f"{name} does not hold objects")
        yield value


def part(answer: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return an object within; an empty one where there is none."""
    found = answer.get(name)
    return found if isinstance(found, Mapping) else {}


def text(answer: Mapping[str, Any], name: str) -> str | None:
    found = answer.get(name)
    return found if isinstance(found, str) and found else None


def whole(answer: Mapping[str, Any], name: str) -> int | None:
    found = answer.get(name)
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def real(answer: Mapping[str, Any], name: str) -> float | None:
    found = answer.get(name)
    return float(found) if isinstance(found, int | float) and not isinstance(found, bool) else None
