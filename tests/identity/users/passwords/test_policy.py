"""The password policy: a corpus of weak and strong passwords, and the cost of a check."""

import itertools
import secrets
import string

import pytest

from netautod.core.errors import InvalidInput
from netautod.identity.users.passwords.common import is_common
from netautod.identity.users.passwords.hashing import PasswordHasher
from netautod.identity.users.passwords.policy import PasswordOwner, PasswordPolicy
from netautod.identity.users.passwords.strength import GUESSES_OF_SCORE_2, is_strong

RIGHT = "correct horse battery staple"
OWNER = PasswordOwner(
    username="jane.doe@example",
    organization="Contoso Networks",
    email="jdoe@contoso.example",
    display_name="Jane Amélie Doe",
)
# Written by hand as people write them: names, common words and keyboard walks with years and signs around.
NAMES = (
    "netautod",
    "contoso",
    "contosonetworks",
    "jane",
    "amelie",
    "jane.doe",
    "jdoe",
    "networks",
    "example",
)
COMMON = ("password", "welcome", "dragon", "letmein", "summer", "monkey", "football", "sunshine", "qwerty")
TAILS = ("2026!", "-2026-", "1234!!", "@123456", "_1990!", "!!2026!!", "#1#2#3")
LEET = (
    *("P@ssw0rd2026!", "p4ssw0rd-1234", "P@$$w0rd!!!!", "W3lc0me2026!", "Dr4g0n-2026!", "N3t4ut0d2026!"),
    *("C0nt0s0-2026!", "$unsh1ne2026", "l3tm31n-2026", "m0nk3y!!2026", "Netaut0d@123", "p@55word12345"),
)
WALKS = (
    *("qwertyuiop123", "1qaz2wsx3edc", "asdfghjkl;'", "zxcvbnm,./12", "qazwsxedcrfv", "1q2w3e4r5t6y"),
    *("123456789012", "987654321098", "abcdefghijkl", "aaaaaaaaaaaa", "abcabcabcabc", "121212121212"),
    *("qwertyqwerty", "passwordpassword", "2026202620262026", "01012000010120000", "a1a1a1a1a1a1a1"),
    *(
        "p" * 63 + "!",
        "ab" * 127 + "cd",
        "ab" * 128,
        "a" * 256,
        "password" * 32,
        "0123456789" * 25,
        "netautod" * 32,
    ),
)
WEAK = sorted(
    {
        *(f"{word.capitalize()}{tail}" for word, tail in itertools.product((*NAMES, *COMMON), TAILS)),
        *(f"{tail}{word}" for word, tail in itertools.product((*NAMES, *COMMON), TAILS)),
        *(f"{name}{word.capitalize()}2026" for name, word in itertools.product(NAMES, COMMON)),
        *(f"{word}-{name}-1" for name, word in itertools.product(NAMES, COMMON)),
        *LEET,
        *WALKS,
    }
)
STRONG = (
    *(
        RIGHT,
        "another long password",
        "zebra quilts",
        "x7 kq mz 2p w",
        "739184620573",
        "administrator of zebras",
    ),
    *("netautod lifts heavy anchors", "jane doe eats purple clouds", "contoso has 9 angry ferrets in it"),
    *(
        "vier grüne Käfer tanzen",
        "четыре зелёных жука",
        "緑の甲虫が四匹踊るよ夜の海",
        "네 마리 초록 딱정벌레가 춤춘다",
    ),
    *("τέσσερα πράσινα σκαθάρια", "أربع خنافس خضراء ترقص", "πρωινό με 3 φίλους!", "e\u0301tude en fa majeur"),
    *(
        "kT9$vLq2#xWz",
        "hunter-sixteen-orbit",
        "3 blind mice ate 41 clocks",
        "Xy8!Xy9?Qw3-Lm",
        "zq" * 20 + RIGHT,
    ),
)


@pytest.fixture
def policy(hasher: PasswordHasher) -> PasswordPolicy:
    return PasswordPolicy(hasher=hasher)


