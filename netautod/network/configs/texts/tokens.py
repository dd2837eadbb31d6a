"""The stand-ins for secrets in normalised texts: what of them is compared, and what a reader is shown.

`normalise` puts a token of the organization in the place of a secret. That token stays inside: two devices
with one password have the same one, so who can type a password on one of them could guess that of the other.
A reader gets one that is keyed by the device, or none.
"""

import hashlib
import hmac
import re
from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from netautod.network.configs.texts.normalise import secret_token
from netautod.network.configs.texts.word_diff import Pair, paired
from netautod.transport.ssh.platform.general_secrets import TOKEN_DIGITS

HIDDEN_SECRET = "<secret>"
CHANGED_SECRET = "<secret: changed>"
_TOKEN = re.compile(rf"<secret:(?P<token>[0-9a-f]{{{TOKEN_DIGITS}}})>")
# Also one in which a piece is known to move: a secret that a device encrypts anew for each read.
_ANY_TOKEN = re.compile(r"<secret:[^<>\s]{1,16}>")


@dataclass(frozen=True, kw_only=True)
class SecretForm:
    """The form of secrets in a diff, of two texts whose tokens `key` makes.

    With `between_devices` all secrets count as equal. Else both texts are of one device, and a changed secret
    is a change: shown as tokens under `device_key`, or without it as `<secret: changed>`.
    """

    key: bytes = field(repr=False)
    device_key: bytes | None = field(default=None, repr=False)
    between_devices: bool = False


def key_of_device(key: bytes, device_id: str) -> bytes:
    """Return the key of the tokens of one device."""
    return hmac.new(key, f"device:{device_id}".encode(), hashlib.sha256).digest()


def keyed_by_device(text: str, device_key: bytes) -> str:
    """Return the normalised text with tokens of the device in the place of those of the organization."""
    if "<secret:" not in text:
        return text
    return _TOKEN.sub(lambda found: secret_token(found["token"], device_key), text)


def without_tokens(text: str) -> str:
    """Return the text with `<secret>` in the place of each token."""
    return _ANY_TOKEN.sub(HIDDEN_SECRET, text) if "<secret:" in text else text


def without_tokens_within(value: Any) -> Any:
    """Return JSON without the tokens in its texts: earlier releases gave those of the organization to agents,
    whose words are stored.
    """
    match value:
        case str():
            return without_tokens(value)
        case Mapping():
            return {name: without_tokens_within(item) for name, item in value.items()}
        case list() | tuple():
            return [without_tokens_within(item) for item in value]
    return value


def with_marked_changes(old: Sequence[str], new: Sequence[str]) -> list[str]:
    """Return the new lines of a replaced block for a reader; a secret that is another one in the old line
    that a line has become of is `<secret: changed>`.
    """
    before, shown = [without_tokens(line) for line in old], [without_tokens(line) for line in new]
    for a, b in _pairs(before, shown):
        if a is not None and b is not None:
            shown[b] = _marked(old[a], new[b])
    return shown


def _pairs(old: Sequence[str], new: Sequence[str]) -> list[Pair]:
    """Return the lines that differ in their secrets alone, in their order, and then those that are alike."""
    places: defaultdict[str, deque[int]] = defaultdict(deque)
    for number, line in enumerate(old):
        places[line].append(number)
    found: list[Pair] = [(places[line].popleft(), b) for b, line in enumerate(new) if places[line]]
    used_a, used_b = {a for a, _ in found}, {b for _, b in found}
    rest_a = [a for a in range(len(old)) if a not in used_a]
    rest_b = [b for b in range(len(new)) if b not in used_b]
    alike = paired([old[a] for a in rest_a], [new[b] for b in rest_b])
    return [
        *found,
        *((rest_a[a], rest_b[b]) for a, b in alike if a is not None and b is not None),
    ]


def _marked(old: str, new: str) -> str:
    before = iter(_TOKEN.findall(old))

    def shown(found: re.Match[str]) -> str:
        return HIDDEN_SECRET if next(before, found["token"]) == found["token"] else CHANGED_SECRET

    return without_tokens(_TOKEN.sub(shown, new))
