"""`netautod help` prints the manual, whatever the settings are."""

import os
from pathlib import Path

import pytest

from netautod.cli import entry as cli
from netautod.manual.library import Manual
from tests.support import manual
from tests.support.programs.service import run


def test_without_a_topic_the_index_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["help"]) == 0
    assert capsys.readouterr().out == manual.page("index.md")


@pytest.mark.parametrize("topic", ["develop/style", "style", "STYLE.md"])
def test_a_page_is_printed_as_it_is(capsys: pytest.CaptureFixture[str], topic: str) -> None:
    assert cli.main(["help", topic]) == 0
    assert capsys.readouterr().out == manual.page("develop/style.md")


def test_the_words_of_a_heading_print_its_section(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["help", "give", "reasons", "in", "comments"]) == 0
    out = capsys.readouterr().out
    heading = "Give reasons in comments"
    section = manual.section(manual.page("develop/style.md"), heading)
    assert out == f"develop/style:\n\n## {heading}{section}"


def test_words_in_several_sections_list_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["help", "write"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].endswith(" sections on 'write':")
    assert "  use/backups: Write the configurations into git" in lines
    assert lines[-1].startswith("print one with: netautod help PAGE")


def test_an_unknown_topic_names_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["help", "styel"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "netautod: the manual has nothing on 'styel'; the nearest pages are:\n" in err
    assert f"netautod help develop/style  ({Manual.installed().pages['develop/style'].title})" in err


def test_a_topic_like_no_page_names_the_index(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["help", "\x1b[31mqzxqzx"]) == 2
    err = capsys.readouterr().err
    assert "netautod help index" in err
    assert "\x1b" not in err


async def test_wrong_settings_and_no_installation_do_not_matter(tmp_path: Path) -> None:
    variables = {"NETAUTOD_SERVER_PORT": "none", "HOME": str(tmp_path), "NETAUTOD_DATA_DIR": "/nowhere"}
    done = await run("help", "index", cwd=tmp_path, variables=variables)
    assert (done.code, done.err) == (0, "")
    assert done.out == manual.page("index.md")
    assert os.listdir(tmp_path) == []
