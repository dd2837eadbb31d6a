"""Compares two stored texts line by line, normalised and redacted or as they are."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from netautod.network.configs.texts import diff
from netautod.network.configs.texts.diff import Difference, Lines, Step
from netautod.network.configs.texts.learned_noise import Rule, quiet
from netautod.network.configs.texts.normalise import normalise, secret_token
from netautod.network.configs.texts.side_by_side import SideBySide, side_by_side
from netautod.network.configs.texts.tokens import (
    SecretForm,
    keyed_by_device,
    with_marked_changes,
    without_tokens,
)
from netautod.transport.ssh.encoding import Encoding, encoding_of, readable
from netautod.transport.ssh.platform.line_memory import LineMemory
from netautod.transport.ssh.platform.model import Platform
from netautod.transport.ssh.platform.redact import redact

_MOVES = "\0"  # between the words of a rule


def compared(
    texts: Sequence[str],
    platforms: Sequence[Platform],
    names: Sequence[str],
    secrets: SecretForm | None,
    *,
    readers: Platform,
    rules: Sequence[Rule] = (),
    context: int = diff.CONTEXT,
    clean: LineMemory | None = None,
) -> tuple[bool, Difference]:
    """Return whether the texts say the same, and their diff; without `secrets` the raw texts as they are.

    `readers`: what is shown is redacted as for this platform, whose `clean_lines` may be passed from one
    comparison to the next. `rules`: what is known to move in them.
    """
    old, new = _lines(texts, platforms, secrets, readers, rules, clean)
    found = diff.unified(old, new, old_name=names[0], new_name=names[1], context=context)
    return old.compared == new.compared, found


def compared_side_by_side(
    texts: Sequence[str],
    platforms: Sequence[Platform],
    secrets: SecretForm | None,
    *,
    readers: Platform,
    rules: Sequence[Rule] = (),
    context: int = diff.CONTEXT,
    clean: LineMemory | None = None,
) -> tuple[bool, SideBySide]:
    """Return the same in two columns. Changed words are those of what is shown."""
    old, new = _lines(texts, platforms, secrets, readers, rules, clean)
    return old.compared == new.compared, side_by_side(old, new, context=context)


def _lines(
    texts: Sequence[str],
    platforms: Sequence[Platform],
    secrets: SecretForm | None,
    readers: Platform,
    rules: Sequence[Rule],
    clean: LineMemory | None,
) -> tuple[Lines, Lines]:
    if secrets is None:
        first, second = (_raw_lines(text) for text in texts)
        return first, second
    old, new = (
        _tokened(text, platform, secrets.key, readers, clean)
        for text, platform in zip(texts, platforms, strict=True)
    )
    encodings = [encoding_of(text) for text in texts]
    shown = _shown_by(secrets)
    marked = None
    if not secrets.between_devices and secrets.device_key is None:
        marked = partial(_marked, old, new, encodings[1])
    return (
        _hidden_lines(old, secrets, rules, partial(_readable, shown, encodings[0])),
        _hidden_lines(new, secrets, rules, partial(_readable, shown, encodings[1]), marked),
    )


def _raw_lines(text: str) -> Lines:
    lines = text.removesuffix("\n").split("\n")
    encoding = encoding_of(text)
    return Lines(compared=lines, shown=[readable(line, encoding) for line in lines])


def _tokened(
    text: str, platform: Platform, key: bytes, readers: Platform, clean: LineMemory | None
) -> list[str]:
    """Return the lines with a token for each secret, also for those that only other platforms' rules find."""
    normal = redact(normalise(text, platform, key), readers, clean, partial(_token, key))
    return normal.removesuffix("\n").split("\n")


def _token(key: bytes, secret: str) -> str:
    return secret_token(secret, key)


def _shown_by(secrets: SecretForm) -> Callable[[str], str]:
    if secrets.between_devices or secrets.device_key is None:
        return without_tokens
    return partial(_keyed, secrets.device_key)


def _keyed(device_key: bytes, line: str) -> str:
    return keyed_by_device(line, device_key)


def _readable(shown: Callable[[str], str], encoding: Encoding, line: str) -> str:
    return readable(shown(line), encoding)


def _hidden_lines(
    lines: Sequence[str],
    secrets: SecretForm,
    rules: Sequence[Rule],
    shown: Callable[[str], str],
    marked: Callable[[Step], Sequence[str]] | None = None,
) -> Lines:
    """Compare lines by their tokens, unless a reader could tell from it that devices share a secret.

    Then what is known to move must not depend on a token either: the rules of one are applied to the other.
    """
    if secrets.between_devices:
        settled = quiet([without_tokens(line) for line in lines], [_without_tokens(rule) for rule in rules])
    else:
        settled = quiet(lines, rules)
    return Lines(compared=settled, shown=_ShownLines(lines, shown), marked=marked)


def _without_tokens(rule: Rule) -> Rule:
    """Return the rule for lines without tokens; a piece that moves within a token is one no more."""
    words = without_tokens(_MOVES.join(rule.words)).split(_MOVES)
    return replace(rule, words=tuple(words), place=tuple(map(without_tokens, rule.place)))


def _marked(old: Sequence[str], new: Sequence[str], encoding: Encoding, step: Step) -> Sequence[str]:
    before, after = old[step[0] : step[1]], new[step[2] : step[3]]
    return [readable(line, encoding) for line in with_marked_changes(before, after)]


class _ShownLines:
    """A sequence that makes readable only the lines that a diff shows: of 40,000 usually a few dozen."""

    def __init__(self, lines: Sequence[str], shown: Callable[[str], str]) -> None:
        self._lines = lines
        self._shown = shown

    def __getitem__(self, part: slice) -> Sequence[str]:
        return [self._shown(line) for line in self._lines[part]]
