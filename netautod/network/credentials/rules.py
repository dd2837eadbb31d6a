"""The types of credentials: which fields each needs and takes, what may change, which values fit together."""

import unicodedata
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from netautod.core.errors import InvalidInput

SSH = "ssh"
SNMP = "snmp"
SNMP_PORT = 161
CERTIFIED = "ssh_key"  # the one type that may log in with a certificate
SEALED = ("secret", "passphrase", "enable_secret", "auth_key", "priv_key")
PLAIN = ("username", "port", "auth_protocol", "priv_protocol")
TYPED = (*PLAIN, *SEALED)

# RFC 3414 (MD5, SHA, DES), RFC 3826 (AES128), RFC 7860 (SHA-2); the rest as Net-SNMP and vendors ship it.
AUTH_PROTOCOLS = ("MD5", "SHA", "SHA224", "SHA256", "SHA384", "SHA512")
PRIV_PROTOCOLS = ("DES", "3DES", "AES128", "AES192", "AES256")
SYNONYMS = {"SHA1": "SHA", "AES": "AES128", "TRIPLEDES": "3DES"}
SHORTEST_KEY = 8  # RFC 3414 11.2

# Types whose secret may span lines. All others are typed into a terminal or sent in one protocol field.
MULTI_LINE = ("ssh_key", "generic_secret")


@dataclass(frozen=True, kw_only=True)
class TypeRules:
    """The rules of a type. `kind`: what an organization has at most one default of; None where there are no
    defaults.
    """

    kind: str | None
    needs: frozenset[str]
    takes: frozenset[str] = frozenset()


TYPES: Mapping[str, TypeRules] = {
    "ssh_password": TypeRules(
        kind=SSH, needs=frozenset({"username", "secret"}), takes=frozenset({"enable_secret"})
    ),
    "ssh_key": TypeRules(
        kind=SSH, needs=frozenset({"username", "secret"}), takes=frozenset({"passphrase", "enable_secret"})
    ),
    "snmp_community": TypeRules(kind=SNMP, needs=frozenset({"secret", "port"})),
    "snmp_v3": TypeRules(
        kind=SNMP,
        needs=frozenset({"username", "port"}),
        takes=frozenset({"auth_protocol", "auth_key", "priv_protocol", "priv_key"}),
    ),
    "api_token": TypeRules(kind=None, needs=frozenset({"secret"}), takes=frozenset({"username"})),
    "generic_secret": TypeRules(kind=None, needs=frozenset({"secret"}), takes=frozenset({"username"})),
}


def kind_of(credential_type: str) -> str | None:
    return TYPES[credential_type].kind


def check_values(credential_type: str, values: Mapping[str, Any], *, is_default: bool | None) -> None:
    """Raise InvalidInput that names the field.

    `values` are all typed fields as they will be, a stored secret as anything but None.
    """
    rules = TYPES[credential_type]
    for field in TYPED:
        present = values.get(field) is not None
        if field in rules.needs and not present:
            raise InvalidInput(f"{field}: needed for the type {credential_type}")
        if present and field not in rules.needs | rules.takes:
            raise InvalidInput(f"{field}: not used by the type {credential_type}")
    if is_default and rules.kind is None:
        raise InvalidInput(f"is_default: there is no default of the type {credential_type}")
    for field in ("username", *SEALED):
        if not (field == "secret" and credential_type in MULTI_LINE):
            _check_single_line(field, values.get(field))
    _check_snmp(values)


def check_certificate(credential_type: str, wanted: bool) -> None:
    """Raise InvalidInput for a certificate without a key that it could be made for."""
    if wanted and credential_type != CERTIFIED:
        raise InvalidInput(f"use_certificate: not used by the type {credential_type}")


def check_type_change(old: str, new: str, sent: Collection[str]) -> None:
    """Raise InvalidInput unless the type stays within its kind, so that devices that name it keep what they
    need.
    """
    kind = kind_of(old)
    if kind is None or kind != kind_of(new):
        raise InvalidInput(f"credential_type: cannot change from {old} to {new}; create a new credential")
    missing = sorted(TYPES[new].needs & set(SEALED) - set(sent))
    if missing:
        raise InvalidInput(f"{missing[0]}: has to be sent with a new credential_type")


def kept(old: str, new: str, field: str) -> bool:
    """Return whether a field that is not sent survives the change of type; a secret means something else
    then.
    """
    if old == new or field in ("enable_secret", "username", "port"):
        return field in TYPES[new].needs | TYPES[new].takes
    return False


def protocol(text: str, known: Collection[str]) -> str | None:
    """Return the protocol's name as we write it (`sha-256` is `SHA256`), None for an unknown one."""
    name = text.upper().replace("-", "")
    name = SYNONYMS.get(name, name)
    return name if name in known else None


def _check_single_line(field: str, text: str | None) -> None:
    if any(unicodedata.category(character) in ("Cc", "Zl", "Zp") for character in text or ""):
        raise InvalidInput(f"{field}: line breaks and control characters are not allowed")


def _check_snmp(values: Mapping[str, Any]) -> None:
    for name in ("auth", "priv"):
        protocol_name, key = values.get(f"{name}_protocol"), values.get(f"{name}_key")
        if (protocol_name is None) != (key is None):
            missing = f"{name}_protocol" if protocol_name is None else f"{name}_key"
            raise InvalidInput(f"{missing}: {name}_protocol and {name}_key go together")
        if isinstance(key, str) and len(key) < SHORTEST_KEY:
            raise InvalidInput(f"{name}_key: shorter than {SHORTEST_KEY} characters")
    if values.get("priv_protocol") is not None and values.get("auth_protocol") is None:
        raise InvalidInput("auth_protocol: privacy needs authentication")
