"""The routes of credentials."""

from netautod.core.pages import Page
from netautod.core.schema.bases import PageQuery
from netautod.http.access import Repeat, requires
from netautod.http.handler import JsonHandler
from netautod.http.routing.routes import Route
from netautod.network.credentials.models import Credential
from netautod.network.credentials.schemas import CredentialAnswer, CredentialRequest, CredentialsAnswer
from netautod.network.credentials.service import CredentialService


class CredentialsHandler(JsonHandler):
    credentials: CredentialService

    @requires("credentials.manage", query=PageQuery, answer=CredentialsAnswer)
    async def get(self) -> None:
        """List the credentials by name, without any secret."""
        found = await self.credentials.page(self.caller.org_id, Page(**self.query))
        self.answer(found.to_json("credentials", Credential.to_json))

    @requires(
        "credentials.manage", body=CredentialRequest, answer=CredentialAnswer, status=201, repeat=Repeat.AGAIN
    )
    async def post(self) -> None:
        """Create a credential."""
        self.answer((await self.credentials.create(self.caller, self.body)).to_json())


class OneCredentialHandler(JsonHandler):
    credentials: CredentialService

    @requires("credentials.manage", answer=CredentialAnswer)
    async def get(self, credential_id: str) -> None:
        """Read a credential, without any secret."""
        found = await self.credentials.get(self.caller.org_id, self.path_id(credential_id, "Credential"))
        self.answer(found.to_json())

    @requires("credentials.manage", body=CredentialRequest, partial=True, answer=CredentialAnswer)
    async def put(self, credential_id: str) -> None:
        """Change a credential; a secret that is not sent stays."""
        wanted = self.path_id(credential_id, "Credential")
        self.answer((await self.credentials.update(self.caller, wanted, self.body)).to_json())

    @requires("credentials.manage", status=204)
    async def delete(self, credential_id: str) -> None:
        """Delete a credential that nothing refers to."""
        await self.credentials.delete(self.caller, self.path_id(credential_id, "Credential"))
        self.answer_nothing()


ROUTES = (
    Route(path="/api/credentials", handler=CredentialsHandler),
    Route(path="/api/credentials/:id", handler=OneCredentialHandler),
)
