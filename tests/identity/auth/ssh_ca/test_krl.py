"""Revocation lists as OpenSSH itself reads them."""

from collections.abc import Iterable
from pathlib import Path

import asyncssh
import pytest

from netautod.identity.auth.ssh_ca.krl import MAGIC, NEAR, SERIAL_BITMAP, SERIAL_LIST, SERIAL_RANGE, encoded
from tests.identity.auth.ssh_ca.ssh_keygen import KEYGEN, listed, ssh_keygen

with_keygen = pytest.mark.skipif(KEYGEN is None, reason="ssh-keygen is not installed")
AUTHORITY, OTHER, KEY = (asyncssh.generate_private_key("ssh-ed25519") for _ in range(3))


@with_keygen
@pytest.mark.parametrize(
    "serials",
    [
        pytest.param([], id="none"),
        pytest.param([1], id="one"),
        pytest.param([1, 2, 3], id="a few in a row"),
        pytest.param(range(5, 900), id="many in a row"),
        pytest.param(range(1, 900, 2), id="every other one"),
        pytest.param([*range(10, 18)], id="a row of a byte"),
        pytest.param([10, 11, 12, 14, 15, 16, 17], id="a bitmap whose highest bit is set"),
        pytest.param([1, 2, 4, 64, 65, 70, 1000, 5000, 5001, 10**12, 2**63 - 1], id="near and far"),
        pytest.param(range(1, 200_000, 3), id="more than one bitmap holds"),
    ],
)
async def test_openssh_reads_the_numbers_that_were_written(tmp_path: Path, serials: Iterable[int]) -> None:
    file = tmp_path / "krl"
    file.write_bytes(encoded({AUTHORITY.public_data: serials}, version=7, generated=1_700_000_000))
    code, text = await ssh_keygen("-Ql", "-f", str(file))
    assert code == 0, text
    assert "# KRL version 7" in text
    expected = set(serials)
    assert set().union(*listed(text).values()) == expected
    if expected:
        assert list(listed(text)) == [AUTHORITY.get_fingerprint("sha256")]


@with_keygen
async def test_a_number_is_revoked_for_its_own_authority_alone(tmp_path: Path) -> None:
    file = tmp_path / "krl"
    content = {AUTHORITY.public_data: [3, 7], OTHER.public_data: [4]}
    file.write_bytes(encoded(content, version=1, generated=1))
    codes = {}
    for name, authority in (("first", AUTHORITY), ("other", OTHER)):
        for serial in (3, 4, 7, 8):
            made = authority.generate_user_certificate(KEY, "id", serial=serial, principals=["ada"])
            certificate = tmp_path / f"{name}-{serial}.pub"
            made.write_certificate(certificate)
            codes[name, serial] = (await ssh_keygen("-Q", "-f", str(file), str(certificate)))[0]
    revoked = {key for key, code in codes.items() if code}
    assert revoked == {("first", 3), ("first", 7), ("other", 4)}


def test_a_list_stays_small() -> None:
    busy = encoded({AUTHORITY.public_data: range(1, 100_000)}, version=1, generated=1)
    mixed = encoded({AUTHORITY.public_data: range(1, 100_000, 2)}, version=1, generated=1)
    assert len(busy) < 600
    assert len(mixed) < 100_000 / 8 + 600


@pytest.mark.parametrize(
    ("serials", "kinds"),
    [
        pytest.param([1, 2, 3], {SERIAL_LIST}, id="a few"),
        pytest.param([1, 2, 3, 4], {SERIAL_RANGE}, id="one more, in a row"),
        pytest.param([1, 2, 3, 5], {SERIAL_BITMAP}, id="one more, with a gap"),
        pytest.param(range(1, 4 * NEAR, NEAR), {SERIAL_BITMAP}, id="just near"),
        pytest.param(range(1, 4 * NEAR + 4, NEAR + 1), {SERIAL_LIST}, id="no longer near"),
        pytest.param([1, 2, 3, 4, 1000], {SERIAL_RANGE, SERIAL_LIST}, id="a row and one far away"),
    ],
)
def test_the_shortest_form_is_taken(serials: Iterable[int], kinds: set[int]) -> None:
    """Read the list by the form that PROTOCOL.krl describes, also without ssh-keygen."""
    content = encoded({AUTHORITY.public_data: serials}, version=1, generated=1)
    rest = content[len(MAGIC) + 28 + 8 + 5 + 4 + len(AUTHORITY.public_data) + 4 :]
    found = set()
    while rest:
        found.add(rest[0])
        rest = rest[5 + int.from_bytes(rest[1:5], "big") :]
    assert found == kinds
