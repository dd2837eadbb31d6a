"""The versions of a device's configuration, and one of them: its text, notes, parts and secrets."""

from netautod.console.base.forms import FORM
from netautod.console.configs.base import NOTE, READ, SECRETS, ConfigPage
from netautod.console.configs.numbering import NumberedText, numbered
from netautod.console.configs.queries import TextQuery
from netautod.core.loop.pace import in_thread_if_large
from netautod.core.pages import Page
from netautod.core.schema.bases import PageQuery
from netautod.http.access import requires
from netautod.network.configs.exchange.file_names import file_names
from netautod.network.configs.handlers import BYTES, version_number
from netautod.network.configs.schemas import NotesRequest
from netautod.network.devices.models import Device

PLAIN = "text/plain"


class VersionsPage(ConfigPage):
    @requires(READ, query=PageQuery)
    async def get(self, device_id: str) -> None:
        """Show the versions, newest first."""
        device = await self.device_of(device_id)
        listed = await self.configs.page(self.caller.org_id, device.id, Page(**self.query))
        names = await self.names_of(listed.items)
        title = f"Configs of {device.name}"
        self.show("configs/versions.html", title=title, device=device, listed=listed, names=names)


class TextPage(ConfigPage):
    """A page with a text of a version, or of one of its parts."""

    large = True

    async def show_version(
        self, device_id: str, version: str, *, line: int = 1, secrets: bool = False
    ) -> None:
        device, number = await self.device_of(device_id), version_number(version)
        found = await self.configs.read(self.caller, device.id, number, secrets=secrets)
        before, after = await self.configs.beside(self.caller.org_id, device.id, number)
        self.show(
            "configs/version.html",
            title=f"{device.name} version {number}",
            device=device,
            found=found,
            shown=await _numbered(found.text, line),
            names=await self.names_of([found.config]),
            before=before,
            after=after,
            secrets=secrets,
        )

    async def show_part(
        self, device_id: str, version: str, name: str, *, line: int = 1, secrets: bool = False
    ) -> None:
        device, number = await self.device_of(device_id), version_number(version)
        part, text = await self.configs.part(self.caller, device.id, number, name, secrets=secrets)
        self.show(
            "configs/part.html",
            title=f"{part.name} of {device.name}",
            device=device,
            version=number,
            part=part,
            shown=await _numbered(text, line),
            secrets=secrets,
        )

    def send_file(self, content: bytes, kind: str, name: str) -> None:
        self.set_header("Content-Type", kind)
        self.set_header("Content-Disposition", f'attachment; filename="{name}"')
        self.finish(content)


class VersionPage(TextPage):
    @requires(READ, query=TextQuery)
    async def get(self, device_id: str, version: str) -> None:
        """Show a version with its redacted text."""
        await self.show_version(device_id, version, line=self.query["line"])


class RevealPage(TextPage):
    @requires(SECRETS, consumes=FORM, grows=False)
    async def post(self, device_id: str, version: str) -> None:
        """Show the version with its secrets; this is audited."""
        await self.show_version(device_id, version, secrets=True)


class NotesForm(TextPage):
    @requires(NOTE, consumes=FORM)
    async def post(self, device_id: str, version: str) -> None:
        """Set the notes of a version; an empty field clears them."""
        await self.submit(self._save(device_id, version), again=lambda: self.show_version(device_id, version))

    async def _save(self, device_id: str, version: str) -> str:
        wanted, number = self.path_id(device_id, "Device"), version_number(version)
        notes = self.form.values(NotesRequest(), partial=True)["notes"]
        await self.configs.set_notes(self.caller, wanted, number, notes)
        self.set_notice("The notes are saved.")
        return f"/configs/{wanted}/{number}"


class DownloadPage(TextPage):
    @requires(READ, produces=PLAIN)
    async def get(self, device_id: str, version: str) -> None:
        """Send the redacted text of a version as a file."""
        device, number = await self.device_of(device_id), version_number(version)
        found = await self.configs.read(self.caller, device.id, number, secrets=False)
        content = found.text.encode("utf-8", "replace")
        self.send_file(content, f"{PLAIN}; charset=utf-8", f"{_file_name(device, number)}.redacted.txt")


class RawPage(TextPage):
    @requires(SECRETS, consumes=FORM, produces=BYTES, grows=False)
    async def post(self, device_id: str, version: str) -> None:
        """Send the bytes of a version as a file, with its secrets; this is audited."""
        device, number = await self.device_of(device_id), version_number(version)
        content = await self.configs.raw(self.caller, device.id, number)
        self.send_file(content, BYTES, f"{_file_name(device, number)}.cfg")


class PartPage(TextPage):
    @requires(READ, query=TextQuery)
    async def get(self, device_id: str, version: str, name: str) -> None:
        """Show another output of the device that was stored with its configuration, redacted."""
        await self.show_part(device_id, version, name, line=self.query["line"])


class RevealPartPage(TextPage):
    @requires(SECRETS, consumes=FORM, grows=False)
    async def post(self, device_id: str, version: str, name: str) -> None:
        """Show the part with its secrets; this is audited."""
        await self.show_part(device_id, version, name, secrets=True)


async def _numbered(text: str, line: int) -> NumberedText:
    return await in_thread_if_large(len(text), numbered, text, line=line)


def _file_name(device: Device, version: int) -> str:
    return f"{file_names({device.id: device.name})[device.id]}-{version}"
