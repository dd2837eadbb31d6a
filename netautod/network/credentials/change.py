"""The change that a create or an update of a credential makes: a pure step from the sent fields to the stored
ones.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from netautod.network.credentials import rules
from netautod.network.credentials.models import Credential

COMMON = ("name", "description", "credential_type", "allowed_hosts", "use_certificate")
STORED = "(stored)"  # stands for a sealed value that stays; longer than the shortest key


@dataclass(frozen=True, kw_only=True)
class CredentialChange:
    """A change of a credential: `plain` and `secrets` are written, `removed` sealed fields go. `default`:
    None leaves it as it is.
    """

    credential_type: str
    plain: Mapping[str, Any]
    secrets: Mapping[str, str] = field(repr=False)
    removed: tuple[str, ...] = ()
    default: bool | None = None

    @property
    def names(self) -> list[str]:
        """The changed fields, for the audit event."""
        default = [] if self.default is None else ["is_default"]
        return sorted({*self.plain, *self.secrets, *self.removed, *default})

    def certifies(self, before: Credential | None) -> bool:
        """Return whether it decides for which name or key certificates are made."""
        if not self.plain.get("use_certificate", before is not None and before.use_certificate):
            return False
        if before is None or not before.use_certificate or "secret" in self.secrets:
            return True
        return bool(self.plain.get("username", before.username) != before.username)

    @property
    def touches_key(self) -> bool:
        """Return whether a private key has to be checked (again)."""
        changed = {*self.secrets, *self.removed}
        return self.credential_type == "ssh_key" and not changed.isdisjoint({"secret", "passphrase"})


def creation(fields: Mapping[str, Any]) -> CredentialChange:
    """Return the change that creates a credential. Raises InvalidInput unless the fields make a whole one."""
    credential_type = fields["credential_type"]
    values: dict[str, Any] = {name: fields.get(name) for name in rules.TYPED}
    if values["port"] is None and "port" in rules.TYPES[credential_type].needs:
        values["port"] = rules.SNMP_PORT
    rules.check_values(credential_type, values, is_default=fields.get("is_default"))
    certified = fields.get("use_certificate", False)
    rules.check_certificate(credential_type, certified)
    common = {
        "name": fields["name"],
        "description": fields.get("description"),
        "credential_type": credential_type,
        "allowed_hosts": fields.get("allowed_hosts", []),
        "use_certificate": certified,
    }
    return CredentialChange(
        credential_type=credential_type,
        plain={**common, **{name: values[name] for name in rules.PLAIN}},
        secrets={name: values[name] for name in rules.SEALED if values[name] is not None},
        default=fields.get("is_default"),
    )


def update(before: Credential, fields: Mapping[str, Any]) -> CredentialChange:
    """Return the change that updates a credential. Raises InvalidInput unless it is still whole with the sent
    fields.
    """
    old, new = before.credential_type, fields.get("credential_type", before.credential_type)
    if new != old:
        rules.check_type_change(old, new, [name for name in fields if fields[name] is not None])
    held = _held(before, new)
    values = {**held, **{name: fields[name] for name in rules.TYPED if name in fields}}
    rules.check_values(new, values, is_default=fields.get("is_default"))
    plain = {name: fields[name] for name in COMMON if name in fields}
    rules.check_certificate(new, plain.get("use_certificate", False))
    if before.use_certificate and new != rules.CERTIFIED:
        plain["use_certificate"] = False
    for name in rules.PLAIN:
        if name in fields or values[name] != getattr(before, name):
            plain[name] = values[name]
    return CredentialChange(
        credential_type=new,
        plain=plain,
        secrets={name: fields[name] for name in rules.SEALED if fields.get(name) is not None},
        removed=tuple(name for name in rules.SEALED if name in before.stored and values[name] is None),
        default=fields.get("is_default"),
    )


def _held(before: Credential, credential_type: str) -> dict[str, Any]:
    """Return the stored values of the credential, without what a new type cannot keep."""
    plain = {name: getattr(before, name) for name in rules.PLAIN}
    sealed = {name: STORED if name in before.stored else None for name in rules.SEALED}
    return {
        name: value if rules.kept(before.credential_type, credential_type, name) else None
        for name, value in {**plain, **sealed}.items()
    }
