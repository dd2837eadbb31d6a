"""The section [read_only] of a platform's file: what is read from it, what is refused, whom it is like."""

from pathlib import Path

import pytest

from netautod.core.errors import InvalidInput
from netautod.transport.ssh.platform.registry import PlatformRegistry, read_only_grammar
from netautod.transport.ssh.read_only.grammar import ReadOnlyGrammar
from netautod.transport.ssh.read_only.inheritance import with_inherited_forms

HEAD = """
name = "{name}"
channel = "shell"
sources = ["a test"]
[prompts]
exec = '(?P<host>\\w+)>'
[capture]
items = [{{ command = "show running-config" }}]
"""


def written(folder: Path, section: str, name: str = "acme_os") -> Path:
    path = folder / f"{name}.toml"
    path.write_text(HEAD.format(name=name) + section)
    return path


def test_a_platform_has_its_own_forms(tmp_path: Path) -> None:
    registry = PlatformRegistry()
    section = '[read_only]\nforms = ["list all"]\nfilters = ["grep <plain>"]\npipes = 2\n'
    registry.register(written(tmp_path, section))
    grammar = read_only_grammar("acme_os", registry)
    assert grammar.check("li a | g x | g y").command == "list all | grep x | grep y"
    assert grammar.check("show version").command is None


def test_a_platform_without_forms_is_as_an_unknown_one(tmp_path: Path) -> None:
    registry = PlatformRegistry()
    registry.register(written(tmp_path, ""))
    assert registry.get("acme_os").read_only == registry.get("generic").read_only


def test_a_platform_takes_over_the_forms_of_another(tmp_path: Path) -> None:
    registry = PlatformRegistry()
    registry.register(written(tmp_path, '[read_only]\nlike = "cisco_ios"\nforms = ["list all"]\n'))
    registry.register(written(tmp_path, '[read_only]\nlike = "acme_os"\n', name="acme_two"))
    for name in ("acme_os", "acme_two"):
        grammar = read_only_grammar(name, registry)
        assert grammar.check("sh ip int br | i up").command == "show ip interface brief | include up"
        assert grammar.check("list all").command == "list all"


@pytest.mark.parametrize(
    ("section", "problem"),
    [
        pytest.param('forms = ["show <x>"]', "acme_os.toml [read_only]: the form 'show <x>'", id="form"),
        pytest.param('filters = ["x"]', "filters need forms", id="filters alone"),
        pytest.param('like = "nobody"', "like names no platform: 'nobody'", id="like nobody"),
        pytest.param('like = "acme_os"', "circle: acme_os -> acme_os", id="like itself"),
        pytest.param('from = ["x"]', "unknown key 'from'", id="unknown key"),
        pytest.param('forms = "x"', "array of strings", id="no array"),
        pytest.param("pipes = 0", "whole number from 1", id="pipes"),
    ],
)
def test_a_faulty_section_is_refused_with_the_file_and_the_problem(
    section: str, problem: str, tmp_path: Path
) -> None:
    with pytest.raises(InvalidInput) as error:
        PlatformRegistry().register(written(tmp_path, f"[read_only]\n{section}\n"))
    assert "acme_os.toml" in str(error.value)
    assert problem in str(error.value)


def test_a_circle_over_several_platforms_is_refused() -> None:
    grammars = {
        "first": ReadOnlyGrammar(like="second"),
        "second": ReadOnlyGrammar(like="third", forms=("list",)),
        "third": ReadOnlyGrammar(like="second", forms=("show",)),
    }
    with pytest.raises(InvalidInput, match="circle: first -> second -> third -> second"):
        with_inherited_forms("first", grammars)
