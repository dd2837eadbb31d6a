"""Options of a command that stand where a secret might: `-encrypted -timeout 900`, `secret add name=x`."""

import re

MOST_OF_OPTIONS = 512  # characters of a line in which its way to write options shows
# No values in Base64, which may begin with a dash (PAN-OS) and end with `==`.
DASHED = re.compile(r"--?[A-Za-z][A-Za-z-]*")
ASSIGNED = re.compile(r"[a-z][a-z0-9.-]*=[^\s=]")


def is_option(line: str, token: re.Match[str], *, weak: bool, first: bool) -> bool:
    """Return whether the word is the next option of the command, as the rest of the line writes its options.

    `weak`: it stands behind a word that may announce no secret; `first`: directly behind it.
    """
    if line[: token.start()].endswith("="):
        return False
    if DASHED.fullmatch(token[0]) is not None:
        return _stands_elsewhere(" -", line, token)
    if ASSIGNED.match(token[0]) is None:
        return False
    return weak or line.startswith("/") or (not first and _stands_elsewhere("=", line, token))


def _stands_elsewhere(sign: str, line: str, token: re.Match[str]) -> bool:
    before = min(token.start(), MOST_OF_OPTIONS)
    return line.find(sign, 0, before) >= 0 or line.find(sign, token.end(), MOST_OF_OPTIONS) >= 0
