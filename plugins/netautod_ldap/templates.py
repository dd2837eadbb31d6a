"""Filters and DNs with a name put into them, escaped so that it stays a name."""

import re
from collections.abc import Callable, Mapping

PLACEHOLDER = re.compile(r"\{(username|dn)\}")
IN_FILTER = re.compile(r"[\\*()\x00]")
IN_DN = re.compile(r'[\\",+;<>=#\x00]|^ | $')


def filled_filter(template: str, values: Mapping[str, str]) -> str:
    r"""Fill the filter; its five special characters become `\2a` and so on (RFC 4515 3)."""
    return _filled(template, values, lambda text: IN_FILTER.sub(lambda found: f"\\{ord(found[0]):02x}", text))


def filled_dn(template: str, values: Mapping[str, str]) -> str:
    """Fill the DN; everything special becomes a hexadecimal pair (RFC 4514 2.4)."""
    return _filled(template, values, lambda text: IN_DN.sub(lambda found: f"\\{ord(found[0]):02X}", text))


def _filled(template: str, values: Mapping[str, str], escaped: Callable[[str], str]) -> str:
    # In one pass: a name that looks like a placeholder is not filled again.
    return PLACEHOLDER.sub(lambda found: escaped(values.get(found[1], "")), template)
