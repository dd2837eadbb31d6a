"""The file of a backup: what was written is read, and nothing else is."""

import io
import itertools
import json
import struct
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, partial
from typing import BinaryIO

import bson
import pytest
import zstandard

from netautod import __version__
from netautod.core.errors import InvalidInput
from netautod.maintenance.archive.file import header, sealing
from netautod.maintenance.archive.file.frames import MOST_BYTES, FrameWriter
from netautod.maintenance.archive.file.header import MAGIC, Header, write_header
from netautod.maintenance.archive.file.keys import ArchiveKeys
from netautod.maintenance.archive.file.reading import CheckedArchive, checked
from netautod.maintenance.archive.file.records import Begin, Contents, Documents, End, Record, RecordCodec
from netautod.maintenance.archive.interrupting import Stop
from netautod.secrets.vault.passphrase import passphrase_key
from netautod.store.migrations.archive_errors import ArchiveError, DamagedError
from netautod.store.raw.documents import Tally, Tallying
from tests.maintenance.archive.archive_keys import ROOT, earlier_header, keys

PASSPHRASE = "correct horse battery staple"
TAKEN_AT = datetime(2026, 11, 25, 18, 0, tzinfo=UTC)
CONTENT = {
    "snapshots": [],
    "sites": [{"_id": f"s{number}", "name": "bonn"} for number in range(3)],
    "users": [{"_id": "u"}],
}
HEAD = struct.Struct(">IB")
Frame = tuple[int, int, bytes]


@dataclass(frozen=True, kw_only=True)
class Kind:
    keys: ArchiveKeys
    write_header: Callable[[BinaryIO, ArchiveKeys], tuple[Header, sealing.Sealing]] = write_header


PLAIN = Kind(keys=keys())
ENCRYPTED = Kind(keys=keys(PASSPHRASE))
EARLIER = Kind(keys=keys(unauthenticated=True), write_header=earlier_header)
every_kind = pytest.mark.parametrize(
    "kind",
    [
        pytest.param(PLAIN, id="plain"),
        pytest.param(ENCRYPTED, id="encrypted"),
        pytest.param(EARLIER, id="plain, of an earlier version"),
    ],
)


