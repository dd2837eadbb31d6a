"""The name of the rules by which texts are redacted: another one whenever they may redact another text."""

import hashlib
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

from netautod.transport.ssh.platform.model import Platform

_DIGITS = 16
_GENERAL = "netautod.secrets.redaction"
_OF_PLATFORMS = ("redact.py", "general_secrets.py", "long_secrets.py", "line_memory.py")


def redaction_rules(readers: Platform) -> str:
    """Return the name of the rules of this program for `readers`, the platform that texts are redacted for.

    It is made of the program's own modules, so that no one has to think of it: a changed comment gives
    another name, too, and only costs that stored forms are made anew.
    """
    named = hashlib.sha256(_general_rules())
    for secret in readers.secrets:
        until = None if secret.until is None else (secret.until.pattern, secret.until.flags)
        named.update(repr((secret.pattern.pattern, secret.pattern.flags, until)).encode())
    for visible in readers.visible:
        named.update(repr((visible.pattern, visible.flags)).encode())
    return named.hexdigest()[:_DIGITS]


@cache
def _general_rules() -> bytes:
    content = hashlib.sha256()
    own = files("netautod.transport.ssh.platform")
    for module in (*_modules(files(_GENERAL)), *(own.joinpath(name) for name in _OF_PLATFORMS)):
        content.update(module.read_bytes())
    return content.digest()


def _modules(folder: Traversable) -> Iterator[Traversable]:
    """Yield the modules below the folder, in the order of their names."""
    for entry in sorted(folder.iterdir(), key=lambda one: one.name):
        if entry.is_dir():
            yield from _modules(entry)
        elif entry.name.endswith(".py"):
            yield entry
