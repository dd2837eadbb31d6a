"""The words that announce a secret and those that only look like it, each in a command of its own."""

import re

from netautod.secrets.redaction.commands import shown_command
from netautod.secrets.redaction.patterns import HIDDEN, without_secret_patterns
from tests.support.tables import over


def words(text: str) -> list[str]:
    return text.split()


ANNOUNCING = words(
    """
    authenticate authentication authorization bearer cipher ciphertext cookie digest enc encrypted
    hash identified key keys keystring passkey phash pin pass psk pw pwd plaintext simple wep wpa
    wpa2 otp private seed sessionid sid salt password passwd passphrase passcode secret community
    credential token pas secr commu creden tok xpassy xpwdy xsecrety xtokeny xcredentialy
    xcommunityy xpsky xapikeyy xcookiey xprivkeyy xbearery xkey xkeys x_pw x-pw x_pin x-pin x_auth
    x-auth x_cred x_creds x-cred x-creds xcipher x-hash key-x key_x auth-x auth_x authorizationx
    x-authy credx
    """
)
HARMLESS = words(
    """
    passive passthrough passage passenger passes passed passing bypass compass surpass trespass
    monkey bonkey turkey donkey jockey no-password nopassword password-encryption credits creds-file
    password-control key-chain keychain key-exchange authorization-type auth-port auth-proxy
    auth-type authentication-type acct-port com se
    """
)
BEFORE = [
    *(f"key {word}" for word in ("generate", "zeroize", "chain", "exchange")),
    *(f"private {word}" for word in ("vlan", "network", "use")),
    "hash algorithm",
    "aaa authentication",
    "aaa authorization",
]
TOKENS = words(
    """
    nat_ nbt_ gho_ ghp_ ghs_ ghu_ ghr_ github_pat_ glpat- glptt- gldt- glrt- glcbt- glft- glsoat-
    xoxb- xapp- sk_live_ sk_test_ rk_live_ pk_test_ sk- hvs. hvb. hvr. npm_ pypi- dop_v1_ shpat_
    AIza ya29. EAAC SG. AGE-SECRET-KEY- tskey- dckr_pat_ glsa_
    """
)
HASHES = words("1 2a 2b 2x 2y 5 6 8 9 14 y gy sha1 sha256 sha512 argon2 argon2id apr1 PBKDF2 PBKDF2-SHA256")


@over("word", ANNOUNCING)
def test_a_word_announces_a_secret(word: str) -> None:
    for written in (word, word.upper()):
        assert shown_command(f"tool {written} zebra end") == f"tool {written} {HIDDEN}"


@over("word", HARMLESS)
def test_a_word_that_announces_none(word: str) -> None:
    assert shown_command(f"tool {word} zebra end") == f"tool {word} zebra end"


@over("phrase", BEFORE)
def test_a_word_that_announces_none_where_it_stands(phrase: str) -> None:
    assert shown_command(f"{phrase} zebra") == f"{phrase} zebra"


@over("prefix", TOKENS)
def test_a_token_is_known_by_its_beginning(prefix: str) -> None:
    for secret in (f"{prefix}zebraz", f"{prefix}zebra-zebra"):
        assert without_secret_patterns(f"x {secret} y") == f"x {HIDDEN} y"
    assert without_secret_patterns(f"x {prefix}zeb y") == f"x {prefix}zeb y"


@over("secret", ["AKIAABCDEFGHIJKL", "ASIAABCDEFGHIJKL", "eyJabcdef", "eyJabcdef.abc.-_"])
def test_a_key_or_a_signed_token_is_known_by_its_form(secret: str) -> None:
    assert without_secret_patterns(f"x {secret} y") == f"x {HIDDEN} y"
    assert without_secret_patterns(f"x {secret[:8]} y") == f"x {secret[:8]} y"


@over("kind", HASHES)
def test_a_hash_is_known_by_its_kind(kind: str) -> None:
    assert without_secret_patterns(f"x ${kind}$salt$zebra y") == f"x {HIDDEN} y"
    assert re.search("zebra", without_secret_patterns("x $1.50 zebra")) is not None
