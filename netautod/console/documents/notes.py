"""The vault of the notes: whether it is unlocked, its passphrase, and the notes."""

from collections.abc import Awaitable

from netautod.console.base.forms import FORM
from netautod.console.documents.pages import PATH, DocumentPage
from netautod.core.errors import InvalidInput, Unauthenticated
from netautod.core.pages import Page
from netautod.core.schema.bases import PageQuery
from netautod.documents.access import MANAGE, READ
from netautod.documents.models import NOTES, DocumentFilter
from netautod.documents.notes.schemas import VaultPasswordChangeRequest, VaultPasswordRequest
from netautod.documents.notes.service import NotesVault
from netautod.http.access import requires
from netautod.http.routing.routes import Route

ADMINISTER = "system.manage"
NOTES_PATH = f"{PATH}/notes"


class NotesPage(DocumentPage):
    """The page of the notes, and the base of the actions on their vault.

    Each address of an action shows the page when a browser loads it again.
    """

    notes: NotesVault

    @requires(READ, query=PageQuery)
    async def get(self) -> None:
        """Show whether the notes are unlocked, and the notes by name."""
        await self.notes_page(Page(**self.query))

    async def notes_page(self, page: Page) -> None:
        org_id = self.caller.org_id
        self.show(
            "documents/notes.html",
            title="Notes",
            status=await self.notes.status(org_id),
            listed=await self.documents.page(self.caller, DocumentFilter(category=NOTES), page),
        )

    async def act(self, work: Awaitable[None], notice: str) -> None:
        """Do the work and go back to the notes; a form that is shown again never holds a passphrase."""

        async def done() -> str:
            try:
                await work
            except Unauthenticated as error:  # of the vault: the session is good
                raise InvalidInput(error.text) from error
            self.set_notice(notice)
            return NOTES_PATH

        await self.submit(done(), again=lambda: self.notes_page(Page()))


class UnlockPage(NotesPage):
    @requires(MANAGE, consumes=FORM, grows=False)
    async def post(self) -> None:
        """Unlock the notes of the organization on all nodes."""
        await self.act(self._unlock(), "The notes are unlocked")

    async def _unlock(self) -> None:
        fields = self.form.values(VaultPasswordRequest())
        await self.notes.unlock(self.caller, fields["password"])


class LockPage(NotesPage):
    @requires(MANAGE, consumes=FORM, grows=False)
    async def post(self) -> None:
        """Lock the notes of the organization on all nodes."""
        await self.act(self.notes.lock(self.caller), "The notes are locked")


class FirstPasswordPage(NotesPage):
    @requires(ADMINISTER, consumes=FORM)
    async def post(self) -> None:
        """Set the first passphrase; the notes stay unlocked."""
        await self.act(self._set(), "The passphrase is set")

    async def _set(self) -> None:
        fields = self.form.values(VaultPasswordRequest())
        _require_same(fields["password"], self.form.secret("again"))
        await self.notes.set_password(self.caller, fields["password"])


class ChangePasswordPage(NotesPage):
    @requires(ADMINISTER, consumes=FORM)
    async def post(self) -> None:
        """Change the passphrase; the notes stay as locked or unlocked as they are."""
        await self.act(self._change(), "The passphrase is changed")

    async def _change(self) -> None:
        fields = self.form.values(VaultPasswordChangeRequest())
        _require_same(fields["new_password"], self.form.secret("again"))
        await self.notes.change_password(self.caller, fields["old_password"], fields["new_password"])


def _require_same(passphrase: str, again: str) -> None:
    if passphrase != again:
        raise InvalidInput("again: The two passphrases are not the same")


PAGES = (
    Route(path=NOTES_PATH, handler=NotesPage),
    Route(path=f"{NOTES_PATH}/unlock", handler=UnlockPage),
    Route(path=f"{NOTES_PATH}/lock", handler=LockPage),
    Route(path=f"{NOTES_PATH}/password", handler=FirstPasswordPage),
    Route(path=f"{NOTES_PATH}/password/change", handler=ChangePasswordPage),
)
