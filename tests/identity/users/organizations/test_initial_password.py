"""The file with the first password: whole, private, and only ours."""

import os
from pathlib import Path

import pytest

from netautod.identity.users.organizations import initial_password
from netautod.identity.users.organizations.initial_password import NAME, InitialPasswordError, obtain


def test_the_first_password_stays(tmp_path: Path) -> None:
    folder = tmp_path / "not" / "there"
    assert obtain(folder, "first") == "first"
    assert obtain(folder, "second") == "first"
    initial_password.remove(folder)
    initial_password.remove(folder)
    assert obtain(folder, "third") == "third"


def test_a_draft_of_a_start_that_died_is_in_nobodys_way(tmp_path: Path) -> None:
    (tmp_path / f"{NAME}.{os.getpid()}.new").write_text("half")
    assert obtain(tmp_path, "whole") == "whole"


def test_a_file_that_others_can_read_is_refused(tmp_path: Path) -> None:
    file = tmp_path / NAME
    file.write_text("planted")
    file.chmod(0o644)
    with pytest.raises(InitialPasswordError, match="mode 0600"):
        obtain(tmp_path, "ours")


def test_a_link_to_elsewhere_is_refused(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_text("planted")
    target.chmod(0o600)
    (tmp_path / NAME).symlink_to(target)
    with pytest.raises(InitialPasswordError, match="cannot keep"):
        obtain(tmp_path, "ours")
    (tmp_path / NAME).unlink()
    (tmp_path / NAME).symlink_to(tmp_path / "nowhere")
    with pytest.raises(InitialPasswordError, match="cannot keep"):
        obtain(tmp_path, "ours")


def test_an_empty_file_is_one_clear_line(tmp_path: Path) -> None:
    file = tmp_path / NAME
    file.touch(mode=0o600)
    with pytest.raises(InitialPasswordError, match="is empty"):
        obtain(tmp_path, "ours")
