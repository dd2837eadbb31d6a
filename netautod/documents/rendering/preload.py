"""The modules that Python and MarkupSafe import only when a template needs them.

That is too late for a child that can open nothing.
"""

import codecs
import encodings
import importlib
from contextlib import suppress
from pkgutil import iter_modules

# `striptags` unescapes by the first, \N{...} and the error handler `namereplace` look up in the second.
_LATE = ("html", "unicodedata")


def preload() -> None:
    """Import the modules, and every encoding that `encode` and `decode` of a text can name."""
    for name in _LATE:
        importlib.import_module(name)
    for module in iter_modules(encodings.__path__):
        with suppress(LookupError):  # no encoding, or none of this system
            codecs.lookup(module.name)
