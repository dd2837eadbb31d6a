"""OpenLDAP's slapd with a small directory, private to the test, on free ports, with a certificate."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.support.programs.service import run
from tests.support.programs.started import ROOT, free_ports, program, started

DATA = ROOT / "tests" / "data" / "slapd"
PROGRAM = program("slapd")
ADD = program("ldapadd")
MODIFY = program("ldapmodify")
PASSWORD = "Analytical-Engine-1843"
READER_PASSWORD = "reads the directory"
ADMIN_PASSWORD = "administers the directory"
BASE = "dc=example,dc=net"
ADA = f"cn=Lovelace\\, Ada,ou=people,{BASE}"
GRACE = f"uid=grace,ou=people,{BASE}"
READER = f"cn=reader,{BASE}"
BLIND = f"cn=blind,{BASE}"  # sees everything but the people

# What stands in braces in the files of DATA.
NAMES = {
    "base": BASE,
    "ada": ADA,
    "grace": GRACE,
    "reader": READER,
    "blind": BLIND,
    "password": PASSWORD,
    "reader_password": READER_PASSWORD,
    "admin_password": ADMIN_PASSWORD,
}


@dataclass(frozen=True, kw_only=True)
class Slapd:
    port: int
    tls_port: int

    @property
    def url(self) -> str:
        return f"ldap://127.0.0.1:{self.port}"

    @property
    def tls_url(self) -> str:
        return f"ldaps://127.0.0.1:{self.tls_port}"


@asynccontextmanager
async def running_slapd(folder: Path, authority: Path, certificate: Path, key: Path) -> AsyncIterator[Slapd]:
    """Needs PROGRAM and ADD; `folder` is an empty one of its own."""
    assert PROGRAM is not None
    (folder / "data").mkdir()
    files = {"folder": folder, "authority": authority, "certificate": certificate, "key": key}
    configuration = folder / "slapd.conf"
    configuration.write_text((DATA / "slapd.conf").read_text().format(**NAMES, **files))
    port, tls_port = free_ports(2)
    made = Slapd(port=port, tls_port=tls_port)
    urls = f"{made.url}/ {made.tls_url}/"
    async with started(PROGRAM, "-d", "0", "-f", str(configuration), "-h", urls):
        await _filled(made, (DATA / "directory.ldif").read_text().format(**NAMES))
        yield made


async def changed(slapd: Slapd, *changes: str, lenient: bool = False) -> None:
    """Changes as an administrator makes them, each in LDIF (RFC 2849); `lenient`: those that can be made."""
    assert MODIFY is not None
    arguments = (
        *(("-c",) if lenient else ()),
        "-x",
        "-H",
        slapd.url,
        "-D",
        f"cn=admin,{BASE}",
        "-w",
        ADMIN_PASSWORD,
    )
    done = await run(*arguments, command=(MODIFY,), given="\n\n".join(changes) + "\n")
    assert done.code == 0 or lenient, done.err


async def _filled(slapd: Slapd, directory: str) -> None:
    """slapd has no way to say that it is ready: the first try that reaches it fills the directory."""
    assert ADD is not None
    arguments = ("-x", "-H", slapd.url, "-D", f"cn=admin,{BASE}", "-w", ADMIN_PASSWORD)
    async with asyncio.timeout(20):
        while (adding := await run(*arguments, command=(ADD,), given=directory)).code != 0:
            assert "Can't contact" in adding.err, adding.err
            await asyncio.sleep(0.05)
