"""Interface names in the vendor's long form."""

from functools import lru_cache

from netutils.interface import canonical_interface_name

MOST_REMEMBERED = 100_000


@lru_cache(maxsize=MOST_REMEMBERED)
def long_name(name: str) -> str:
    """`GigabitEthernet0/1` for `Gi0/1`, `Ethernet1` for `Et1`; another name as it is."""
    return canonical_interface_name(name.strip())
