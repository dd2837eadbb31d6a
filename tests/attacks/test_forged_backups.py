"""Backups without a passphrase, changed by someone who has the file and everything but the root key."""

import hashlib
import io
import json
import re
import struct
from collections.abc import Callable, Iterator

import bson
import pytest

from netautod.core.errors import NetautodError
from netautod.maintenance.archive.collections import LEFT_OUT
from netautod.maintenance.archive.file.frames import FrameWriter
from netautod.maintenance.archive.file.header import AUTHENTICATED_FORMAT, FORMAT, MAGIC, write_header
from netautod.maintenance.archive.file.keys import ArchiveKeys
from netautod.maintenance.archive.file.reading import checked, records_of
from netautod.maintenance.archive.file.records import Begin, Contents, Documents, End, Record, RecordCodec
from netautod.maintenance.archive.file.sealing import HASH_BYTES, KeyedHashes, Sealing, authentication, key_id
from netautod.maintenance.archive.interrupting import Stop
from netautod.store.migrations.archive_errors import ArchiveError
from netautod.store.raw.documents import Tallying
from tests.maintenance.archive.archive_keys import ROOT, keys
from tests.maintenance.archive.test_file import TAKEN_AT, frames_of, joined

OWN_ROOT = b"the attacker's own key, 32 bytes"
VIEWER, ADMIN = {"_id": "mallory", "role": "viewer"}, {"_id": "mallory", "role": "admin"}


def records(user: dict[str, str], collection: str = "users") -> list[Record]:
    document, tallying = bson.encode(user), Tallying()
    tallying.add([document])
    return [
        Begin(collection=collection),
        Documents(content=document),
        End(tally=tallying.tally),
        Contents(taken_at=TAKEN_AT, collections={collection: tallying.tally}),
    ]


def framed(head: bytes, sealing: Sealing, content: list[Record]) -> bytes:
    file = io.BytesIO()
    frames, codec = FrameWriter(file, sealing), RecordCodec()
    for number, record in enumerate(content, 1):
        frames.write(codec.encoded(record), last=number == len(content))
    return head + file.getvalue()


def backup(
    user: dict[str, str] = VIEWER, archive_keys: ArchiveKeys | None = None, collection: str = "users"
) -> bytes:
    """A backup as the product writes it."""
    file = io.BytesIO()
    _, sealing = write_header(file, archive_keys or keys())
    return framed(file.getvalue(), sealing, records(user, collection))


def head_of(format: int, **found: object) -> tuple[bytes, bytes]:
    """A header with its hash, which needs no key, and the id of the file."""
    content = json.dumps({"id": "a" * 32, "version": "0.1.0", **found}).encode()
    head = MAGIC + struct.pack(">HI", format, len(content)) + content
    file_id = hashlib.sha256(head).digest()
    return head + file_id, file_id


def with_hashes_of_the_earlier_format(genuine: bytes) -> bytes:
    head, file_id = head_of(FORMAT, encryption=None)
    return framed(head, KeyedHashes(file_id), records(ADMIN))


def with_its_header_and_hashes_of_the_earlier_format(genuine: bytes) -> bytes:
    head, _ = frames_of(genuine)
    return framed(head, KeyedHashes(head[-32:]), records(ADMIN))


def called_the_earlier_format(genuine: bytes) -> bytes:
    head, _ = head_of(FORMAT, encryption=None, root_key_id=key_id(ROOT))
    return joined(head, frames_of(genuine)[1])


def under_a_key_of_his_own(genuine: bytes) -> bytes:
    return backup(ADMIN, keys(root=OWN_ROOT))


def under_a_key_of_his_own_by_the_genuine_name(genuine: bytes) -> bytes:
    head, file_id = head_of(AUTHENTICATED_FORMAT, root_key_id=key_id(ROOT))
    return framed(head, authentication(OWN_ROOT, file_id), records(ADMIN))


def under_a_passphrase_of_his_own(genuine: bytes) -> bytes:
    return backup(ADMIN, keys("a passphrase of his own"))


