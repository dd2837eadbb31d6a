"""How audit events and logs may show the text of a command: without its secret.

`shown_command` rather hides too much than too little: everything after a word such as `secret` or
`password`, in the short forms that devices accept too. What a command reads (`show ...`) names no secret.
"""

import re
from itertools import zip_longest

HIDDEN = "<hidden>"
_READS = ("show", "sho", "display")
_WORDS = ("password", "passwd", "passphrase", "secret", "community", "psk", "token", "key")
_SHORTEST = 3  # `sec`, `pas`: devices accept a word as soon as no other one begins like it
_ENDINGS = (*_WORDS[:-1], "-key", "_key")
_KEY_COMMANDS = frozenset({"generate", "zeroize", "chain"})
_NAME = re.compile(r"[\w-]+")
_PLACES = (
    # snmp-server user NAME GROUP v3 auth sha SECRET priv aes 128 SECRET
    re.compile(r"(?i)(\b(?:auth|priv)\s+(?:md5|sha[\w-]*|3?des|aes)\s+)(.+)"),
    re.compile(r"(?i)(\bsnmp-server\s+host\s+\S+\s+)(.+)"),
    re.compile(r"(?i)(\b(?:standby|vrrp|glbp)\b.*\bauthentication\s+)(.+)"),
    re.compile(r"^()(.+?)(?=\s*\|\s*(?:sudo\s+)?(?:chpasswd|passwd)\b)"),
)
_IN_URL = re.compile(r"(\w+://[^\s/:@]*:)[^\s@]+@")
_HASH = re.compile(r"\$(?:1|2[abxy]|5|6|8|9|14|y|sha1|sha512)\$[^\s\"';]+")


def shown_command(command: str) -> str:
    """The command with `<hidden>` in the place of what may be a secret."""
    shown = _HASH.sub(HIDDEN, _IN_URL.sub(rf"\1{HIDDEN}@", command))
    if shown.split(" ", 1)[0].lower() in _READS:
        return shown
    for pattern in _PLACES:
        shown = pattern.sub(rf"\g<1>{HIDDEN}", shown)
    words = list(_NAME.finditer(shown))
    for word, following in zip_longest(words, words[1:]):
        rest = shown[word.end() :]
        if rest.strip("\"' ") and _names_a_secret(word[0], "" if following is None else following[0]):
            between = rest[: len(rest) - len(rest.lstrip("\"' :="))] or " "
            return shown[: word.end()] + between + HIDDEN
    return shown


def _names_a_secret(word: str, following: str) -> bool:
    word = word.lower()
    if word == "key" and following.lower() in _KEY_COMMANDS:
        return False
    short = len(word) >= _SHORTEST and any(known.startswith(word) for known in _WORDS)
    return short or word.endswith(_ENDINGS)
