"""The commands that are allowed on a platform without known commands: `show` with plain words."""

import re
from collections.abc import Sequence

from netautod.transport.ssh.read_only.arguments import UNSAFE
from netautod.transport.ssh.read_only.words import Refused

_WORD = re.compile(r"[A-Za-z0-9./:_-]+")
# Words that load a device for minutes, wait for ever, name a place elsewhere, or ask for a secret.
_NEVER = re.compile(
    r"no-?more|more|less|tech.*|.*(?:key|secret|passw|passphrase|credential|token|private|psk).*"
    r"|communit(?:y|ies)"
    r"|.*:/.*|.*\.\..*|-.*|/.*"
)


def full_words(words: Sequence[str]) -> list[str]:
    """Return the command with `show` in full; Refused for anything else."""
    if len(words) < 2 or len(words[0]) < 2 or not "show".startswith(words[0].lower()):
        raise Refused("on a platform whose commands are not known only `show` with plain words is allowed")
    for word in words[1:]:
        low = word.lower()
        if not _WORD.fullmatch(word) or UNSAFE.fullmatch(low) or _NEVER.fullmatch(low):
            raise Refused(f"{word!r} is not allowed behind `show` on a platform whose commands are not known")
    return ["show", *words[1:]]
