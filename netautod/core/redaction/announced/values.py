"""Finds the values behind the words that announce secrets: after blanks, `=`, `:`, in JSON, XML, braces."""

import re
from collections.abc import Iterator

from netautod.core.redaction.announced.elements import PUBLIC, STAND_IN, in_element
from netautod.core.redaction.announced.exceptions import (
    free_text,
    is_plain_english,
    names_something,
    says_community,
)
from netautod.core.redaction.announced.kinds import (
    ALGORITHM,
    CIPHER,
    COMMUNITY,
    KEY,
    PRIVATE,
    Kind,
    is_about,
    is_keyword,
    kind_of,
)
from netautod.core.redaction.announced.options import ASSIGNED, DASHED, MOST_OF_OPTIONS, is_option
from netautod.core.redaction.announced.vocabulary import (
    ENGLISH,
    FOLLOWING,
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
_TOKEN = re.compile(
    r'\\{1,3}"(?P<escaped>.*?)(?:\\{1,3}"|$)|"(?P<double>(?:[^"\\]|\\.)*)(?:"|$)|\'(?P<single>[^\']*)\''
    r"|(?P<bare>\S+)"
)
_OPENING = re.compile(r"[\[({]\s*")
_ENDS = re.compile(r"[\s;,})\]>/]*(?:(?:##|/\*|<!--).*)?$")
_TAIL = re.compile(r"[;,})\]\r]+$")
_NUMBER = re.compile(r"\d+")
_TYPE = 3  # digits: `7`, `128`
_HEXADECIMAL_ID = re.compile(r"0x[0-9a-f]{1,4}")
_SHORT_ID = 4  # digits: a longer number alone behind `key` is no id
_OPTION = re.compile(r"\.?[A-Za-z][\w.-]*=[^=\s]")
_ENDS_SENTENCE = frozenset("!#;|{}()[]<>,")
# Announcing words of one line; what stands behind so many is hidden, for each costs some 50 microseconds.
MOST_LOOKS = 500
_MOST_WORDS = 14  # between an announcing word and its value


def announced(line: str) -> Iterator[Span]:
    """Where each announced secret of the line begins and ends, in order."""
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
        if word[0].lower().endswith("communities") and says_community(line, start, sign.end()):
            return
        if kind is ALGORITHM and sign[0] == ":":
            return  # a fingerprint: `SHA256:...`
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
    """Whether another word announces the value, so that the one before is but a mark of the command."""
    following = _WORD.finditer(line, at, at + MOST_OF_OPTIONS)
    return any(kind_of(word[0]) is not None and line[word.end() :].strip() for word in following)


def _behind(line: str, at: int, kind: Kind, *, sign: str) -> Iterator[Span]:
    """The value that begins at `at` or behind the words that may stand before it."""
    opening = _OPENING.match(line, at)
    if opening is not None and (
        opening[0] != opening[0].rstrip() or line[opening.end() : opening.end() + 1] in "\"'"
    ):
        yield from _in_brackets(line, opening.end(), kind, sign)
        return
    typed, first = False, True
    for _ in range(_MOST_WORDS):
        token = _TOKEN.match(line, at)
        if token is None:
            return
        plain = _plain(token)
        last = _ENDS.match(line, token.end()) is not None
        step = _step(line, token, plain, kind, last=last, first=first, sign=sign)
        if step == "value":
            yield _span(line, token, kind, sign, typed=typed)
            return
        if step == "none":
            return
        typed, first = typed or plain not in ("0", "is", "text", "plain", "=", ":"), False
        end = _after_pair(line, token.end(), plain)
        following = _blank_end(line, end)
        if following is None:
            return
        at = following


def _step(
    line: str, token: re.Match[str], plain: str, kind: Kind, *, last: bool, first: bool, sign: str
) -> str:
    """What a word behind an announcing one is: its `value`, one to `skip`, or proof that there is `none`."""
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
        return "value" if not kind.weak and _ends_value(line, token.end()) else "skip"
    if not quoted and not sign and is_keyword(raw) and not _ends_value(line, token.end()):
        return "none"  # it announces the value itself
    if kind.weak and (is_known(plain) or (not quoted and is_keyword(raw))):
        return "skip" if kind is ALGORITHM and first and _is_of_algorithm(plain) else "none"
    return "value"


def _is_of_algorithm(plain: str) -> bool:
    return plain.isdigit() or is_algorithm(plain)


def _is_named_algorithm(plain: str, kind: Kind) -> bool:
    return not kind.weak and kind_of(plain) is ALGORITHM


def _only_uses_key(plain: str, kind: Kind, *, first: bool, sign: str) -> bool:
    """Whether the word shows that a key is named by its number, and not defined."""
    if not kind.ids or sign:
        return False
    return _HEXADECIMAL_ID.fullmatch(plain) is not None if first else plain in OPTIONS_OF_USE


def _ends_value(line: str, at: int) -> bool:
    """Whether the word at `at` can only stand behind a value: `community read-write group x`."""
    begin = _blank_end(line, at)
    following = None if begin is None else _TOKEN.match(line, begin)
    if following is None:
        return False
    plain = _plain(following)
    if plain in ("ro", "rw", "{"):
        return True
    if _ENDS.match(line, following.end()):
        return False
    return plain in FOLLOWING and plain not in QUALIFIERS and plain not in PAIRS


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


def _span(line: str, token: re.Match[str], kind: Kind, sign: str, *, typed: bool) -> Span:
    start, end = token.span()
    for name in ("double", "single", "escaped"):
        if token[name] is not None:
            return start, end
    bare = token[0]
    if sign == "=" and "&" in bare and "?" in line[max(0, start - 512) : start].rpartition(" ")[2]:
        return start, start + bare.index("&")
    tail = _TAIL.search(bare)
    if tail is not None and tail.start() > 0 and not (tail[0] in ("}", ")", "]") and set(bare) & set("{([")):
        end -= len(tail[0])
    if kind.sentence and not typed and sign in ("", ":") and not bare.startswith("$"):
        end = max(end, _end_of_sentence(line, end))
    return start, end


def _end_of_sentence(line: str, at: int) -> int:
    """Where a value in clear text ends, which may be several words."""
    end = at
    while (begin := _blank_end(line, end)) is not None:
        token = _TOKEN.match(line, begin)
        if token is None or token["bare"] is None or token[0][0] in _ENDS_SENTENCE:
            break
        if DASHED.fullmatch(token[0]) is not None:
            break
        plain = _plain(token)
        if (
            plain in FOLLOWING
            or is_keyword(token[0])
            or is_address(plain)
            or ASSIGNED.match(plain) is not None
            or plain.endswith(":")
        ):
            break
        end = token.end()
    return end


def _in_brackets(line: str, at: int, kind: Kind, sign: str) -> Iterator[Span]:
    """Every value of a list; of braces what stands behind the last announcing word, or all."""
    closing = re.compile(r"[\])}]").search(line, at)
    end = len(line) if closing is None else closing.start()
    for token in _TOKEN.finditer(line, at, end):
        plain = _plain(token)
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
        trimmed = _TAIL.search(token[0])
        if trimmed is not None and token["bare"] is not None:
            stop -= len(trimmed[0])
        if stop > start:
            yield start, stop


def _plain(token: re.Match[str]) -> str:
    for name in ("double", "single", "escaped"):
        if token[name] is not None:
            return token[name].strip().lower()
    return token[0].rstrip(";,\r").lower()


def _after_pair(line: str, at: int, plain: str) -> int:
    """The end of the argument, if the word has one and more follows."""
    if plain not in PAIRS:
        return at
    begin = _blank_end(line, at)
    argument = None if begin is None else _TOKEN.match(line, begin)
    if argument is None or _ENDS.match(line, argument.end()) or kind_of(_plain(argument)) is not None:
        return at
    return argument.end()


def _blank_end(line: str, at: int) -> int | None:
    blank = re.compile(r"[\s,]+").match(line, at)
    return None if blank is None else blank.end()
