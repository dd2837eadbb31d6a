"""The number of guesses that a password takes: zxcvbn's estimate, with bounded work. Pure.

zxcvbn itself tries every combination of signs that may stand for letters, which takes seconds for 72 such
signs. Here a letter has one such sign at a time, and a long password is examined in pieces.
"""

import re
from collections.abc import Iterable
from typing import Final

from zxcvbn import matching, scoring

REPEATS: Final = re.compile(r"(.{1,3}?)\1{2,}", re.DOTALL)
LONG_REPEATS: Final = re.compile(r"(.{4,128}?)\1+", re.DOTALL)
PIECE: Final = 32
"""Characters that are estimated at once: 30 ms at most, whatever they are."""
GUESSES_OF_SCORE_2: Final = 10**6 + 5
"""Where zxcvbn's score 2 begins (its `guesses_to_score`)."""

MATCHERS: Final = (
    matching.dictionary_match,
    matching.reverse_dictionary_match,
    matching.spatial_match,
    matching.repeat_match,
    matching.sequence_match,
    matching.regex_match,
    matching.date_match,
)


def is_strong(password: str, words: Iterable[str]) -> bool:
    """Return whether it takes the guesses of a zxcvbn score of 2 or more. `words`: what is known of its
    owner.
    """
    dictionaries = {
        **matching.RANKED_DICTIONARIES,
        "user_inputs": {word: rank for rank, word in enumerate(words, start=1)},
    }
    guesses = 1
    # A repetition is hardly more work for an attacker.
    text = REPEATS.sub(r"\1\1", LONG_REPEATS.sub(r"\1", password))
    for piece in dict.fromkeys(text[at : at + PIECE] for at in range(0, len(text), PIECE)):
        guesses *= _guesses(piece, dictionaries)
        if guesses >= GUESSES_OF_SCORE_2:
            return True
    return False


def _guesses(piece: str, dictionaries: dict[str, dict[str, int]]) -> int:
    found = [match for matcher in MATCHERS for match in matcher(piece, _ranked_dictionaries=dictionaries)]
    for digits_first in (True, False):
        found += matching.l33t_match(piece, dictionaries, _signs(piece, digits_first=digits_first))
    found.sort(key=lambda match: (match["i"], match["j"]))
    return int(scoring.most_guessable_match_sequence(piece, found)["guesses"])


def _signs(piece: str, *, digits_first: bool) -> dict[str, list[str]]:
    """Return for each letter the one sign that may stand for it in this piece."""

    def rank(sign: str) -> tuple[bool, bool]:
        return sign in piece, sign.isdigit() is digits_first

    return {letter: [max(signs, key=rank)] for letter, signs in matching.L33T_TABLE.items()}
