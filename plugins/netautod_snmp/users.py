"""Users of SNMPv3 as gufo-snmp wants them."""

from collections.abc import Mapping
from typing import TypeVar

from gufo.snmp import (
    Aes128Key,
    DesKey,
    Md5Key,
    Sha1Key,
    User,
)
from gufo.snmp.user import (
    Aes192Key,
    Aes256Key,
    BaseAuthKey,
    BasePrivKey,
    Sha224Key,
    Sha256Key,
    Sha384Key,
    Sha512Key,
)

from netautod.plugin_api import DeviceFailed, SnmpUser

T = TypeVar("T")
AUTH: dict[str, type[BaseAuthKey]] = {
    "md5": Md5Key,
    "sha": Sha1Key,
    "sha224": Sha224Key,
    "sha256": Sha256Key,
    "sha384": Sha384Key,
    "sha512": Sha512Key,
}
PRIV: dict[str, type[BasePrivKey]] = {
    "des": DesKey,
    "aes": Aes128Key,
    "aes192": Aes192Key,
    "aes256": Aes256Key,
}


def user_of(user: SnmpUser) -> User:
    """Raises DeviceFailed `credential` for a protocol that gufo-snmp does not know."""
    auth = priv = None
    if user.auth_protocol is not None:
        auth = _kind(AUTH, user.auth_protocol)((user.auth_key or "").encode())
    if user.priv_protocol is not None:
        priv = _kind(PRIV, user.priv_protocol)((user.priv_key or "").encode())
    try:
        return User(user.name, auth_key=auth, priv_key=priv)
    except ValueError as exc:
        raise DeviceFailed(f"the SNMP user cannot be used: {exc}", kind="credential") from exc


def _kind(kinds: Mapping[str, T], name: str) -> T:
    try:
        return kinds[name]
    except KeyError as exc:
        text = f"the protocol {name} of the SNMP user is not supported"
        raise DeviceFailed(text, kind="credential") from exc
