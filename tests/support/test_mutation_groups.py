"""The groups of the mutation run name files and tests that there are."""

from pathlib import Path

import pytest

from tests.mutants.__main__ import equivalents
from tests.mutants.groups import GROUPS, Group


@pytest.mark.parametrize("group", [pytest.param(one, id=one.name) for one in GROUPS])
def test_a_group_has_files_and_tests(group: Group, repository_root: Path) -> None:
    assert all(list(repository_root.glob(pattern)) for pattern in group.files)
    assert [path for path in group.tests if not (repository_root / path).exists()] == []


def test_mutants_that_are_the_same_program_are_of_files_that_there_are(repository_root: Path) -> None:
    paths = {name.partition("::")[0] for name in equivalents()}
    assert [path for path in paths if not (repository_root / path).is_file()] == []
