"""How many guesses a password takes: zxcvbn's estimate, with its work bounded. Pure.

zxcvbn itself tries every combination of signs that may stand for letters, which takes seconds for 72 such
signs. Here a letter has one such sign at a time, and a long password is looked at in pieces.
"""

from collections.abc import Iterable
from typing import Final

from zxcvbn import matching, scoring

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
    """Whether it takes the guesses of a zxcvbn score of 2 or more. `words`: what is known of its owner."""
    dictionaries = {
        **matching.RANKED_DICTIONARIES,
        "user_inputs": {word: rank for rank, word in enumerate(words, start=1)},
    }
    guesses = 1
    # A piece that comes again is no more work for who guesses.
    for piece in dict.fromkeys(password[at : at + PIECE] for at in range(0, len(password), PIECE)):
        guesses *= _guesses(piece, dictionaries)
        if guesses >= GUESSES_OF_SCORE_2:
            return True
    return False


def _guesses(piece: str, dictionaries: dict[str, dict[str, int]]) -> int:
    found = [match for matcher in MATCHERS for match in matcher(piece, _ranked_dictionaries=dictionaries)]
    signs = {letter: [max(signs, key=piece.count)] for letter, signs in matching.L33T_TABLE.items()}
    found += matching.l33t_match(piece, dictionaries, signs)
    found.sort(key=lambda match: (match["i"], match["j"]))
    return int(scoring.most_guessable_match_sequence(piece, found)["guesses"])
