"""The details of events hold no secret and are bounded, whatever a service gives."""

import json
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from netautod.activity.audit.details import HIDDEN, MAX_BYTES, plain, safe
from tests.support.tables import over


@over(
    ("given", "stored"),
    [
        pytest.param({"name": "core", "has_secret": True}, {"name": "core", "has_secret": True}, id="plain"),
        pytest.param({"password": "s"}, {"password": HIDDEN}, id="a password"),
        pytest.param({"enable_secret": "s"}, {"enable_secret": HIDDEN}, id="a kind of secret"),
        pytest.param({"a": [{"auth_key": "s"}]}, {"a": [{"auth_key": HIDDEN}]}, id="deep inside"),
        pytest.param(
            {"fields": ["password"], "token_id": "t", "token": {"id": "i", "name": "n"}},
            {"fields": ["password"], "token_id": "t", "token": {"id": "i", "name": "n"}},
            id="what is about a secret",
        ),
    ],
)
def test_secrets_are_hidden(given: dict[str, Any], stored: dict[str, Any]) -> None:
    assert safe(given) == stored


NAMES_OF_SECRETS = (
    "pass password passphrase passwd passcode secret secrets token tokens community otp pin auth "
    "authorization cookie credential credentials auth_key auth_keys privkey private_key api_key "
    "apikey access_key signing_key master_key encryption_key recovery_code recovery_codes "
    "new-password OTP"
)


@over("key", NAMES_OF_SECRETS.split())
def test_a_value_is_hidden_by_its_name(key: str) -> None:
    given: dict[str, Any] = {key: "s", f"x_{key}": b"s", f"{key}_id": "i", f"x{key}": "v"}
    hidden = dict.fromkeys((key, f"x_{key}"), HIDDEN)
    stored = safe(given)
    assert {name: stored[name] for name in hidden} == hidden
    assert stored[f"{key}_id"] == "i"
    assert safe({key: True})[key] is True


@over("key", ["command", "cmd", "error", "message", "output"])
def test_what_quotes_others_is_shown_as_a_command(key: str) -> None:
    shown = "enable secret <hidden>"
    assert safe({key: "enable secret s3cret"}) == {key: shown}
    assert safe({f"{key}s": ["enable secret s3cret"]}) == {f"{key}s": [shown]}


@over("key", ["reason", "comment", "url", "inventory_url", "query", "q"])
def test_what_people_write_loses_the_unmistakable_alone(key: str) -> None:
    given = "the secret door, https://bob:s3cret@h/"
    assert safe({key: given}) == {key: "the secret door, https://bob:<hidden>@h/"}


@over(
    "given",
    [
        pytest.param({"inventory_url": "https://u:pa55word@host/x"}, id="the password of a URL"),
        pytest.param({"command": "mysql -ppa55word -u root"}, id="the password of a command"),
        pytest.param({"command": "username x secret pa55word"}, id="a configuring command"),
        pytest.param({"connect": {"commands": ["show clock", "mysql -ppa55word"]}}, id="a list of commands"),
        pytest.param({"error": "sent Authorization: Bearer pa55word"}, id="a header in an error"),
    ],
)
def test_secrets_in_texts_are_hidden(given: dict[str, Any]) -> None:
    assert "pa55word" not in json.dumps(safe(given))


@over(
    "given",
    [
        pytest.param({"ids": [str(number) for number in range(10_000)]}, id="a long list"),
        pytest.param({"text": "x" * 1_000_000}, id="a long text"),
        pytest.param({str(number): number for number in range(10_000)}, id="many keys"),
        pytest.param({"lists": [["x" * 2000] * 100] * 100}, id="lists of lists"),
    ],
)
def test_details_are_bounded(given: dict[str, Any]) -> None:
    assert len(json.dumps(safe(given))) <= MAX_BYTES


def test_what_is_nested_is_cut() -> None:
    deep: dict[str, Any] = {}
    for _ in range(100):
        deep = {"a": deep}
    assert len(json.dumps(safe(deep))) < 200


@over(
    ("given", "stored"),
    [
        pytest.param(None, None, id="nothing"),
        pytest.param(True, True, id="a truth value"),
        pytest.param("text", "text", id="a text"),
        pytest.param(2**63 - 1, 2**63 - 1, id="the largest number"),
        pytest.param(2**63, str(2**63), id="a larger one"),
        pytest.param(-(2**63), -(2**63), id="the smallest number"),
        pytest.param(-(2**63) - 1, str(-(2**63) - 1), id="a smaller one"),
        pytest.param(1.5, 1.5, id="a fraction"),
        pytest.param(float("inf"), "inf", id="without an end"),
        pytest.param(float("nan"), "nan", id="no number"),
        pytest.param(datetime(2026, 1, 2, tzinfo=UTC), "2026-01-02T00:00:00.000Z", id="a moment"),
        pytest.param({"a\x00": {1: (2,)}}, {"a": {"1": [2]}}, id="an object"),
        pytest.param({3}, [3], id="a set"),
        pytest.param(frozenset({3}), [3], id="a frozen set"),
        pytest.param(UUID(int=1), str(UUID(int=1)), id="any other value"),
        pytest.param(b"x", "b'x'", id="bytes"),
    ],
)
def test_a_value_is_stored_as_what_json_and_the_database_hold(given: Any, stored: Any) -> None:
    for kept, wanted in ((plain(given), stored), (safe({"x": given})["x"], stored)):
        assert (type(kept), kept) == (type(wanted), wanted)


def objects(levels: int, inside: Any) -> Any:
    return inside if levels == 0 else {"a": objects(levels - 1, inside)}


def lists(levels: int, inside: Any) -> Any:
    return inside if levels == 0 else [lists(levels - 1, inside)]


@over(
    ("given", "stored"),
    [
        pytest.param(objects(6, "x"), objects(6, "x"), id="six objects"),
        pytest.param(objects(7, "x"), objects(6, "..."), id="seven objects"),
        pytest.param({"a": lists(5, "x")}, {"a": lists(5, "x")}, id="five lists"),
        pytest.param({"a": lists(6, "x")}, {"a": lists(5, "...")}, id="six lists"),
        pytest.param({"commands": lists(6, "x")}, {"commands": lists(6, "x")}, id="six lists of commands"),
        pytest.param({"commands": lists(7, "x")}, {"commands": lists(6, "...")}, id="seven of them"),
        pytest.param({"a": "x" * 2048}, {"a": "x" * 2048}, id="a text that fits"),
        pytest.param({"a": "x" * 2049}, {"a": "x" * 2048 + "..."}, id="a text that does not"),
        pytest.param({"a": ["x"] * 100}, {"a": ["x"] * 100}, id="a list that fits"),
        pytest.param({"a": ["x"] * 101}, {"a": [*["x"] * 100, "... 1 more"]}, id="a list that does not"),
        pytest.param(
            {"commands": ["x"] * 101}, {"commands": [*["x"] * 100, "... 1 more"]}, id="a list of commands"
        ),
        pytest.param(
            {str(number): 1 for number in range(101)},
            {**{str(number): 1 for number in range(100)}, "...": "1 more"},
            id="an object that does not",
        ),
        pytest.param(
            {"n": 1, "a": ["x" * 2000] * 17},
            {"n": 1, "cut_bytes": 17 * 2004 + 15},
            id="all of it is too much",
        ),
    ],
)
def test_where_details_are_cut(given: dict[str, Any], stored: dict[str, Any]) -> None:
    assert safe(given) == stored
