"""The one form in which MAC and IP addresses of discovered data are stored, shown and searched for."""

import re
from ipaddress import ip_address as parsed

# aa:bb:cc:dd:ee:ff, aa-bb-cc-dd-ee-ff, aabb.ccdd.eeff (Cisco), aabb-ccdd-eeff (Huawei, H3C), aabbccddeeff.
MAC_FORM = re.compile(
    r"[0-9a-f]{2}(?P<two>[:-])(?:[0-9a-f]{2}(?P=two)){4}[0-9a-f]{2}"
    r"|[0-9a-f]{4}(?P<four>[.-])[0-9a-f]{4}(?P=four)[0-9a-f]{4}"
    r"|[0-9a-f]{12}"
)


def mac_address(text: str) -> str | None:
    """Return `aa:bb:cc:dd:ee:ff` for any of the forms that devices print; None for anything else."""
    lower = text.strip().lower()
    if not MAC_FORM.fullmatch(lower):
        return None
    digits = re.sub(r"[^0-9a-f]", "", lower)
    return ":".join(digits[start : start + 2] for start in range(0, 12, 2))


def ip_address(text: str) -> str | None:
    """Return the address in its short form; None for anything else, also for one with a zone or a prefix
    length.
    """
    try:
        found = parsed(text.strip())
    except ValueError:
        return None
    return None if "%" in str(found) else str(found)
