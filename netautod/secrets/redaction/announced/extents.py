"""The extent of an announced value: in quotes, in an address, in a list of options, in a sentence."""

import re

from netautod.secrets.redaction.announced.kinds import Kind, is_keyword
from netautod.secrets.redaction.announced.options import ASSIGNED, DASHED
from netautod.secrets.redaction.announced.tokens import TAIL, TOKEN, blank_end, plain_of
from netautod.secrets.redaction.announced.vocabulary import FOLLOWING, is_address

Span = tuple[int, int]
_ENDS_SENTENCE = frozenset("!#;|{}()[]<>,")
# mount.cifs(8): a password with a comma has to be in a file of credentials.
_MOUNT = re.compile(r"\s(?:cifs|smb3)\s")
_NEXT_OPTION = re.compile(r",(?=[a-z_]+(?:=|,|$))")


def extent(line: str, token: re.Match[str], kind: Kind, sign: str, *, typed: bool) -> Span:
    """Return where the value that begins with the token ends; `typed`: its type stands before it."""
    start, end = token.span()
    for name in ("double", "single", "escaped"):
        if token[name] is not None:
            return start, end
    bare = token[0]
    if sign == "=" and "&" in bare and "?" in line[max(0, start - 512) : start].rpartition(" ")[2]:
        return start, start + bare.index("&")
    tail = TAIL.search(bare)
    option = _NEXT_OPTION.search(bare) if sign == "=" and _MOUNT.search(line) is not None else None
    if option is not None:
        return start, start + option.start()
    if tail is not None and tail.start() > 0 and not (tail[0] in ("}", ")", "]") and set(bare) & set("{([")):
        end -= len(tail[0])
    if kind.sentence and not typed and sign in ("", ":") and not bare.startswith("$"):
        end = max(end, _end_of_sentence(line, end))
    return start, end


def _end_of_sentence(line: str, at: int) -> int:
    """Return where a value in clear text ends, which may be several words."""
    end = at
    while (begin := blank_end(line, end)) is not None:
        token = TOKEN.match(line, begin)
        if token is None or token["bare"] is None or token[0][0] in _ENDS_SENTENCE:
            break
        if DASHED.fullmatch(token[0]) is not None:
            break
        plain = plain_of(token)
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