async def refused(policy: PasswordPolicy, password: str) -> bool:
    try:
        await policy.check(password, OWNER)
    except InvalidInput:
        return True
    return False


async def test_hundreds_of_weak_passwords_are_refused(policy: PasswordPolicy) -> None:
    assert len(WEAK) > 300
    assert [password for password in WEAK if not await refused(policy, password)] == []


async def test_strong_passwords_are_taken_whatever_letters_they_are_of(policy: PasswordPolicy) -> None:
    assert [password for password in STRONG if await refused(policy, password)] == []


async def test_random_passwords_are_taken(policy: PasswordPolicy) -> None:
    alphabets = (string.ascii_lowercase, string.ascii_letters + string.digits, string.printable.strip())
    for alphabet in alphabets:
        made = ["".join(secrets.choice(alphabet) for _ in range(14)) for _ in range(50)]
        assert [password for password in made if await refused(policy, password)] == []


@pytest.mark.parametrize(
    ("password", "text"),
    [
        pytest.param("zebra quilt", "at least 12 characters", id="11 characters"),
        pytest.param("", "at least 12 characters", id="empty"),
        pytest.param("zebra quile\u0301", "at least 12", id="12 characters, 11 after NFKC"),
        pytest.param(RIGHT * 9 + "cable", "at most 256 characters", id="257 characters"),
        pytest.param("\ufdfa" * 20, "at most 256 characters", id="20 characters, 360 after NFKC"),
        pytest.param("Jane.Doe@Example", "must not be the username", id="the username in another case"),
        pytest.param("\ud800" * 12, "valid Unicode", id="lone surrogates"),
        pytest.param("1QAZ2wsx3EDC", "common passwords", id="on the list in another case"),
        pytest.param("Password1234!", "common passwords", id="a listed one and five digits and signs"),
        pytest.param("passwordpassword", "common passwords", id="a listed one twice"),
        pytest.param("aaaaaaaaaaaaaaaa", "common passwords", id="one character repeated"),
        pytest.param("Contoso-20260!", "a name or a common password", id="the organization's name"),
        pytest.param(
            "\uff43ontoso-20260!", "a name or a common", id="the organization's name in wide letters"
        ),
        pytest.param("abcabdabcabdabcabd", "too easy to guess", id="a pattern repeated"),
    ],
)
async def test_a_refusal_names_the_field_and_the_reason_and_not_the_password(
    policy: PasswordPolicy, password: str, text: str
) -> None:
    with pytest.raises(InvalidInput, match=text) as caught:
        await policy.check(password, OWNER, field="new_password")
    assert caught.value.text.startswith("new_password: ")
    assert password not in caught.value.text or not password


async def test_256_characters_are_taken_and_compared_whole(policy: PasswordPolicy) -> None:
    await policy.check((RIGHT + " ") * 8 + "x" * 24, OWNER)


async def test_the_minimum_is_configurable(hasher: PasswordHasher) -> None:
    await PasswordPolicy(hasher=hasher, minimum=8).check("zebra qu", OWNER)
    with pytest.raises(InvalidInput, match="at least 20 characters"):
        await PasswordPolicy(hasher=hasher, minimum=20).check("zebra quilts and", OWNER)


def test_the_common_check_is_not_a_strength_meter() -> None:
    assert not is_common("administrator of zebras")
    assert is_common("letmein")


@pytest.mark.parametrize(
    "password", ["qwertyuiop123", "abcabdabcabd", "1qaz2wsx3edc4rfv", "aaaaaaaaaaaaaaa1"]
)
def test_what_scores_below_2_is_not_strong(password: str) -> None:
    from_zxcvbn = pytest.importorskip("zxcvbn").zxcvbn(password)
    assert from_zxcvbn["guesses"] < GUESSES_OF_SCORE_2
    assert not is_strong(password, ())


def test_an_owners_words_stay_out_of_the_estimates_of_others() -> None:
    assert is_strong("kixotlamdufe", ())
    assert not is_strong("kixotlamdufe", ["kixotlamdufe"])
    assert is_strong("kixotlamdufe", ())
