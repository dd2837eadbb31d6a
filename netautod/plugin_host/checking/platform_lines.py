"""The lines of mistakes in a platform's file: the errors name the file and the key, this adds the line."""

import re
from pathlib import Path

from netautod.core.errors import InvalidInput
from netautod.plugin_host.loading.failures import one_line

_FILE = re.compile(r"^([\w.-]+\.toml)\b")


def with_line(failure: BaseException, path: Path) -> str:
    """Return the failure in one line; of a platform's file with the line of the key that it names."""
    sentence = one_line(failure)
    if not isinstance(failure, InvalidInput):
        return sentence
    sentence = " ".join(failure.text.split())
    named = _FILE.match(failure.text)
    file = None if named is None else next(iter(sorted(path.rglob(named[1]))), None)
    if named is None or file is None or "line " in sentence:
        return sentence
    line = _line(file.read_text(encoding="utf-8", errors="replace"), failure.text[named.end() :])
    head, colon, rest = sentence.partition(":")
    return sentence if line is None else f"{head}, line {line}{colon}{rest}"


def _line(text: str, complaint: str) -> int | None:
    """Return the first line with a key that the complaint names, quoted ones first; else that of its
    table.
    """
    table, _, sentence = complaint.partition(":")
    names = r"[A-Za-z_]\w+"
    words = [*re.findall(r"'([\w.-]+)'", sentence), *re.findall(names, sentence), *re.findall(names, table)]
    lines = text.splitlines()
    for word in words:
        form = re.compile(
            rf"\s*(?:\[+\s*)?(?:[\w.]+\.)?{re.escape(word)}\s*[\]=]|.*[{{,]\s*{re.escape(word)}\s*="
        )
        for number, line in enumerate(lines, 1):
            if form.match(line):
                return number
    return None
