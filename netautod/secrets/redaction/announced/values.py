"""The search for the values behind the words that announce secrets: after blanks, `=`, `:`, in JSON, XML,
braces.
"""

import re
from collections.abc import Iterator

from netautod.secrets.redaction.announced.elements import PUBLIC, STAND_IN, in_element
from netautod.secrets.redaction.announced.exceptions import (
    free_text,
    is_plain_english,
    names_something,
    says_community,
)
from netautod.secrets.redaction.announced.extents import extent
from netautod.secrets.redaction.announced.kinds import (
    ALGORITHM,
    CIPHER,
    COMMUNITY,
    HASH,
    KEY,
    PRIVATE,
    Kind,
    is_about,
    is_keyword,
    kind_of,
)
from netautod.secrets.redaction.announced.options import MOST_OF_OPTIONS, is_option
from netautod.secrets.redaction.announced.tokens import (
    ENDS,
    TAIL,
    TOKEN,
    after_pair,
    blank_end,
    ends_value,
    plain_of,
)
from netautod.secrets.redaction.announced.vocabulary import (
    ENGLISH,
    OPTIONS_OF_USE,
    PAIRS,
    QUALIFIERS,
    is_address,
    is_algorithm,
    is_known,
)

Span = tuple[int, int]
# No line without any of these has an announced secret.
SUSPECT = re.compile(
    r"(?i)pass|pwd|pw\b|secret|key|communit|psk|token|credential|cipher|hash|digest|crypt|priv|"
    r"md5|sha|hmac|aes|des|"
    r"pin\b|pin[\W_]|otp|cak|sak|pmk|puk|salt|nonce|seed|\benc|plaintext|cleartext|tsig|prv|simple-text|cmac|\bcomm\b|auth"
)
_WORD = re.compile(r"[A-Za-z_][\w-]*")
# `"key": `, `key = `, `"name": "key", "value": `, `name="key" value=`, `name="key">`.
_SEPARATOR = re.compile(
    r"(?i)\\{0,3}[\"']?(?:\[\w*\])?(?:\s{0,4},?\s{0,4}\\{0,3}[\"']?(?:value|content|data|"
    r"val)\\{0,3}[\"']?)?\s*"
    r"(?P<sign>:=|=>|={1,2}|:|(?<=[\"'])>)\s*"
)
_BLANKS = re.compile(r"\\{0,3}(?:[\"'],(?=[\"'])|[\"']?,?[ \t]+)")
_OPENING = re.compile(r"[\[({]\s*")
_NUMBER = re.compile(r"\d+")
_TYPE = 3  # digits: `7`, `128`
_PUBLIC_NAME = "ckn"  # of a key of MACsec; with its argument behind it, there is no secret
_HEXADECIMAL_ID = re.compile(r"0x[0-9a-f]{1,4}")
_SHORT_ID = 4  # digits: a longer number alone behind `key` is no id
_OPTION = re.compile(r"\.?[A-Za-z][\w.-]*=[^=\s]")
# Announcing words of one line; what stands behind so many is hidden, for each costs some 50 microseconds.
MOST_LOOKS = 500
_MOST_WORDS = 14  # between an announcing word and its value


def announced(line: str) -> Iterator[Span]:
    """Yield where each announced secret of the line begins and ends, in order."""
    if SUSPECT.search(line) is None:
        return
    free, done, looked = free_text(line), 0, 0
    for found in _WORD.finditer(line):
        if found.start() < done:
            continue
        kind = kind_of(found[0])
        if kind is None:
            continue
        looked += 1
        if looked > MOST_LOOKS:
            yield found.end(), len(line)
            return
        if names_something(line, found.start(), found.end()):
            continue
        for span in _values(line, found, kind, free=found.start() >= free):
            yield span
            done = max(done, span[1])


def _values(line: str, word: re.Match[str], kind: Kind, *, free: bool) -> Iterator[Span]:
    start, at = word.span()
    before = line[max(0, start - 2) : start]
    if before.endswith(("/", "$")) and not before.endswith("//") and line[at : at + 1] in ("", " ", ">"):
        return  # the end of an element, a path, a variable
    if before.endswith("<"):
        yield from in_element(line, at, kind)
        return
    sign = _SEPARATOR.match(line, at)
    if sign is not None and not (sign["sign"] == ":" and line[at : at + 2] == "::"):
        if word[0].lower() == "credentials" and line.startswith("/", sign.end()):
            return  # the file that holds them
        if word[0].lower().endswith("communities") and says_community(line, start, sign.end()):
            return
        if sign[0] == ":" and (kind is ALGORITHM or (kind is HASH and line.startswith("/", at + 1))):
            return  # a fingerprint: `SHA256:...`, a table of lookups: `hash:/etc/...`
        yield from _behind(line, sign.end(), kind, sign=sign["sign"])
        return
    blanks = _BLANKS.match(line, at)
    if kind is CIPHER and not line[:start].strip() and announces_more(line, at):
        return  # `encrypted radius-server key ...`
    if blanks is None or kind is PRIVATE:
        return
    if before.endswith("=") and _OPTION.match(line, blanks.end()):
        return  # the word is the value of an option, and another option follows
    if free and (kind.weak or kind in (KEY, COMMUNITY) or is_plain_english(line, blanks.end())):
        return
    if kind is COMMUNITY and says_community(line, start, blanks.end()):
        return
    yield from _behind(line, blanks.end(), kind, sign="")