def with_one_document_changed(genuine: bytes) -> bytes:
    head, frames = frames_of(genuine)
    documents = RecordCodec().encoded(records(ADMIN)[1]) + frames[1][2][-HASH_BYTES:]
    return joined(head, [frames[0], (len(documents), 0, documents), *frames[2:]])


def with_users_of_another_backup(genuine: bytes) -> bytes:
    head, frames = frames_of(genuine)
    return joined(head, [frames[0], frames_of(backup(ADMIN))[1][1], *frames[2:]])


def with_all_frames_of_another_backup(genuine: bytes) -> bytes:
    return joined(frames_of(genuine)[0], frames_of(backup(ADMIN))[1])


def with_another_header(genuine: bytes) -> bytes:
    _, frames = frames_of(genuine)
    return joined(head_of(AUTHENTICATED_FORMAT, root_key_id=key_id(ROOT))[0], frames)


def ended_early(genuine: bytes) -> bytes:
    head, frames = frames_of(genuine)
    return joined(head, [*frames[:2], (frames[2][0], 1, frames[2][2])])


def gone_on_behind_its_end(genuine: bytes) -> bytes:
    return genuine + genuine[-40:]


@pytest.mark.parametrize(
    "forge",
    [
        pytest.param(with_hashes_of_the_earlier_format, id="written anew in the earlier format"),
        pytest.param(with_its_header_and_hashes_of_the_earlier_format, id="hashes that need no key"),
        pytest.param(called_the_earlier_format, id="called one of the earlier format"),
        pytest.param(under_a_key_of_his_own, id="under a root key of his own"),
        pytest.param(under_a_key_of_his_own_by_the_genuine_name, id="his key under the name of ours"),
        pytest.param(under_a_passphrase_of_his_own, id="under a passphrase of his own"),
        pytest.param(with_one_document_changed, id="a document changed"),
        pytest.param(with_users_of_another_backup, id="a part of another backup"),
        pytest.param(with_all_frames_of_another_backup, id="everything of another backup"),
        pytest.param(with_another_header, id="another header"),
        pytest.param(ended_early, id="ended early"),
        pytest.param(gone_on_behind_its_end, id="something behind its end"),
    ],
)
def test_a_changed_backup_makes_no_viewer_an_admin(forge: Callable[[bytes], bytes]) -> None:
    genuine = backup()
    assert checked(io.BytesIO(genuine), keys(), Stop()).contents.documents == 1
    with pytest.raises(NetautodError):
        checked(io.BytesIO(forge(genuine)), keys(), Stop())


def test_no_document_of_a_forged_backup_is_handed_out() -> None:
    """What loads a backup reads it once more, and checks each frame before its documents are taken."""
    found: Iterator[Record]
    _, found = records_of(io.BytesIO(with_users_of_another_backup(backup())), keys())
    assert isinstance(next(found), Begin)
    with pytest.raises(ArchiveError):
        next(found)


@pytest.mark.parametrize(
    ("collection", "authenticated", "unauthenticated"),
    [
        *[pytest.param(name, False, False, id=f"of the moment: {name}") for name in LEFT_OUT],
        pytest.param("system.js", False, False, id="of the server"),
        pytest.param("system.views", False, False, id="views of the server"),
        pytest.param("oplog.$main", False, False, id="no name"),
        pytest.param("", False, False, id="no name at all"),
        pytest.param("of_an_older_version", True, False, id="unknown"),
        pytest.param("users", True, True, id="of the product"),
    ],
)
def test_what_a_backup_may_hold(collection: str, authenticated: bool, unauthenticated: bool) -> None:
    head, file_id = head_of(FORMAT, encryption=None)
    earlier = framed(head, KeyedHashes(file_id), records(VIEWER, collection))
    for content, archive_keys, allowed in (
        (backup(collection=collection), keys(), authenticated),
        (earlier, keys(unauthenticated=True), unauthenticated),
    ):
        if allowed:
            checked(io.BytesIO(content), archive_keys, Stop())
            continue
        with pytest.raises(ArchiveError, match=f"holds the collection {re.escape(repr(collection))}"):
            checked(io.BytesIO(content), archive_keys, Stop())
