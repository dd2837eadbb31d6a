"""SSH profiles: the lists grow with age and the advice names the youngest one that helps."""

import pytest

from netautod.core.errors import InvalidInput
from netautod.transport.ssh.profiles import PROFILES, explain_mismatch, profile_named


def _reason(what: str, received: str) -> str:
    return f"No matching {what} algorithm found, sent curve25519-sha256 and received {received}"


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        pytest.param(
            _reason("key exchange", "diffie-hellman-group14-sha1,diffie-hellman-group1-sha1"),
            "'compatible'",
            id="a group14 device needs compatible, though it offers group1 too",
        ),
        pytest.param(_reason("key exchange", "diffie-hellman-group1-sha1"), "'legacy'", id="a group1 device"),
        pytest.param(_reason("server host key", "ssh-rsa"), "'compatible'", id="a SHA-1 host key"),
        pytest.param(_reason("encryption", "aes128-cbc,3des-cbc"), "'legacy'", id="CBC only"),
        pytest.param(_reason("MAC", "hmac-md5"), "'legacy'", id="MD5 only"),
        pytest.param(_reason("encryption", "arcfour"), "no SSH profile supports", id="beyond help"),
    ],
)
def test_the_advice_names_algorithm_and_profile(reason: str, expected: str) -> None:
    text = explain_mismatch(reason, "modern")
    assert expected in text
    assert reason.rpartition(" ")[2].split(",")[0] in text


def test_older_profiles_keep_the_order_of_the_newer_ones() -> None:
    modern, compatible, legacy = PROFILES["modern"], PROFILES["compatible"], PROFILES["legacy"]
    for younger, older in ((modern, compatible), (compatible, legacy)):
        assert older.host_keys[: len(younger.host_keys)] == younger.host_keys


def test_an_unknown_profile_is_refused() -> None:
    with pytest.raises(InvalidInput, match="modern, compatible, legacy"):
        profile_named("ancient")
