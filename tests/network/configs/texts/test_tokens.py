"""Stand-ins for secrets: what a reader is shown of a replaced block, and what of a normalised text."""

import pytest

from netautod.network.configs.texts.compare import compared, compared_side_by_side
from netautod.network.configs.texts.learned_noise import Rule
from netautod.network.configs.texts.normalise import secret_token
from netautod.network.configs.texts.tokens import (
    SecretForm,
    key_of_device,
    keyed_by_device,
    with_marked_changes,
    without_tokens,
)
from netautod.transport.ssh.platform.registry import PlatformRegistry

KEY = b"k" * 32
REGISTRY = PlatformRegistry()
IOS = REGISTRY.get("cisco_ios")
A, B, C = (f"<secret:{digit * 8}>" for digit in "abc")


@pytest.mark.parametrize(
    ("old", "new", "shown"),
    [
        pytest.param([f"key {A}"], [f"key {B}"], ["key <secret: changed>"], id="another secret"),
        pytest.param(
            [f"user x level 1 key {A}"],
            [f"user x level 15 key {A}"],
            ["user x level 15 key <secret>"],
            id="another word, the same secret",
        ),
        pytest.param(
            [f"user x level 1 key {A}"],
            [f"user x level 15 key {B}"],
            ["user x level 15 key <secret: changed>"],
            id="another word and another secret",
        ),
        pytest.param([], [f"key {A}"], ["key <secret>"], id="a line that was not there"),
        pytest.param(["hostname a"], [f"key {A}"], ["key <secret>"], id="a line in the place of another"),
        pytest.param(
            [f"auth {A} priv {B}"],
            [f"auth {A} priv {C}"],
            ["auth <secret> priv <secret: changed>"],
            id="the second of two secrets",
        ),
        pytest.param(
            [f"key {A}", f"key {B}"],
            [f"key {A}", f"key {C}"],
            ["key <secret>", "key <secret: changed>"],
            id="the second of two lines that look alike",
        ),
        pytest.param(["key <secret>"], ["key <secret>"], ["key <secret>"], id="secrets without tokens"),
        pytest.param(
            [f"key {A} {number}" for number in range(200)],
            [f"key {B} {number}" for number in range(200)],
            [f"key <secret: changed> {number}" for number in range(200)],
            id="a block that is too large to look for likeness",
        ),
    ],
)
def test_a_changed_secret_is_said_in_the_new_line(old: list[str], new: list[str], shown: list[str]) -> None:
    assert with_marked_changes(old, new) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param(f"a {A} b {B}\nc", "a <secret> b <secret>\nc", id="tokens"),
        pytest.param("a <secret:*>", "a <secret>", id="a token that is known to move"),
        pytest.param("a <secret: changed>", "a <secret: changed>", id="the word that a secret has changed"),
        pytest.param("a <hidden>", "a <hidden>", id="what was hidden before"),
    ],
)
def test_no_token_stays(text: str, shown: str) -> None:
    assert without_tokens(text) == shown


def test_tokens_are_those_of_the_device() -> None:
    line = f"key {secret_token('pa55', KEY)}"
    one, two = (keyed_by_device(line, key_of_device(KEY, device)) for device in ("one", "two"))
    assert len({line, one, two}) == 3
    assert without_tokens(one) == without_tokens(two) == "key <secret>"
    assert keyed_by_device("no key", KEY) == "no key"


SECRETS = {
    "one that the platform knows": "snmp-server community {} RO",
    "one that only another platform knows": "login user bob {}",
    "one in a description": "interface Gi0/1\n description password {}",
    "a key of several lines": "-----BEGIN RSA PRIVATE KEY-----\n{}\n-----END RSA PRIVATE KEY-----",
}


@pytest.mark.parametrize("form", SECRETS.values(), ids=SECRETS)
def test_between_devices_a_right_guess_reads_as_a_wrong_one(form: str) -> None:
    secret, right, wrong = (form.format(word) for word in ("c4nary-7x", "c4nary-7x", "gu3ss-longer-one"))
    forms = SecretForm(key=KEY, between_devices=True)
    of_both = [
        compared(
            [f"hostname a\n{secret}\nend\n", f"hostname b\n{guess}\nend\n"],
            [IOS, IOS],
            ["a", "b"],
            forms,
            readers=REGISTRY.for_readers,
        )
        for guess in (right, wrong)
    ]
    assert of_both[0] == of_both[1]
    assert (of_both[0][1].additions, of_both[0][1].deletions) == (1, 1)
    columns = [
        compared_side_by_side(
            [f"{secret}\nend\n", f"{guess}\nend\n"], [IOS, IOS], forms, readers=REGISTRY.for_readers
        )
        for guess in (right, wrong)
    ]
    assert columns[0] == columns[1]
    assert columns[0][0]


OWN = secret_token("own", KEY)


@pytest.mark.parametrize(
    "words",
    [
        pytest.param((f"snmp-server community {OWN} RO ", ""), id="beside a secret"),
        pytest.param(("snmp-server community <secret:", "> RO ", ""), id="a secret and a number"),
    ],
)
@pytest.mark.parametrize("guess", ["own", "another"])
def test_what_moves_on_one_device_moves_on_the_other_whatever_its_secret(
    words: tuple[str, ...], guess: str
) -> None:
    """The rule was learned on the first."""
    texts = ("snmp-server community own RO 10\n", f"snmp-server community {guess} RO 11\n")
    rule = Rule(place=(), words=words, at=0, of=1)
    forms = SecretForm(key=KEY, between_devices=True)
    identical, found = compared(
        texts, [IOS, IOS], ("a", "b"), forms, readers=REGISTRY.for_readers, rules=[rule]
    )
    assert (identical, found.text) == (True, "")


def test_what_moves_below_a_secret_moves_below_another() -> None:
    texts = [
        f"snmp-server community {secret} RW\n seen {number}\n" for secret, number in (("own", 1), ("x", 2))
    ]
    rule = Rule(place=(f"snmp-server community {OWN} RW",), words=(" seen ", ""), at=0, of=1)
    forms = SecretForm(key=KEY, between_devices=True)
    identical, _ = compared(texts, [IOS, IOS], ("a", "b"), forms, readers=REGISTRY.for_readers, rules=[rule])
    assert identical
