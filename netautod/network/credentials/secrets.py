"""The sealed fields of a credential: into the vault and out of it."""

from collections.abc import Iterable, Mapping
from typing import Any

from netautod.core.identity.caller import OrgId
from netautod.network.credentials.store import COLLECTION, SEALED_UNDER
from netautod.secrets.vault.vault import Vault


class CredentialSecrets:
    """The sealed secrets of credentials: each value opens only in its own field of its own credential."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault

    async def seal(self, org_id: OrgId, credential_id: str, values: Mapping[str, str]) -> dict[str, Any]:
        """Return sealed values by field name."""
        return {
            field: await self._vault.seal(
                org_id, COLLECTION, credential_id, f"{SEALED_UNDER}.{field}", text.encode()
            )
            for field, text in values.items()
        }

    async def open(
        self, org_id: OrgId, credential_id: str, sealed: Mapping[str, Any], fields: Iterable[str]
    ) -> dict[str, str]:
        """Return the plaintexts of the fields that exist."""
        return {
            field: (
                await self._vault.unseal(
                    org_id, COLLECTION, credential_id, f"{SEALED_UNDER}.{field}", sealed[field]
                )
            ).decode()
            for field in fields
            if field in sealed
        }
