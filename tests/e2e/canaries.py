"""Devices of all platforms whose texts carry secrets, and what of them somebody has said.

A few devices are read over SSH, with their parts; of each platform two versions are imported. Their
secrets are those of the fixtures and of the lines by platform that redaction is held to (tests/data).
"""

import os
import re
import subprocess
from collections.abc import Iterable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from netautod.core.identity.permissions import KNOWN_PERMISSIONS
from netautod.testing import SimulatedDevice
from netautod.transport.ssh.platform.model import Platform
from netautod.transport.ssh.platform.registry import PlatformRegistry
from tests.e2e.console import CONFIGS, Console
from tests.support.client import ApiClient
from tests.support.platform_fixtures import PlatformFixture, load, names, show
from tests.support.programs.in_process import Commands
from tests.support.programs.service import Service

READ = ("cisco_ios", "huawei_vrp", "juniper_junos")
LINES = Path(__file__).parents[1] / "data" / "redaction" / "by_platform.txt"
MARKED = re.compile("«(.*?)»")
IN_PARTS, IN_COMMANDS, IN_REFUSALS = "c4nary-of-a-part", "c4nary-of-a-command", "c4nary-of-a-refusal"
PART = f"Model: X1\nadmin password {IN_PARTS}\nsnmp-server community {IN_PARTS} ro\nSerial: Y2\n"
REFUSAL = f"% Invalid input: snmp-server community {IN_REFUSALS} ro\n"
# Shorter ones stand in other words by chance.
LETTERS = 6
PASSWORD = "pa55word-of-a-reader"
UNUSED = ("z9x8w7v6", "u5t4s3r2")
PATTERN = 900  # characters of a pattern; the service takes 1,000


@dataclass(frozen=True, kw_only=True)
class Planted:
    """`switch` is None for a device whose versions are imported."""

    name: str
    device_id: str
    platform: Platform
    switch: SimulatedDevice | None = None


@dataclass(frozen=True, kw_only=True)
class Texts:
    """Of one platform: two versions, and the secrets in them."""

    fixture: PlatformFixture
    lines: str
    secrets: tuple[str, ...]

    @classmethod
    def of(cls, name: str) -> "Texts":
        found = re.search(rf"(?ms)^## {name}$\n(.*?)(?=^## |\Z)", LINES.read_text(encoding="utf-8"))
        fixture, lines = load(name), "" if found is None else found[1]
        shown = MARKED.sub(r"\1", lines)
        secrets = [
            # Not those that are no secret elsewhere: a public key may have the letters of a private one.
            *(secret for secret in MARKED.findall(lines) if secret not in MARKED.sub("", lines)),
            *(secret for secret in fixture.secrets if secret in fixture.changed),
        ]
        return cls(
            fixture=fixture, lines=shown, secrets=tuple(secret for secret in secrets if is_one(secret))
        )

    @property
    def versions(self) -> tuple[str, str]:
        return self.fixture.first, self.fixture.changed + self.lines


def is_one(secret: str) -> bool:
    """Whether it can be told from other words."""
    return len(secret) >= LETTERS and re.search(r"\d|\W", secret) is not None


