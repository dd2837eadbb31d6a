"""The root key's file: forms, precedence, and making it without loss."""

import base64
import os
import stat
from pathlib import Path

import pytest

from netautod.secrets.vault.errors import VaultError
from netautod.secrets.vault.root import key_file as root_key
from netautod.secrets.vault.root.key_file import RootKey, load_root_key, read_root_key, write_root_key

SECRET = bytes(range(200, 232))


def file_with(path: Path, content: bytes, mode: int = 0o600) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    path.chmod(mode)
    return path


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(SECRET, id="32 raw bytes"),
        pytest.param(SECRET + b"\n", id="32 raw bytes and a newline"),
        pytest.param(SECRET.hex().encode(), id="64 hex digits"),
        pytest.param(SECRET.hex().upper().encode() + b"\r\n", id="64 upper-case hex digits and CRLF"),
        pytest.param(base64.b64encode(SECRET) + b"\n", id="base64 and a newline"),
    ],
)
def test_accepted_forms(tmp_path: Path, content: bytes) -> None:
    assert read_root_key(file_with(tmp_path / "key", content)).secret == SECRET


def test_a_raw_key_may_end_in_a_newline_byte(tmp_path: Path) -> None:
    secret = SECRET[:31] + b"\n"
    assert read_root_key(file_with(tmp_path / "key", secret)).secret == secret


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"", id="empty"),
        pytest.param(SECRET[:31], id="31 raw bytes"),
        pytest.param(SECRET.hex()[:32].encode(), id="half a key in hex, which has 32 characters"),
        pytest.param(b"correct horse battery staple 123", id="a passphrase of 32 characters"),
        pytest.param(SECRET.hex().encode() * 2, id="two keys"),
        pytest.param(base64.b64encode(SECRET[:24]), id="base64 of 24 bytes"),
        pytest.param(b"z" * 64, id="64 characters that are no hex digits"),
        pytest.param(base64.b64encode(SECRET)[:20] + b"!!!!" + base64.b64encode(SECRET)[20:], id="no base64"),
    ],
)
def test_refused_forms(tmp_path: Path, content: bytes) -> None:
    path = file_with(tmp_path / "key", content)
    with pytest.raises(VaultError, match="must hold 32 raw bytes") as caught:
        read_root_key(path)
    assert str(path) in caught.value.text
    assert "\n" not in caught.value.text


def test_a_key_is_on_the_disk_before_it_has_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    synced, linked = os.fsync, os.link

    def fsync(descriptor: int) -> None:
        done.append("folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "file")
        synced(descriptor)

    def link(source: str, target: Path) -> None:
        done.append("name")
        linked(source, target)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "link", link)
    write_root_key(tmp_path / "master.key", SECRET)
    assert done == ["file", "name", "folder"]


def test_precedence_is_setting_then_credential_then_data_dir(tmp_path: Path) -> None:
    data, credentials = tmp_path / "data", tmp_path / "credentials"
    environ = {"CREDENTIALS_DIRECTORY": str(credentials)}
    named = file_with(tmp_path / "named", b"\xa1" * 32)

    def loaded(key_file: Path | None = None) -> Path | None:
        found = load_root_key(data, key_file, environ=environ)
        return found.source if found else None

    assert loaded() is None
    beside = file_with(data / "master.key", b"\xa2" * 32)
    assert loaded() == beside
    credential = file_with(credentials / "netautod-master-key", b"\xa3" * 32)
    assert loaded() == credential
    assert loaded(named) == named


def test_a_named_file_that_is_absent_is_an_error_even_if_another_key_is_there(tmp_path: Path) -> None:
    file_with(tmp_path / "master.key", SECRET)
    with pytest.raises(VaultError, match="cannot be read: No such file"):
        load_root_key(tmp_path, tmp_path / "absent", environ={})


def test_a_key_that_cannot_be_looked_at_is_not_taken_for_absent(tmp_path: Path) -> None:
    not_a_directory = file_with(tmp_path / "file", b"")
    with pytest.raises(VaultError, match="cannot be read"):
        load_root_key(not_a_directory, None, environ={})


def test_writing_makes_a_private_file_and_leaves_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "key"
    write_root_key(path, SECRET)
    assert read_root_key(path).secret == SECRET
    assert path.stat().st_mode & 0o777 == 0o600
    assert list(tmp_path.iterdir()) == [path]


def test_writing_never_overwrites(tmp_path: Path) -> None:
    path = file_with(tmp_path / "key", SECRET)
    with pytest.raises(VaultError, match="is not overwritten"):
        write_root_key(path, b"\x01" * 32)
    assert path.read_bytes() == SECRET
    assert list(tmp_path.iterdir()) == [path]


def test_writing_where_one_may_not_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(VaultError, match="cannot be written"):
        write_root_key(tmp_path / "absent" / "key", SECRET)


def test_a_pending_key_survives_a_crash_and_becomes_the_key_once(tmp_path: Path) -> None:
    made = root_key.make_pending(tmp_path)
    assert load_root_key(tmp_path, None, environ={}) is None
    again = root_key.make_pending(tmp_path)
    assert again.secret == made.secret
    published = root_key.publish(tmp_path, again)
    assert published == RootKey(secret=made.secret, source=tmp_path / "master.key")
    assert [path.name for path in tmp_path.iterdir()] == ["master.key"]


def test_publishing_does_not_replace_a_key_that_appeared_meanwhile(tmp_path: Path) -> None:
    made = root_key.make_pending(tmp_path)
    other = file_with(tmp_path / "master.key", SECRET)
    with pytest.raises(VaultError, match="appeared with another key"):
        root_key.publish(tmp_path, made)
    assert other.read_bytes() == SECRET


def test_a_root_key_does_not_show_itself() -> None:
    assert "secret" not in repr(RootKey(secret=SECRET, source=Path("key")))
