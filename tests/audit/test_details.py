"""The details of events hold no secret and are bounded, whatever a service gives."""

import json
from typing import Any

import pytest

from netautod.audit.details import HIDDEN, MAX_BYTES, safe


@pytest.mark.parametrize(
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


@pytest.mark.parametrize("key", NAMES_OF_SECRETS.split())
def test_a_value_is_hidden_by_its_name(key: str) -> None:
    given: dict[str, Any] = {key: "s", f"x_{key}": b"s", f"{key}_id": "i", f"x{key}": "v"}
    hidden = dict.fromkeys((key, f"x_{key}"), HIDDEN)
    stored = safe(given)
    assert {name: stored[name] for name in hidden} == hidden
    assert stored[f"{key}_id"] == "i"
    assert safe({key: True})[key] is True


@pytest.mark.parametrize("key", ["command", "cmd", "error", "message", "output"])
def test_what_quotes_others_is_shown_as_a_command(key: str) -> None:
    shown = "enable secret <hidden>"
    assert safe({key: "enable secret s3cret"}) == {key: shown}
    assert safe({f"{key}s": ["enable secret s3cret"]}) == {f"{key}s": [shown]}


@pytest.mark.parametrize("key", ["reason", "comment", "url", "inventory_url", "query", "q"])
def test_what_people_write_loses_the_unmistakable_alone(key: str) -> None:
    given = "the secret door, https://bob:s3cret@h/"
    assert safe({key: given}) == {key: "the secret door, https://bob:<hidden>@h/"}


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
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
