"""The routes of the notes vault."""

from netautod.documents.access import MANAGE
from netautod.documents.notes.schemas import (
    VaultPasswordChangeRequest,
    VaultPasswordRequest,
    VaultStatusAnswer,
)
from netautod.documents.notes.service import NotesVault
from netautod.http.access import any_token, requires
from netautod.http.handler import JsonHandler
from netautod.http.routing.routes import Route

ADMINISTER = "system.manage"


class VaultHandler(JsonHandler):
    notes: NotesVault


class VaultStatusHandler(VaultHandler):
    @any_token(answer=VaultStatusAnswer)
    async def get(self) -> None:
        """Tell whether the notes are unlocked and whether a password is set."""
        self.answer((await self.notes.status(self.caller.org_id)).to_json())


class VaultUnlockHandler(VaultHandler):
    @requires(MANAGE, body=VaultPasswordRequest, status=204, grows=False)
    async def post(self) -> None:
        """Unlock the notes of the organization on all nodes."""
        await self.notes.unlock(self.caller, self.body["password"])
        self.answer_nothing()


class VaultLockHandler(VaultHandler):
    @requires(MANAGE, status=204, grows=False)
    async def post(self) -> None:
        """Lock the notes of the organization on all nodes."""
        await self.notes.lock(self.caller)
        self.answer_nothing()


class VaultPasswordHandler(VaultHandler):
    @requires(ADMINISTER, body=VaultPasswordRequest, status=204, name="set_vault_password")
    async def post(self) -> None:
        """Set the first password; the notes stay unlocked."""
        await self.notes.set_password(self.caller, self.body["password"])
        self.answer_nothing()

    @requires(ADMINISTER, body=VaultPasswordChangeRequest, status=204, name="change_vault_password")
    async def put(self) -> None:
        """Change the password; the notes stay as locked or unlocked as they are."""
        await self.notes.change_password(self.caller, self.body["old_password"], self.body["new_password"])
        self.answer_nothing()


ROUTES = (
    Route(path="/api/vault/status", handler=VaultStatusHandler),
    Route(path="/api/vault/unlock", handler=VaultUnlockHandler),
    Route(path="/api/vault/lock", handler=VaultLockHandler),
    Route(path="/api/vault/password", handler=VaultPasswordHandler),
)
