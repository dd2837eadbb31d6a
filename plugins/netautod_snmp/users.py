"""The users of SNMPv3 in the form that gufo-snmp requires."""

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
    KeyExpansion,
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


def users_of(user: SnmpUser) -> list[User]:
    """Return the forms of this user: two where its key is shorter than the cipher's, as with SHA and AES-256.

    No RFC says how to lengthen it: Cisco and others do it as for 3DES (draft-reeder-snmpv3-usm-3desede-00),
    net-snmp by draft-blumenthal-aes-usm-04.
    """
    auth = priv = None
    if user.auth_protocol is not None:
        auth = named(AUTH, user.auth_protocol)((user.auth_key or "").encode())
    if user.priv_protocol is not None:
        priv = named(PRIV, user.priv_protocol)((user.priv_key or "").encode())
    is_short = auth is not None and priv is not None and priv.KEY_LENGTH > auth.KEY_LENGTH
    ways = (KeyExpansion.Cisco, KeyExpansion.Blumenthal) if is_short else (KeyExpansion.Blumenthal,)
    try:
        return [User(user.name, auth_key=auth, priv_key=priv, key_expansion=way) for way in ways]
    except ValueError as exc:
        raise DeviceFailed(f"the SNMP user cannot be used: {exc}", kind="credential") from exc


def named(kinds: Mapping[str, T], name: str) -> T:
    """Return the protocol of that name. Raises DeviceFailed `credential` for one that is not among them."""
    try:
        return kinds[name]
    except KeyError as exc:
        text = f"the protocol {name} of the SNMP user is not supported"
        raise DeviceFailed(text, kind="credential") from exc
