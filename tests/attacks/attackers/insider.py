"""A running service with users who hold a part of what they are after, and servers that trust it."""

from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import asyncssh

from tests.support.client import ApiClient
from tests.support.execution import eventually
from tests.support.programs.service import Service
from tests.support.programs.sshd import Sshd, running_sshd

WORD, NEW_WORD = "nine lamps over a quiet harbour", "eleven kites above the old mill"
KEY = asyncssh.generate_private_key("ssh-ed25519")
PUBLIC = KEY.export_public_key().decode()
ENDED = ("completed", "failed", "cancelled", "timeout")


@dataclass(frozen=True, kw_only=True)
class Office:
    """`heidi` manages users and nothing else; `folder` is for servers."""

    service: Service
    admin: ApiClient
    heidi: ApiClient
    folder: Path
    numbers: "count[int]"

    def name(self, kind: str = "user") -> str:
        return f"{kind}{next(self.numbers)}"

    async def user(self, maker: ApiClient, *roles: str) -> tuple[str, str]:
        """Id and name of a new user whose password is WORD."""
        name = self.name()
        made = await maker.post("/api/users", {"username": name, "password": WORD, "roles": list(roles)})
        return str(made.expect(201)["id"]), name

    async def certificate(self, name: str, password: str = WORD) -> tuple[ApiClient, dict[str, Any] | None]:
        """What a login with a key brings: the session, and the certificate if there is one."""
        client = await self.service.anonymous()
        body = {"username": name, "password": password, "public_key": PUBLIC}
        answer = await client.post("/api/auth/login", body)
        if answer.status != 200:
            return client, None
        return client.with_token(answer.json["access_token"]), answer.json.get("ssh_certificate")

    async def token(self, owner: ApiClient, *permissions: str, **fields: Any) -> dict[str, Any] | None:
        body = {"name": self.name("token"), "permissions": list(permissions), **fields}
        answer = await owner.post("/api/auth/tokens", body)
        return answer.json if answer.status == 201 else None

    async def lives(self, token: dict[str, Any]) -> bool:
        machine = (await self.service.anonymous()).with_token(token["token"])
        return (await machine.get("/api/auth/me")).status == 200

    async def ran(self, execution_id: str) -> str:
        """The state in which the execution has ended."""

        async def ended() -> Any:
            found = (await self.admin.get(f"/api/tasks/executions/{execution_id}")).expect()
            return found["state"] if found["state"] in ENDED else None

        return str(await eventually(ended, seconds=60))

    async def opens(self, certificate: dict[str, Any], name: str) -> bool:
        """Whether a server that goes by the list of what is revoked, where there is one, lets it in."""
        server_folder = self.folder / self.name("sshd")
        server_folder.mkdir()
        answer = await (await self.service.anonymous()).get("/api/ssh-ca/krl")
        revoked = None
        if answer.status == 200:
            revoked = server_folder / "revoked"
            revoked.write_bytes(answer.content)
        options = "" if revoked is None else f"RevokedKeys {revoked}\n"
        ca = certificate["ca_public_key"]
        async with running_sshd(server_folder, trusted_ca=ca, principals=name, options=options) as server:
            return await admitted(server, certificate["certificate"])


async def admitted(server: Sshd, certificate: str) -> bool:
    try:
        async with asyncssh.connect(
            "127.0.0.1",
            server.port,
            username=server.username,
            client_keys=[(KEY, asyncssh.import_certificate(certificate))],
            known_hosts=None,
            agent_path=None,
            config=None,
            preferred_auth="publickey",
        ):
            return True
    except asyncssh.PermissionDenied:
        return False


async def office(service: Service, folder: Path) -> Office:
    """In a service of others, too: these users reach for nothing that is theirs."""
    admin = await service.client()
    (await admin.post("/api/roles", {"name": "helpdesk", "permissions": ["users.manage"]})).expect(201)
    heidi = {"username": "heidi", "password": WORD, "roles": ["helpdesk"]}
    (await admin.post("/api/users", heidi)).expect(201)
    return Office(
        service=service,
        admin=admin,
        heidi=await service.client("heidi", WORD),
        folder=folder,
        numbers=count(1),
    )
