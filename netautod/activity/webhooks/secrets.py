"""The secret of a webhook: sealed into the vault and opened from it."""

from collections.abc import Mapping
from typing import Any

from netautod.activity.webhooks.models import Webhook
from netautod.activity.webhooks.store import COLLECTION, SECRET
from netautod.core.identity.caller import OrgId
from netautod.secrets.vault.vault import Vault


class WebhookSecrets:
    def __init__(self, vault: Vault) -> None:
        self._vault = vault

    async def seal(self, org_id: OrgId, webhook_id: str, secret: str | None) -> Mapping[str, Any] | None:
        if secret is None:
            return None
        return await self._vault.seal(org_id, COLLECTION, webhook_id, SECRET, secret.encode())

    async def open(self, webhook: Webhook) -> str | None:
        """Open the secret; None if the webhook has none. Raises VaultError."""
        if webhook.sealed_secret is None:
            return None
        opened = await self._vault.unseal(
            webhook.org_id, COLLECTION, webhook.id, SECRET, webhook.sealed_secret
        )
        return opened.decode()
