"""The file with the first password: named while it is there, gone with the first change of the password."""

import os
from pathlib import Path

import pytest

from netautod.identity.users.organizations.initial_password import NAME
from netautod.identity.users.organizations.initial_password_watch import InitialPasswordWatch
from tests.support.installation import Installation

NEW = "vier gruene Kaefer tanzen"


@pytest.fixture
async def watch(installation: Installation, tmp_path: Path) -> InitialPasswordWatch:
    await installation.bootstrap(tmp_path).run()
    assert (tmp_path / NAME).exists()
    return InitialPasswordWatch(
        users=installation.users, organizations=installation.organizations, data_dir=tmp_path
    )


async def test_the_status_and_the_log_name_the_file_while_it_is_there(
    watch: InitialPasswordWatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert [risk.name for risk in await watch.risks()] == [NAME]
    await watch.look()
    assert NAME in caplog.text
    (tmp_path / NAME).unlink()
    assert await watch.risks() == []


async def test_the_file_goes_with_the_password_of_the_first_admin_alone(
    watch: InitialPasswordWatch, installation: Installation, tmp_path: Path
) -> None:
    installation.users.password_changed.register(watch.forget)
    await installation.add("berta", "admin")
    await installation.users.set_password(await installation.system(), "berta", NEW)
    assert (tmp_path / NAME).exists()
    await installation.users.set_password(await installation.system(), "admin", NEW)
    assert not (tmp_path / NAME).exists()


async def test_a_change_that_another_node_made_is_found_later(
    watch: InitialPasswordWatch, installation: Installation, tmp_path: Path
) -> None:
    os.utime(tmp_path / NAME, (1, 1))
    await watch.look()
    assert (tmp_path / NAME).exists()
    await installation.users.set_password(await installation.system(), "admin", NEW)
    await watch.look()
    assert not (tmp_path / NAME).exists()
