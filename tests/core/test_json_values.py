"""How values and moments are written as JSON."""

import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from bson.tz_util import utc as utc_of_the_database

from netautod.core.errors import InvalidInput
from netautod.core.json import values as json_values

MOMENT = datetime(2026, 11, 21, 6, 44, 12, 345_678, tzinfo=UTC)
EAST = timezone(timedelta(hours=5, minutes=45))


@pytest.mark.parametrize(
    "moment",
    [
        pytest.param(MOMENT, id="UTC"),
        pytest.param(MOMENT.replace(tzinfo=utc_of_the_database), id="as the database gives it"),
        pytest.param(MOMENT.astimezone(EAST), id="of another zone"),
    ],
)
def test_moments_are_written_in_utc_with_milliseconds(moment: datetime) -> None:
    assert json_values.to_text(moment) == "2026-11-21T06:44:12.345Z"


def test_whole_seconds_have_milliseconds_too_and_early_years_four_digits() -> None:
    assert json_values.to_text(datetime(987, 1, 2, tzinfo=UTC)) == "0987-01-02T00:00:00.000Z"


@pytest.mark.parametrize(
    "value",
    [
        pytest.param({"b": 1, "a": [None, True, 1.5, ""]}, id="the order of members"),
        pytest.param({"text": 'a"b\\c\n\t\x01\x7f é 漢 😀 \u2028'}, id="signs"),
        pytest.param({2: "x", True: "y", None: "z"}, id="names that are no texts"),
        pytest.param([2**63 - 1, -(2**63), 2**64 - 1, 0.1, 1e300, -0.0], id="numbers"),
        pytest.param((1, ("a",)), id="tuples"),
    ],
)
def test_what_is_written_reads_as_it_does_with_pythons_encoder(value: Any) -> None:
    written = json_values.encode(value)
    assert json.loads(written) == json.loads(json.dumps(value))
    assert b": " not in written
    assert b", " not in written


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(MOMENT, id="a moment"),
        pytest.param({"a": {1, 2}}, id="a set"),
        pytest.param("\ud800", id="a lone surrogate"),
        pytest.param(2**64, id="65 bits"),
    ],
)
def test_what_json_has_not_is_a_mistake(value: Any) -> None:
    with pytest.raises(TypeError):
        json_values.encode(value)


def test_no_number_is_null_when_it_is_written_and_refused_before_it_is_kept() -> None:
    assert json_values.encode([float("nan"), float("inf")]) == b"[null,null]"
    for odd in (float("nan"), float("inf"), float("-inf")):
        with pytest.raises(InvalidInput, match=r"output\.rate: the number is out of range"):
            json_values.check({"output": {"rate": odd}})
