"""The form of a command in events, logs and errors: without what may be a secret.

It hides too much rather than too little: from the first word that announces a secret to the end of the line.
A command that only reads (`show ...`) announces none.
"""

import re
from itertools import islice, zip_longest

from netautod.secrets.redaction.keywords import announces
from netautod.secrets.redaction.options import secret_places
from netautod.secrets.redaction.patterns import HIDDEN, without_secret_patterns

_READS = re.compile(r"\s*(?:(?:do|run|sudo)\s+)?(?:show|sho|display)(?:\s|$)")
_ENDS = re.compile(r";|&&|\|\|")
_NAME = re.compile(r"[\w-]+")
_PIPED = re.compile(r"\s*(?:echo|printf|yes)\b(?:\s+-[neE]+)*\s+")
_TAKES_PASSWORDS = re.compile(r"\s*(?:sudo\s+)?(?:chpasswd|passwd)\b")
_OPENING = "\"' :=$\\"


def shown_command(command: str) -> str:
    """Return the command with `<hidden>` in the place of what may be a secret."""
    shown = without_secret_patterns(command)
    start = _first_written(shown)
    if start == len(shown):
        return shown
    return shown[:start] + _hidden_rest(shown[start:])


def _first_written(text: str) -> int:
    """Return where the first command begins that does not only read; the length of the text without one."""
    start = 0
    while _READS.match(text, start):
        end = _ENDS.search(text, start)
        if end is None:
            return len(text)
        start = end.end()
    return start


def _hidden_rest(text: str) -> str:
    fed, bar, program = text.partition("|")
    if bar and _TAKES_PASSWORDS.match(program):
        return f"{HIDDEN}{fed[len(fed.rstrip()) :]}|{_hidden_rest(program)}"
    piped = _PIPED.match(fed) if bar else None
    if piped is not None and fed[piped.end() :].strip():
        return f"{text[: piped.end()]}{HIDDEN}{fed[len(fed.rstrip()) :]}|{_hidden_rest(program)}"
    place = min(_places(text), default=len(text))
    rest = text[place:]
    if not rest.strip(_OPENING):
        return text
    opening = rest[: len(rest) - len(rest.lstrip(_OPENING))]
    return f"{text[:place]}{opening}{HIDDEN}"


def _places(text: str) -> list[int]:
    words = list(_NAME.finditer(text))
    first = words[0][0].lower() if words else ""
    last = len(text.rstrip(_OPENING))  # behind it nothing is left to hide
    named = (
        word.end()
        for word, following in zip_longest(words, words[1:])
        if word.end() < last
        and announces(word[0].lstrip("-"), "" if following is None else following[0], first)
    )
    return [*islice(named, 1), *secret_places(text)]