@dataclass(frozen=True, kw_only=True)
class Canaries:
    texts: dict[str, Texts]
    secrets: set[str]
    found: re.Pattern[str]

    @classmethod
    def of_all(cls) -> "Canaries":
        """Without those that stand in the texts of another platform, too: there they may be other words."""
        texts = {name: Texts.of(name) for name in names()}
        whole = {name: "\n".join(of_one.versions) for name, of_one in texts.items()}
        secrets = {
            secret
            for name, of_one in texts.items()
            for secret in of_one.secrets
            if not any(secret in text for other, text in whole.items() if other != name)
        }
        found = sorted({*secrets, IN_PARTS, IN_COMMANDS, IN_REFUSALS}, key=len, reverse=True)
        return cls(texts=texts, secrets=secrets, found=re.compile("|".join(map(re.escape, found))))

    def in_(self, said: Iterable[str]) -> dict[str, str]:
        """Those that stand in a text, as it is or within JSON, each with what stands around it."""
        text = "\n".join(set(said)).replace('\\"', '"').replace("\\\\", "\\")
        return {hit[0]: text[max(0, hit.start() - 60) : hit.end() + 20] for hit in self.found.finditer(text)}

    async def planted(
        self, stack: AsyncExitStack, console: Console, commands: Commands, folder: Path
    ) -> list[Planted]:
        registry = PlatformRegistry()
        read = [await self._read(stack, console, registry.get(name)) for name in READ]
        rows = [{"name": imported(name), "host": "127.0.0.1", "device_type": name} for name in self.texts]
        assert (await console.client.post("/api/devices/import/json", rows)).expect()["imported"] == len(rows)
        self._history(folder)
        done = await commands("import-configs", str(folder), "--data-dir", str(folder.parent / "data"))
        assert done.out.startswith(f"{2 * len(rows)} versions of {len(rows)} devices"), done
        ids = {
            item["name"]: item["id"]
            for item in (await console.read("/api/devices/browse?limit=1000"))["items"]
        }
        return [
            *read,
            *(
                Planted(name=name, device_id=ids[imported(name)], platform=registry.get(name))
                for name in self.texts
            ),
        ]

    async def _read(self, stack: AsyncExitStack, console: Console, platform: Platform) -> Planted:
        fixture = self.texts[platform.name].fixture
        switch = await stack.enter_async_context(fixture.device(platform, hostname=host(platform.name)))
        login = {"username": switch.username, "secret": switch.password}
        credential = await console.credential(platform.name, **login, enable_secret=switch.enable_password)
        fields = {"device_type": platform.name, "default_credential_id": credential, "site": "planted"}
        device_id = await console.device(switch.hostname, switch.port, **fields)
        planted = Planted(name=platform.name, device_id=device_id, platform=platform, switch=switch)
        self.show(planted, version=1)
        return planted

    def show(self, planted: Planted, *, version: int) -> None:
        """Lets a device that is read have this version, and its parts."""
        assert planted.switch is not None
        fixture = self.texts[planted.name].fixture
        show(planted.switch, planted.platform, (fixture.first, fixture.changed)[version - 1])
        for part in planted.platform.parts:
            text = fixture.first if part.difference else PART
            planted.switch.responses.setdefault(part.command, text)

    def _history(self, folder: Path) -> None:
        """A git repository with both versions."""
        git(folder.parent, "init", "-q", folder.name)
        for number in (0, 1):
            for name in self.texts:
                (folder / imported(name)).write_text(self.texts[name].versions[number], encoding="utf-8")
            git(folder, "add", "-A")
            git(folder, "commit", "-q", "-m", "update")


def host(platform: str) -> str:
    return f"{platform.replace('_', '-')}1"


def imported(platform: str) -> str:
    return f"imported-{host(platform)}"


def git(folder: Path, *arguments: str) -> None:
    someone = ("-c", "user.name=x", "-c", "user.email=x@example.net", "-c", "commit.gpgsign=false")
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    subprocess.run(["git", *someone, *arguments], cwd=folder, check=True, env=kept)


async def refusing(stack: AsyncExitStack, console: Console) -> Planted:
    """A device that quotes a line with a secret where it says no."""
    platform = PlatformRegistry().get("cisco_ios")
    switch = await stack.enter_async_context(load("cisco_ios").device(platform, hostname="refusing1"))
    switch.responses = {item.command: REFUSAL for item in platform.capture if item.command is not None}
    login = {"username": switch.username, "secret": switch.password}
    credential = await console.credential("refusing", **login, enable_secret=switch.enable_password)
    device_id = await console.device(
        switch.hostname, switch.port, default_credential_id=credential, site="refusing"
    )
    return Planted(name="refusing", device_id=device_id, platform=platform, switch=switch)


async def reader_of(console: Console, service: Service) -> ApiClient:
    """Somebody who may do everything but see secrets."""
    held = [*(key for key in KNOWN_PERMISSIONS if key != "credentials.manage"), "reports.read"]
    await console.add("/api/roles", name="reader", permissions=held)
    await console.add("/api/users", username="reader", password=PASSWORD, roles=["reader"])
    return await service.client("reader", PASSWORD)


def versions_of(planted: Planted) -> list[str]:
    return [f"{CONFIGS}/{planted.device_id}/configs/{version}" for version in (1, 2)]


def queries(canaries: Canaries, shown: list[str]) -> list[tuple[str, int]]:
    """Each beginning of some secrets, behind the words that announce them as well, and all of the secrets."""
    folded = [line.casefold() for line in shown]
    found = []
    samples = [sorted(canaries.texts[name].secrets)[0] for name in READ]
    for begin in dict.fromkeys(
        word[:size] for word in (*samples, IN_PARTS, *UNUSED) for size in (1, 2, 3, 5, 8)
    ):
        found.append((f"q={quote(begin, safe='')}", sum(begin.casefold() in line for line in folded)))
        pattern = f'(community|password|secret|key|ENC) "?{re.escape(begin)}'
        found.append(
            (f"regex={quote(pattern, safe='')}", sum(re.search(pattern, line) is not None for line in shown))
        )
    whole = ""
    for secret in (*sorted(map(re.escape, canaries.secrets)), None):
        if secret is None or len(whole) + len(secret) > PATTERN:
            if whole:
                found.append((f"regex={quote(whole, safe='')}", 0))
            whole = ""
        if secret is not None and len(secret) <= PATTERN:
            whole = f"{whole}|{secret}" if whole else secret
    return found
