"""The patterns of secrets that look like one wherever they stand: tokens, hashes, keys, passwords in URLs,
random words.

Sources: the documentation of GitHub, GitLab, AWS, Slack, Google, Stripe, HashiCorp Vault, npm and PyPI for
the prefixes of their tokens; crypt(5); RFC 7519 (JWT); RFC 7468 (PEM); RFC 3986 3.2.1 (userinfo).
"""

import re
from itertools import pairwise

HIDDEN = "<hidden>"
_TOKEN_LOOK = (
    r"\b(?:"
    r"nat_|nbt_|gh[opsur]_|github_pat_|gl(?:pat|ptt|dt|rt|cbt|ft|soat)-|xox[a-z]-|xapp-|(?:sk|rk|pk)_(?:live|test)_|"
    r"sk-(?!ssh-|ecdsa-)|hv[sbr]\.|npm_|pypi-|dop_v1_|shpat_|AIza|ya29\.|EAAC|SG\.|AGE-SECRET-KEY-|tskey-|dckr_pat_|glsa_"
    r")[\w.=-]{6,}"
    r"|\b(?:AKIA|ASIA)[0-9A-Z]{12,}"
    r"|\beyJ[\w-]{6,}(?:\.[\w-]*){0,2}"
)
_TOKEN = re.compile(_TOKEN_LOOK)
TOKEN_LOOKS = re.compile(rf"(?P<secret>{_TOKEN_LOOK})")
"""The same in the group `secret`."""
_HASH = re.compile(r"\$(?:\d{1,2}[abxy]?|y|gy|sha1|sha256|sha512|argon2\w*|apr1|PBKDF2[\w-]*)\$[^\s\"';]+")
_PEM = re.compile(r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY.*", re.DOTALL)
_WORD = re.compile(r"\S+")
_TOKEN_IN_URL = re.compile(r"(https?://)[^\s/:@]+@")
_BEFORE_PASSWORD = re.compile(r"\b\w+:/{2,3}[^\s/:@\"']*:")
_PAIR = re.compile(r"(?:^|(?<=[=\"']))[\w.\\-]+:(?!/)(?=.)")
_PAIR_ENDS = re.compile(r"[@\"']")
_HOST = re.compile(r"[\w\[]")
_LONG = re.compile(r"[A-Za-z0-9+/_=-]{20,}")
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_CHANGES = 0.3  # of a random word's characters are of another kind than the one before; of a name's few


def without_secret_patterns(text: str) -> str:
    """Return the text with `<hidden>` in the place of what looks like a secret."""
    text = _PEM.sub(HIDDEN, text)
    if "@" in text:
        text = _WORD.sub(lambda match: _without_login(match[0]), text)
    text = _TOKEN.sub(HIDDEN, _HASH.sub(HIDDEN, text))
    return _LONG.sub(_unless_a_name, text)


def _without_login(word: str) -> str:
    """Hide what stands before a host: by steps, since one expression would try each beginning to the end."""
    last = word.rfind("@")  # a password may hold one, and a slash too
    found = _BEFORE_PASSWORD.search(word, 0, max(last, 0))
    if found is not None:
        word = f"{word[: found.end()]}{HIDDEN}{word[last:]}"
    word = _TOKEN_IN_URL.sub(rf"\1{HIDDEN}@", word)
    shown, start = "", 0
    for end in _PAIR_ENDS.finditer(word):
        is_login = end[0] == "@" and _HOST.match(word, end.end()) is not None
        pair = _PAIR.search(word, start, end.start()) if is_login else None
        shown += word[start : end.start()] if pair is None else f"{word[start : pair.end()]}{HIDDEN}"
        shown += end[0]
        start = end.end()
    return shown + word[start:]


def _unless_a_name(match: re.Match[str]) -> str:
    word = match[0]
    kinds = [_kind(character) for character in word if character.isalnum()]
    changes = sum(old != new for old, new in pairwise(kinds))
    random = "digit" in kinds and changes >= _CHANGES * len(kinds)
    return HIDDEN if random and not _UUID.fullmatch(word) and "/" not in word[:2] else word


def _kind(character: str) -> str:
    if character.isdigit():
        return "digit"
    return "upper" if character.isupper() else "lower"
