"""The accepted cron expressions and time zones, and the errors of the others."""

import pytest

from netautod.automation.tasks.cron.fields import parse_expression
from netautod.automation.tasks.cron.ticks import parse
from netautod.automation.tasks.cron.zones import parse_timezone
from netautod.core.errors import InvalidInput
from tests.support.tables import over

ACCEPTED = [
    pytest.param("*/15 * * * *", "minutes", (0, 15, 30, 45), id="a step over a star"),
    pytest.param("*/60 * * * *", "minutes", (0,), id="a step as large as the range"),
    pytest.param("10-30/10,59 * * * *", "minutes", (10, 20, 30, 59), id="a list with a stepped range"),
    pytest.param("30,0,30 * * * *", "minutes", (0, 30), id="unordered and repeated values"),
    pytest.param("05 * * * *", "minutes", (5,), id="a leading zero"),
    pytest.param("0 5-5 * * *", "hours", (5,), id="a range of one, which croniter reads as every hour"),
    pytest.param("0 0 * JAN,mar-May *", "months", (1, 3, 4, 5), id="names of months in either case"),
    pytest.param("0 0 * * SUN-SAT", "weekdays", (0, 1, 2, 3, 4, 5, 6), id="names of weekdays"),
    pytest.param("0 0 * * 7", "weekdays", (0,), id="7 is Sunday"),
    pytest.param("0 0 * * 5-7", "weekdays", (0, 5, 6), id="a range up to Sunday"),
    pytest.param("0 0 * * */2", "weekdays", (0, 2, 4, 6), id="every other weekday"),
    pytest.param("  0\t0   29 2 *", "days", (29,), id="29 February, blanks and tabs between fields"),
    pytest.param("0 0 31 2 1", "days", (31,), id="31 February or a Monday"),
]


@over(("expression", "field", "values"), ACCEPTED)
def test_accepted_expressions(expression: str, field: str, values: tuple[int, ...]) -> None:
    assert getattr(parse_expression(expression), field) == values


REFUSED = [
    pytest.param("", "exactly five fields", id="nothing"),
    pytest.param("* * * *", "exactly five fields", id="four fields"),
    pytest.param("0 * * * * *", "exactly five fields", id="six fields"),
    pytest.param("@daily", "exactly five fields", id="a nickname"),
    pytest.param("60 * * * *", "minute field '60'", id="minute 60"),
    pytest.param("* 24 * * *", "hour field '24'", id="hour 24"),
    pytest.param("* * 0 * *", "day-of-month field '0'", id="day 0"),
    pytest.param("* * 32 * *", "day-of-month field '32'", id="day 32"),
    pytest.param("* * * 0 *", "month field '0'", id="month 0"),
    pytest.param("* * * 13 *", "month field '13'", id="month 13"),
    pytest.param("* * * * 8", "day-of-week field '8'", id="weekday 8"),
    pytest.param("30-10 * * * *", "backwards", id="a descending range"),
    pytest.param("* * * * SAT-SUN", "backwards", id="a descending range of names"),
    pytest.param("*/90 * * * *", "step", id="a step larger than the field"),
    pytest.param("10-20/12 * * * *", "step", id="a step larger than its range"),
    pytest.param("*/0 * * * *", "step", id="a step of nothing"),
    pytest.param("5/10 * * * *", "a step needs", id="a step after one number"),
    pytest.param("*/-5 * * * *", "minute field", id="a negative step"),
    pytest.param("-5 * * * *", "minute field", id="a negative number"),
    pytest.param("1,,2 * * * *", "minute field", id="an empty item"),
    pytest.param("1, * * * *", "minute field", id="a comma at the end"),
    pytest.param("1.5 * * * *", "minute field", id="a fraction"),
    pytest.param("** * * * *", "minute field", id="two stars"),
    pytest.param("*-5 * * * *", "minute field", id="a range from a star"),
    pytest.param("R * * * *", "minute field", id="a random value"),
    pytest.param("H * * * *", "minute field", id="a hashed value"),
    pytest.param("* * ? * *", "day-of-month field", id="a question mark"),
    pytest.param("* * L * *", "day-of-month field", id="the last day"),
    pytest.param("* * 1W * *", "day-of-month field", id="the nearest weekday"),
    pytest.param("* * * * 1#2", "day-of-week field", id="the second Monday"),
    pytest.param("* * * * L5", "day-of-week field", id="the last Friday"),
    pytest.param("* * * MON *", "month field 'MON'", id="a weekday as month"),
    pytest.param("* * * * MONDAY", "day-of-week field 'MONDAY'", id="a long name"),
    pytest.param("JAN * * * *", "not a number", id="a name as minute"),
    pytest.param("\u0663 * * * *", "minute field", id="a digit of another script"),
    pytest.param("0\u00a00 * * *", "exactly five fields", id="a no-break space"),
    pytest.param("* * * * *\n", "day-of-week field", id="a line break"),
    pytest.param("* " * 600, "longer than", id="a very long text"),
    pytest.param("0 0 31 2 *", "never occurs", id="31 February"),
    pytest.param("0 0 30,31 FEB *", "never occurs", id="30 and 31 February"),
    pytest.param("0 0 31 4,6,9,11 */2", "never occurs", id="a 31st in short months"),
]


@over(("expression", "part"), REFUSED)
def test_refused_expressions_are_named(expression: str, part: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        parse(expression, "UTC")
    assert caught.value.text.startswith("cron_expression ")
    assert part in caught.value.text


@over("name", ["UTC", "Europe/Berlin", "Etc/GMT+5", "America/Argentina/Ushuaia"])
def test_accepted_zones(name: str) -> None:
    assert parse_timezone(name).key == name


@over(
    "name",
    [
        "",
        "EST",
        "GMT",
        "CET",
        "localtime",
        "utc",
        "Europe/Berlin ",
        "europe/berlin",
        "Mars/Base",
        "../etc/passwd",
    ],
)
def test_refused_zones_are_named(name: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        parse("0 0 * * *", name)
    assert caught.value.text.startswith("timezone ")
    assert repr(name) in caught.value.text
