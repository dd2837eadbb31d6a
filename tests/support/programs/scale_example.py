"""The example of three nodes on a replica set of three members, started from its files in config/."""

import asyncio
import json
import os
import re
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pymongo import MongoClient
from pymongo.errors import PyMongoError

from netautod.secrets.vault.root.key_file import CREDENTIAL_NAME
from netautod.store.embedded.program import find_mongod, minimal_environment
from tests.support.manual import page
from tests.support.programs.service import QUICK_LEASES, Service, serving
from tests.support.programs.started import ROOT, free_ports, started
from tests.support.servers.certificates import Authority

CONFIG = ROOT / "config"
MEMBERS = ("db1.example.net:27017", "db2.example.net:27017", "db3.example.net:27017")
START_SECONDS = 90.0
Answer = dict[str, Any]


@dataclass(kw_only=True)
class Example:
    """What the files say, with the places of this test in them. Made by `scale_example`."""

    folder: Path
    authority: Authority
    stack: AsyncExitStack
    ports: list[int] = field(default_factory=lambda: free_ports(3))
    members: dict[int, Process] = field(default_factory=dict)
    nodes: list[Service] = field(default_factory=list)

    def placed(self, name: str, **more: str) -> str:
        """Return a file of config/ with the places of this test in it."""
        return self.moved((CONFIG / name).read_text(), **more)

    def moved(self, text: str, **more: str) -> str:
        """Return a text in which each place of the example that it names is one of the test's."""
        for old, new in {
            **{member: f"127.0.0.1:{port}" for member, port in zip(MEMBERS, self.ports, strict=True)},
            "/etc/netautod/mongodb-ca.pem": str(self.authority.file),
            "/etc/mongodb/ca.pem": str(self.authority.file),
            "/etc/mongodb/keyfile": str(self.folder / "keyfile"),
            "/etc/mongodb/tls.pem": str(self.folder / "tls.pem"),
            **more,
        }.items():
            text = text.replace(old, new)
        return text

    async def start_member(self, port: int) -> None:
        data = self.folder / f"member-{port}"
        data.mkdir(exist_ok=True)
        text = self.placed(
            "scale-mongod.conf",
            **{
                "/var/lib/mongodb": str(data),
                "/var/log/mongodb/mongod.log": f"{data}.log",
                "port: 27017": f"port: {port}",
                "127.0.0.1,db1.example.net": "127.0.0.1",
            },
        )
        assert "example.net" not in text
        file = data.with_suffix(".conf")
        file.write_text(text)
        # Three of them on a machine of the tests; this machine may have no room for sockets in /tmp.
        small = ("--wiredTigerCacheSizeGB", "0.25", "--oplogSize", "64", "--nounixsocket")
        command = (str(find_mongod()), "--config", str(file), *small)
        starting = started(*command, slow_to_leave=True, env=minimal_environment())
        self.members[port] = await self.stack.enter_async_context(starting)
        async with asyncio.timeout(START_SECONDS):
            while await self._hello(port) is None:
                assert self.members[port].returncode is None, f"see {data}.log"
                await asyncio.sleep(0.1)

    async def primary(self) -> int:
        async with asyncio.timeout(START_SECONDS):
            while True:
                for port in self.members:
                    hello = await self._hello(port)
                    if hello is not None and hello["isWritablePrimary"]:
                        return port
                await asyncio.sleep(0.1)

    async def kill_primary(self) -> int:
        port = await self.primary()
        process = self.members.pop(port)
        process.kill()
        await process.wait()
        return port

    async def make_set(self) -> None:
        """Follow the steps of the manual's page, in its words."""
        text = self.moved(page("operate/scale.md"))
        steps = re.findall(r"(rs\.initiate|createUser)\((\{.*?\n\})\)", text, re.DOTALL)
        (_, wanted), (_, root), (_, netautod) = steps
        await self.told(self.ports[0], {"replSetInitiate": json.loads(wanted)})
        await self.told(await self.primary(), create_user(json.loads(root)))
        login = {"username": "root", "password": "ROOT-PASSWORD"}
        await self.told(await self.primary(), create_user(json.loads(netautod)), **login)

    async def told(self, port: int, command: Mapping[str, Any], **login: str) -> Answer:
        """One command on the database `admin` of one member; in a thread, as the driver wants it."""
        return await asyncio.to_thread(self._told, port, command, login)

    def _told(self, port: int, command: Mapping[str, Any], login: Mapping[str, Any]) -> Answer:
        client: MongoClient[Answer] = MongoClient(
            "127.0.0.1",
            port,
            directConnection=True,
            tls=True,
            tlsCAFile=str(self.authority.file),
            serverSelectionTimeoutMS=2000,
            **login,
        )
        with client:
            return client.admin.command(dict(command))

    async def _hello(self, port: int) -> Answer | None:
        with suppress(PyMongoError):
            return await self.told(port, {"hello": 1})
        return None

    async def start_node(self, number: int) -> Service:
        """Its port is a free one: `serving` says so by a flag, which outranks the file."""
        file = self.folder / f"node-{number}.toml"
        places = {"node1.example.net": "127.0.0.1", "192.0.2.10": "127.0.0.1", "port = 9464": "port = 0"}
        places |= {f"{name}.example.net": "localhost" for name in ("netautod", "node2", "node3")}
        file.write_text(self.placed("scale-node.toml", **places))
        variables = dict(line.split("=", 1) for line in self.placed("scale-node.environment").splitlines())
        variables["CREDENTIALS_DIRECTORY"] = str(self.folder / "credentials")
        assert "example.net" not in file.read_text() + str(variables)
        serving_node = serving(
            self.folder / f"data-{number}",
            "--config",
            str(file),
            variables={**variables, **QUICK_LEASES},
        )
        service = await self.stack.enter_async_context(serving_node)
        self.nodes.append(service)
        return service


def create_user(wanted: Mapping[str, Any]) -> Mapping[str, Any]:
    """`db.createUser()` is this command with the name in front."""
    return {"createUser": wanted["user"], **{name: wanted[name] for name in wanted if name != "user"}}


@asynccontextmanager
async def scale_example(folder: Path) -> AsyncIterator[Example]:
    """Three members and three nodes, all of them killed at the end."""
    authority = Authority(folder, "authority")
    certificate, key = authority.server("member")
    (folder / "tls.pem").write_bytes(certificate.read_bytes() + key.read_bytes())
    (folder / "credentials").mkdir()
    for path, content in (
        (folder / "keyfile", os.urandom(48).hex().encode()),
        (folder / "credentials" / CREDENTIAL_NAME, os.urandom(32)),  # as LoadCredential= of the unit puts it
    ):
        path.write_bytes(content)
        path.chmod(0o400)
    async with AsyncExitStack() as stack:
        example = Example(folder=folder, authority=authority, stack=stack)
        await asyncio.gather(*(example.start_member(port) for port in example.ports))
        await example.make_set()
        for number in (1, 2, 3):
            await example.start_node(number)
        yield example
