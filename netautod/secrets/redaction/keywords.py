"""The words that announce a secret: names of options, variables, settings and keywords of command lines."""

import re

# A device takes a word as soon as no other one begins like it: `ena sec`, `snmp comm`.
_SHORTENED = ("password", "secret", "community", "credential", "token")
_SHORTEST = 3
# Those that are not among the parts, the endings or the beginnings below.
_WHOLE = frozenset(
    [
        "authenticate",
        "authentication",
        "ciphertext",
        "digest",
        "enc",
        "encrypted",
        "hash",
        "identified",
        "keystring",
        "phash",
        "pin",
        "pw",
        "plaintext",
        "simple",
        "wep",
        "wpa",
        "wpa2",
        "otp",
        "private",
        "seed",
        "sessionid",
        "sid",
        "salt",
    ]
)
_PARTS = (
    "pass",
    "pwd",
    "secret",
    "token",
    "credential",
    "community",
    "psk",
    "apikey",
    "cookie",
    "privkey",
    "bearer",
)
_ENDINGS = (
    "key",
    "keys",
    "_pw",
    "-pw",
    "_pin",
    "-pin",
    "_auth",
    "-auth",
    "_cred",
    "_creds",
    "-cred",
    "-creds",
    "cipher",
    "-hash",
)
_BEGINNINGS = ("key-", "key_", "auth-", "auth_", "authorization", "x-auth", "cred")
_HARMLESS_PARTS = re.compile(
    r"pass(?:ive|thr|age|enger|through|es\b|ed\b|ing\b)|(?:by|com|sur|tres)pass|[bm]onkey|turkey|donkey|jockey|"
    r"no-?password|password-encryption"
)
_HARMLESS = frozenset(
    [
        "credits",
        "creds-file",
        "password-control",
        "key-chain",
        "keychain",
        "key-exchange",
        "authorization-type",
        "auth-port",
        "auth-proxy",
        "auth-type",
        "authentication-type",
        "acct-port",
    ]
)
# A keyword that is no announcement before these.
_UNLESS_BEFORE = {
    "key": ("generate", "zeroize", "chain", "exchange"),
    "private": ("vlan", "network", "use"),
    "hash": ("algorithm", "sha", "md5"),
}


def announces(word: str, following: str, first: str) -> bool:
    """Return whether a secret may stand behind the word; `following` is the next word, `first` the line's
    first one.
    """
    word, following = word.lower(), following.lower()
    if (
        following in _UNLESS_BEFORE.get(word, ())
        or word in _HARMLESS
        or (first == "aaa" and word in ("authentication", "authorization"))
    ):
        return False
    plain = _HARMLESS_PARTS.sub("", word)
    shortened = (
        len(word) >= _SHORTEST and word != "com" and any(known.startswith(word) for known in _SHORTENED)
    )
    return (
        shortened
        or word in _WHOLE
        or any(part in plain for part in _PARTS)
        or plain.endswith(_ENDINGS)
        or plain.startswith(_BEGINNINGS)
    )
