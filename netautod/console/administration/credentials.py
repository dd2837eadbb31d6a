"""Credentials: what uses them, which logins are suspended, and forms that never show a secret."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from netautod.console.base.forms import FORM
from netautod.console.base.pages import PageHandler
from netautod.core.json.values import to_text
from netautod.core.pages import Page
from netautod.core.registries import Uses
from netautod.core.schema.bases import PageQuery
from netautod.http.access import requires
from netautod.http.routing.routes import Route
from netautod.network.credentials.models import Credential
from netautod.network.credentials.rules import AUTH_PROTOCOLS, PRIV_PROTOCOLS, SEALED, TYPES
from netautod.network.credentials.schemas import CredentialRequest
from netautod.network.credentials.service import CredentialService
from netautod.network.devices.sessions.suspension_list import SuspendedLogin, SuspendedLogins

PATH, PERMISSION = "/credentials", "credentials.manage"


@dataclass(frozen=True, kw_only=True)
class CredentialRow:
    credential: Credential
    uses: Sequence[Uses]
    suspended: Sequence[SuspendedLogin]


class CredentialPage(PageHandler):
    credentials: CredentialService
    suspended: SuspendedLogins

    async def rows(self, credentials: Sequence[Credential]) -> list[CredentialRow]:
        suspended = await self.suspended.of(self.caller, credentials)
        users = self.credentials.references.users
        uses = await asyncio.gather(*(users(self.caller.org_id, one.id) for one in credentials))
        return [
            CredentialRow(credential=one, uses=used, suspended=suspended.get(one.id, ()))
            for one, used in zip(credentials, uses, strict=True)
        ]

    def show_form(self, title: str, credential: Credential | None = None, **values: Any) -> None:
        self.show(
            "administration/credential.html",
            title=title,
            record=credential,
            tag="" if credential is None else to_text(credential.updated_at),
            types=sorted(TYPES),
            auth_protocols=AUTH_PROTOCOLS,
            priv_protocols=PRIV_PROTOCOLS,
            **{"row": None, **values},
        )

    async def form_of(self, credential_id: str) -> None:
        credential = await self.found(credential_id)
        (row,) = await self.rows([credential])
        self.show_form(credential.name, credential, row=row)

    async def found(self, credential_id: str) -> Credential:
        return await self.credentials.get(self.caller.org_id, self.path_id(credential_id, "Credential"))


class CredentialsPage(CredentialPage):
    @requires(PERMISSION, query=PageQuery)
    async def get(self) -> None:
        """Show the credentials by name."""
        listed = await self.credentials.page(self.caller.org_id, Page(**self.query))
        rows = await self.rows(listed.items)
        self.show("administration/credentials.html", title="Credentials", listed=listed, rows=rows)


class NewCredentialPage(CredentialPage):
    @requires(PERMISSION)
    async def get(self) -> None:
        """Show the form of a new credential."""
        self.show_form("New credential")

    @requires(PERMISSION, consumes=FORM)
    async def post(self) -> None:
        """Create a credential."""
        await self.submit(self._make(), self.get_again)

    async def get_again(self) -> None:
        self.show_form("New credential")

    async def _make(self) -> str:
        made = await self.credentials.create(self.caller, self.form.values(CredentialRequest()))
        self.set_notice(f"The credential {made.name} was created.")
        return PATH


class OneCredentialPage(CredentialPage):
    @requires(PERMISSION)
    async def get(self, credential_id: str) -> None:
        """Show one credential and the form to change it."""
        await self.form_of(credential_id)

    @requires(PERMISSION, consumes=FORM)
    async def post(self, credential_id: str) -> None:
        """Change the credential; a secret that is left empty stays."""
        await self.submit(self._change(credential_id), lambda: self.form_of(credential_id))

    async def _change(self, credential_id: str) -> str:
        credential = await self.found(credential_id)
        self.require_unchanged(to_text(credential.updated_at))
        values = changed(credential, self.form.values(CredentialRequest(), partial=True))
        changed_one = await self.credentials.update(self.caller, credential.id, values)
        self.set_notice(f"The credential {changed_one.name} was saved.")
        return f"{PATH}/{credential.id}"


class DeleteCredentialPage(CredentialPage):
    @requires(PERMISSION, consumes=FORM)
    async def post(self, credential_id: str) -> None:
        """Delete the credential unless something uses it."""
        await self.submit(self._delete(credential_id), lambda: self.form_of(credential_id))

    async def _delete(self, credential_id: str) -> str:
        credential = await self.found(credential_id)
        await self.credentials.delete(self.caller, credential.id)
        self.set_notice(f"The credential {credential.name} was deleted.")
        return PATH


def changed(credential: Credential, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values that differ from the record.

    The form does not know the secrets: an empty one keeps what is stored.
    """
    known = {name: getattr(credential, name) for name in values if name not in SEALED}
    known["allowed_hosts"] = list(credential.allowed_hosts)
    return {
        name: value
        for name, value in values.items()
        if (value is not None if name in SEALED else value != known[name])
    }


PAGES = (
    Route(path=PATH, handler=CredentialsPage),
    Route(path=f"{PATH}/new", handler=NewCredentialPage),
    Route(path=f"{PATH}/:id", handler=OneCredentialPage),
    Route(path=f"{PATH}/:id/delete", handler=DeleteCredentialPage),
)
