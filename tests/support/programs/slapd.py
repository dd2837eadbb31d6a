"""OpenLDAP's slapd with a small directory, private to the test, on free ports, with a certificate."""

import asyncio
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.support.programs.started import free_ports, program, started

PROGRAM = program("slapd")
ADD = program("ldapadd")
PASSWORD = "Analytical-Engine-1843"
READER_PASSWORD = "reads the directory"
ADMIN_PASSWORD = "administers the directory"
BASE = "dc=example,dc=net"
ADA = f"cn=Lovelace\\, Ada,ou=people,{BASE}"
GRACE = f"uid=grace,ou=people,{BASE}"
READER = f"cn=reader,{BASE}"

CONFIGURATION = """
include /etc/ldap/schema/core.schema
include /etc/ldap/schema/cosine.schema
include /etc/ldap/schema/nis.schema
include /etc/ldap/schema/inetorgperson.schema
modulepath /usr/lib/ldap
moduleload back_mdb
moduleload memberof
pidfile {folder}/pid
TLSCACertificateFile {authority}
TLSCertificateFile {certificate}
TLSCertificateKeyFile {key}
database mdb
suffix "{base}"
rootdn "cn=admin,{base}"
rootpw "{admin}"
directory {folder}/data
maxsize 10485760
overlay memberof
access to attrs=userPassword by anonymous auth by * none
access to * by dn.exact="{reader}" read by self read by * none
"""

DIRECTORY = f"""
dn: {BASE}
objectClass: dcObject
objectClass: organization
o: Example

dn: ou=people,{BASE}
objectClass: organizationalUnit

dn: ou=groups,{BASE}
objectClass: organizationalUnit

dn: {READER}
objectClass: organizationalRole
objectClass: simpleSecurityObject
userPassword: {READER_PASSWORD}

dn: {ADA}
objectClass: inetOrgPerson
sn: Lovelace
uid: ada
displayName: Ada Lovelace
mail: ada@example.net
userPassword: {PASSWORD}

dn: {GRACE}
objectClass: inetOrgPerson
cn: Grace Hopper
sn: Hopper
userPassword: {PASSWORD}

dn: uid=twin,ou=people,{BASE}
objectClass: inetOrgPerson
cn: First Twin
sn: Twin
userPassword: {PASSWORD}

dn: uid=twin,ou=groups,{BASE}
objectClass: inetOrgPerson
cn: Second Twin
sn: Twin
userPassword: {PASSWORD}

dn: cn=Net Admins,ou=groups,{BASE}
objectClass: groupOfNames
member: {ADA}

dn: cn=operators,ou=groups,{BASE}
objectClass: groupOfUniqueNames
uniqueMember: {ADA}
uniqueMember: {GRACE}

dn: cn=legacy,ou=groups,{BASE}
objectClass: posixGroup
gidNumber: 1000
memberUid: grace
"""


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
    configuration = folder / "slapd.conf"
    configuration.write_text(
        CONFIGURATION.format(
            folder=folder,
            authority=authority,
            certificate=certificate,
            key=key,
            base=BASE,
            admin=ADMIN_PASSWORD,
            reader=READER,
        )
    )
    port, tls_port = free_ports(2)
    made = Slapd(port=port, tls_port=tls_port)
    urls = f"{made.url}/ {made.tls_url}/"
    async with started(PROGRAM, "-d", "0", "-f", str(configuration), "-h", urls):
        await _filled(made)
        yield made


async def _filled(slapd: Slapd) -> None:
    """slapd has no way to say that it is ready: the first try that reaches it fills the directory."""
    assert ADD is not None
    command = (ADD, "-x", "-H", slapd.url, "-D", f"cn=admin,{BASE}", "-w", ADMIN_PASSWORD)
    async with asyncio.timeout(20):
        while True:
            adding = await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=DEVNULL, stderr=PIPE)
            _, problem = await adding.communicate(DIRECTORY.encode())
            if adding.returncode == 0:
                return
            if b"Can't contact" not in problem:
                raise AssertionError(problem.decode())
            await asyncio.sleep(0.05)