@pytest.fixture(autouse=True)
def derived_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of some hundred bytes is read some hundred times."""
    monkeypatch.setattr(sealing, "passphrase_key", cache(passphrase_key))


def records(content: dict[str, list[dict[str, str]]] = CONTENT) -> Iterator[Record]:
    found: dict[str, Tally] = {}
    for name, documents in content.items():
        tallying = Tallying()
        yield Begin(collection=name)
        for document in documents:
            encoded = bson.encode(document)
            tallying.add([encoded])
            yield Documents(content=encoded)
        found[name] = tallying.tally
        yield End(tally=tallying.tally)
    yield Contents(taken_at=TAKEN_AT, collections=found)


def written(kind: Kind, content: Iterable[Record] | None = None) -> bytes:
    file, codec = io.BytesIO(), RecordCodec()
    _, sealed_by = kind.write_header(file, kind.keys)
    frames = FrameWriter(file, sealed_by)
    whole = list(records() if content is None else content)
    for number, record in enumerate(whole, 1):
        frames.write(codec.encoded(record), last=number == len(whole))
    return file.getvalue()


def read(content: bytes, kind: Kind) -> CheckedArchive:
    return checked(io.BytesIO(content), kind.keys, Stop())


def frames_of(content: bytes) -> tuple[bytes, list[Frame]]:
    """The head of the file, and its frames: length, mark of the last one, sealed content."""
    (length,) = struct.unpack(">I", content[len(MAGIC) + 2 :][:4])
    begin = len(MAGIC) + 6 + length + 32
    head, frames = content[:begin], []
    while begin < len(content):
        size, last = HEAD.unpack_from(content, begin)
        frames.append((size, last, content[begin + HEAD.size :][:size]))
        begin += HEAD.size + size
    return head, frames


def joined(head: bytes, frames: Iterable[Frame]) -> bytes:
    return head + b"".join(HEAD.pack(size, last) + sealed for size, last, sealed in frames)


@every_kind
def test_what_was_written_is_read(kind: Kind) -> None:
    found = read(written(kind), kind)
    assert found.header.version == __version__
    assert found.contents.taken_at == TAKEN_AT
    assert {name: tally.documents for name, tally in found.contents.collections.items()} == {
        "snapshots": 0,
        "sites": 3,
        "users": 1,
    }


@every_kind
def test_a_file_that_is_cut_off_anywhere_is_refused(kind: Kind) -> None:
    content = written(kind)
    for length in range(len(content)):
        with pytest.raises(DamagedError):
            read(content[:length], kind)


@every_kind
def test_a_file_with_one_changed_byte_is_refused(kind: Kind) -> None:
    content = written(kind)
    for position in range(len(content)):
        changed = bytearray(content)
        changed[position] ^= 0x10
        with pytest.raises(ArchiveError):
            read(bytes(changed), kind)


REARRANGED: dict[str, Callable[[list[Frame], list[Frame]], list[Frame]]] = {
    "two frames in each other's place": lambda own, _: [own[0], own[2], own[1], *own[3:]],
    "a frame left out": lambda own, _: [*own[:3], *own[4:]],
    "a frame twice": lambda own, _: [*own[:3], own[2], *own[3:]],
    "the first frame of another file": lambda own, other: [other[0], *own[1:]],
    "the last frame of another file": lambda own, other: [*own[:-1], other[-1]],
    "another frame called the last": lambda own, _: [*own[:3], (own[3][0], 1, own[3][2])],
    "the last frame not called so": lambda own, _: [*own[:-1], (own[-1][0], 0, own[-1][2]), own[-1]],
    "the last frame twice": lambda own, _: [*own, own[-1]],
    "no frames": lambda own, _: [],
}


@every_kind
@pytest.mark.parametrize("name", REARRANGED)
def test_frames_that_are_not_in_their_place_are_refused(kind: Kind, name: str) -> None:
    head, own = frames_of(written(kind))
    _, other = frames_of(written(kind))
    assert joined(head, own) == joined(*frames_of(joined(head, own)))
    with pytest.raises(DamagedError):
        read(joined(head, REARRANGED[name](own, other)), kind)


def changed(change: Callable[[list[Record]], list[Record]]) -> bytes:
    return written(PLAIN, change(list(records())))


WRONG_RECORDS: dict[str, Callable[[list[Record]], list[Record]]] = {
    "a document lost": lambda all: [one for at, one in enumerate(all) if at != 3],
    "a document twice": lambda all: [*all[:4], all[3], *all[4:]],
    "a collection lost": lambda all: [*all[:2], *all[7:]],
    "a collection twice": lambda all: [*all[:2], *all[:2], *all[2:]],
    "a collection in a collection": lambda all: [all[0], *all[2:]],
    "documents of no collection": lambda all: [*all[:2], *all[3:]],
    "an end without a beginning": lambda all: [*all[:2], all[1], *all[2:]],
    "no contents": lambda all: all[:-1],
    "something behind the contents": lambda all: [*all, all[0]],
    "nothing": lambda all: [all[0]],
}


@pytest.mark.parametrize("name", WRONG_RECORDS)
def test_records_that_do_not_add_up_are_refused(name: str) -> None:
    with pytest.raises(DamagedError):
        read(changed(WRONG_RECORDS[name]), PLAIN)


OTHER_ROOT = bytes(32)


@pytest.mark.parametrize(
    ("kind", "given", "error", "text"),
    [
        pytest.param(
            ENCRYPTED, keys("incorrect horse battery"), InvalidInput, "not the one of this backup", id="wrong"
        ),
        pytest.param(ENCRYPTED, keys(), InvalidInput, "is encrypted", id="missing"),
        pytest.param(
            PLAIN,
            keys(PASSPHRASE),
            InvalidInput,
            "is not encrypted",
            id="needless: somebody may have exchanged the file",
        ),
        pytest.param(
            PLAIN,
            keys(root=OTHER_ROOT),
            ArchiveError,
            "the.key is not the one of this backup .nothing was written.: .* of another installation",
            id="the root key of another installation",
        ),
        pytest.param(
            PLAIN,
            keys(root=None),
            ArchiveError,
            "root key of this backup is missing .nothing was written.: put it at PLACE",
            id="no root key",
        ),
        pytest.param(
            EARLIER,
            keys(),
            InvalidInput,
            "was changed by someone: .* --unauthenticated",
            id="unauthenticated",
        ),
        pytest.param(
            EARLIER,
            keys(PASSPHRASE, unauthenticated=True),
            InvalidInput,
            "is not encrypted",
            id="a passphrase for an unauthenticated one",
        ),
        pytest.param(
            PLAIN,
            keys(unauthenticated=True),
            InvalidInput,
            "is authenticated: leave --unauthenticated out",
            id="vouched for without need",
        ),
        pytest.param(
            ENCRYPTED,
            keys(PASSPHRASE, unauthenticated=True),
            InvalidInput,
            "is authenticated: leave --unauthenticated out",
            id="vouched for without need, encrypted",
        ),
    ],
)
def test_keys_that_do_not_fit_are_told(
    kind: Kind, given: ArchiveKeys, error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        checked(io.BytesIO(written(kind)), given, Stop())


def test_nothing_of_an_encrypted_backup_can_be_read() -> None:
    plain, encrypted = written(PLAIN), written(ENCRYPTED)
    assert b"sites" in plain
    for word in (b"sites", b"users", b"bonn", b"documents", PASSPHRASE.encode()):
        assert word not in encrypted
    assert written(ENCRYPTED)[-200:] != encrypted[-200:]


@pytest.mark.parametrize(
    ("version", "refused"),
    [
        pytest.param("0.0.9", False, id="older"),
        pytest.param(__version__, False, id="the same"),
        pytest.param(f"{__version__}.dev3", False, id="on the way to this one"),
        pytest.param(f"{__version__}.1", True, id="a patch newer"),
        pytest.param("10.0", True, id="much newer"),
    ],
)
def test_a_backup_of_a_newer_version_is_refused(
    version: str, refused: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as changing:
        changing.setattr(header, "__version__", version)
        content = written(PLAIN)
    if not refused:
        assert read(content, PLAIN).header.version == version
        return
    with pytest.raises(ArchiveError, match=f"made by netautod {version}, which is newer"):
        read(content, PLAIN)


def test_a_newer_format_is_refused_whatever_its_header_is_like() -> None:
    with pytest.raises(ArchiveError, match=r"has format 3, and netautod .* reads up to 2"):
        read(MAGIC + struct.pack(">HI", 3, 9) + b"\0whatever", PLAIN)


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"\x1f\x8b\x08 an archive of mongodump", id="something else"),
        pytest.param(MAGIC[:9], id="a part of the first word"),
    ],
)
def test_what_is_no_backup_is_called_so(content: bytes) -> None:
    with pytest.raises(DamagedError, match="no backup of netautod"):
        read(content, PLAIN)


HOSTILE_LOCKS: dict[str, dict[str, object]] = {
    "a terabyte of memory": {"memory_kib": 1 << 30},
    "years of passes": {"passes": 1 << 30},
    "an unknown function": {"kdf": "argon3"},
    "no salt": {"salt": None},
}


@pytest.mark.parametrize("name", HOSTILE_LOCKS)
def test_a_header_cannot_make_its_reader_work(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made = sealing.PassphraseLock.to_json

    def hostile(lock: sealing.PassphraseLock) -> dict[str, object]:
        return {**made(lock), **HOSTILE_LOCKS[name]}

    with monkeypatch.context() as changing:
        changing.setattr(sealing.PassphraseLock, "to_json", hostile)
        content = written(ENCRYPTED)
    monkeypatch.setattr(sealing, "passphrase_key", lambda *_, **__: pytest.fail("it was derived"))
    with pytest.raises(DamagedError):
        read(content, ENCRYPTED)


BOMBS = {
    "a size of 1 TiB in 4 bytes": b"\x28\xb5\x2f\xfd\xe0" + (1 << 40).to_bytes(8, "little"),
    "64 MiB of zeros": zstandard.ZstdCompressor().compress(bytes(64 << 20)),
    "no size": zstandard.ZstdCompressor(write_content_size=False).compress(bson.encode({})),
    "no documents": zstandard.ZstdCompressor().compress(b"\x04\0\0\0"),
    "half a document": zstandard.ZstdCompressor().compress(bson.encode({"a": 1})[:-1]),
    "not compressed": bson.encode({"a": 1}),
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_frame_takes_no_more_memory_than_a_frame_may(name: str) -> None:
    file = io.BytesIO()
    _, sealed_by = write_header(file, keys())
    frames, codec = FrameWriter(file, sealed_by), RecordCodec()
    frames.write(codec.encoded(Begin(collection="sites")))
    frames.write(b"D" + BOMBS[name])
    with pytest.raises(DamagedError):
        read(file.getvalue(), PLAIN)


def test_a_frame_is_not_read_beyond_its_bound() -> None:
    head, _ = frames_of(written(PLAIN))
    with pytest.raises(DamagedError, match="is damaged"):
        read(head + HEAD.pack(MOST_BYTES + 1, 0), PLAIN)


def test_files_of_one_passphrase_have_keys_of_their_own() -> None:
    heads = [json.loads(frames_of(written(ENCRYPTED))[0][len(MAGIC) + 6 : -32]) for _ in range(2)]
    salts = [head["encryption"]["salt"] for head in heads]
    assert len({*salts}) == len({head["id"] for head in heads}) == 2


def test_the_order_of_documents_does_not_matter_to_their_tally() -> None:
    documents = [bson.encode({"_id": number}) for number in range(4)]
    tallies = set()
    for order in itertools.permutations(documents):
        tallying = Tallying()
        tallying.add(order)
        tallies.add(tallying.tally)
    assert len(tallies) == 1
    other = Tallying()
    other.add([*documents[:3], bson.encode({"_id": 4})])
    assert other.tally not in tallies


@pytest.mark.parametrize(
    "made",
    [
        pytest.param(partial(sealing.authentication, ROOT), id="plain"),
        pytest.param(sealing.KeyedHashes, id="plain, of an earlier version"),
        pytest.param(lambda file_id: sealing.Encryption(bytes(32), file_id), id="encrypted"),
    ],
)
def test_a_frame_opens_in_its_own_place_alone(made: Callable[[bytes], sealing.Sealing]) -> None:
    own, other = made(b"o" * 32), made(b"x" * 32)
    sealed = own.close(7, False, b"content")
    assert own.open(7, False, sealed) == b"content"
    for opener, number, last, content in (
        (own, 8, False, sealed),
        (own, 7, True, sealed),
        (other, 7, False, sealed),
        (own, 7, False, sealed[:-1]),
        (own, 7, False, b""),
    ):
        with pytest.raises(DamagedError):
            opener.open(number, last, content)