def announces_more(line: str, at: int) -> bool:
    """Return whether another word announces the value, so that the one before is only a mark of the
    command.
    """
    following = _WORD.finditer(line, at, at + MOST_OF_OPTIONS)
    return any(kind_of(word[0]) is not None and line[word.end() :].strip() for word in following)


def _behind(line: str, at: int, kind: Kind, *, sign: str) -> Iterator[Span]:
    """Yield the value that begins at `at` or behind the words that may stand before it."""
    opening = _OPENING.match(line, at)
    if opening is not None and (
        opening[0] != opening[0].rstrip() or line[opening.end() : opening.end() + 1] in "\"'"
    ):
        yield from _in_brackets(line, opening.end(), kind, sign)
        return
    typed, first, behind_type = False, True, False
    for _ in range(_MOST_WORDS):
        token = TOKEN.match(line, at)
        if token is None:
            return
        plain = plain_of(token)
        last = ENDS.match(line, token.end()) is not None
        if behind_type and not STAND_IN.match(token[0]) and (last or not _may_precede(plain)):
            yield extent(line, token, kind, sign, typed=True)  # whatever it is: `password 0 none`
            return
        step = _step(line, token, plain, kind, last=last, first=first, sign=sign)
        if step == "value":
            yield extent(line, token, kind, sign, typed=typed)
            return
        if step == "none":
            return
        behind_type = kind.sentence and not sign and plain.isdigit()
        typed, first = typed or plain not in ("0", "is", "text", "plain", "=", ":"), False
        end = after_pair(line, token.end(), plain)
        following = blank_end(line, end)
        if following is None:
            return
        at = following


def _step(
    line: str, token: re.Match[str], plain: str, kind: Kind, *, last: bool, first: bool, sign: str
) -> str:
    """Classify a word behind an announcing one: its `value`, one to `skip`, or proof that there is `none`."""
    raw = token[0]
    quoted = token["bare"] is None
    if STAND_IN.match(raw) or PUBLIC.match(raw) or not plain or plain in "|\\{}[]();,!-=:>":
        return "none" if not plain or last or STAND_IN.match(raw) or PUBLIC.match(raw) else "skip"
    if (
        first
        and not quoted
        and (plain in kind.harmless or plain in ENGLISH or (not sign and is_about(plain)))
    ):
        return "none"
    if is_option(line, token, weak=kind.weak, first=first) or (
        not quoted and _only_uses_key(plain, kind, first=first, sign=sign)
    ):
        return "none"
    if last:
        return _last(plain, kind, quoted=quoted or bool(sign) or not first)
    if _NUMBER.fullmatch(plain) and not sign and (len(plain) <= _TYPE or (first and kind.ids)):
        return "skip"
    if (not quoted or kind is KEY) and is_address(plain):
        return "skip"
    if not quoted and (plain in QUALIFIERS or plain in PAIRS or _is_named_algorithm(plain, kind)):
        end = after_pair(line, token.end(), plain)
        if plain == _PUBLIC_NAME and end == token.end():
            return "none"
        return "value" if not kind.weak and ends_value(line, end) else "skip"
    if not quoted and not sign and is_keyword(raw) and not ends_value(line, token.end()):
        return "none"  # it announces the value itself
    if kind.weak and (is_known(plain) or (not quoted and is_keyword(raw))):
        return "skip" if kind is ALGORITHM and first and _is_of_algorithm(plain) else "none"
    return "value"


def _may_precede(plain: str) -> bool:
    return plain.isdigit() or plain in QUALIFIERS


def _is_of_algorithm(plain: str) -> bool:
    return plain.isdigit() or is_algorithm(plain)


def _is_named_algorithm(plain: str, kind: Kind) -> bool:
    return not kind.weak and kind_of(plain) is ALGORITHM


def _only_uses_key(plain: str, kind: Kind, *, first: bool, sign: str) -> bool:
    """Return whether the word shows that a key is named by its number, and not defined."""
    if not kind.ids or sign:
        return False
    return _HEXADECIMAL_ID.fullmatch(plain) is not None if first else plain in OPTIONS_OF_USE


def _last(plain: str, kind: Kind, *, quoted: bool) -> str:
    if kind.weak and is_known(plain):
        return "none"
    if kind.alone and not quoted and _NUMBER.fullmatch(plain) and len(plain) <= _SHORT_ID:
        return "none"
    if not quoted and kind_of(plain) is ALGORITHM:
        return "none"  # the value is on the next line, or there is none
    if quoted and plain in (
        "true",
        "false",
        "null",
        "none",
        "yes",
        "no",
        "enabled",
        "disabled",
        "n/a",
        "not",
    ):
        return "none"
    return "value"


def _in_brackets(line: str, at: int, kind: Kind, sign: str) -> Iterator[Span]:
    """Yield every value of a list; of braces what stands behind the last announcing word, or all."""
    closing = re.compile(r"[\])}]").search(line, at)
    end = len(line) if closing is None else closing.start()
    for token in TOKEN.finditer(line, at, end):
        plain = plain_of(token)
        if token[0].endswith(":") or re.match(r"\s*:", line[token.end() : token.end() + 4]):
            if kind_of(plain) is not None:
                return  # an object: its members announce their values themselves
            continue
        if plain in QUALIFIERS or plain in PAIRS or plain in kind.harmless or STAND_IN.match(token[0]):
            continue
        if kind_of(plain) is not None and not sign:
            return
        if kind.weak and is_known(plain):
            continue
        start, stop = token.span()
        trimmed = TAIL.search(token[0])
        if trimmed is not None and token["bare"] is not None:
            stop -= len(trimmed[0])
        if stop > start:
            yield start, stop
