"""The plugins of the guide and new ones, installed from wheels beside one of netautod."""

import asyncio
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from netautod.assembly.settings import table
from netautod.plugin_host.scaffold import KINDS, scaffold
from tests.plugins.test_hook_sections import HOOKS, section_of
from tests.repository.test_packaging import ROOT, copy
from tests.support.guide import write_example, write_project
from tests.support.wheels import Environment, environment_of_wheels

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

OF_GUIDE = ("my_plugin", "acme_platform", "acme_inventory", "acme_login")
# The fixtures of the tests of all plugins: they share a service, so its settings are those of all.
CONFTEST = """
from pathlib import Path

import pytest
from test_new_auth import login_answer

from netautod.testing import LocalServer

pytest_plugins = ["netautod.testing.pytest_plugin"]


@pytest.fixture(scope="session")
def users(tmp_path_factory):
    return tmp_path_factory.mktemp("login") / "users"


@pytest.fixture(scope="session")
def netautod_settings(users):
    with LocalServer({"POST /login": login_answer}) as directory:
        yield {
            "": {"accept_risks": ["device-tls-unverified"]},
            "polling": {"verify_tls": False},
            "acme_login": {"file": str(users)},
            "new_auth": {"url": f"{directory.url}/login"},
        }
"""


@pytest.fixture(scope="module")
def projects(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return the projects of new plugins, by their kinds."""
    folder = tmp_path_factory.mktemp("projects")
    return {kind: scaffold(f"new_{kind}", kind=kind, directory=folder, core=list(table())) for kind in KINDS}


@pytest.fixture(scope="module")
async def installed(projects: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Environment:
    folder = tmp_path_factory.mktemp("clean")
    return await environment_of_wheels(
        folder, [*(write_project(name, folder) for name in OF_GUIDE), *projects.values()]
    )


def copy_tests(projects: dict[str, Path], kind: str, folder: Path) -> None:
    """Copy the tests of a project without its package: what is imported is what is installed."""
    [file] = (projects[kind] / "tests").glob("test_*.py")
    copy(file, folder / file.name)


async def test_the_guide_and_the_new_plugins_work_from_wheels(
    installed: Environment, projects: dict[str, Path], tmp_path: Path
) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    (shared / "conftest.py").write_text(CONFTEST)
    copy(ROOT / "tests" / "plugins" / "exercised_guide.py", shared / "test_guide.py")
    write_example("no_package", "test_first", shared)
    assert (shared / "test_first.py").exists()
    for kind in KINDS:
        copy_tests(projects, kind, shared)
    # One that is not installed: its tests work all the same, from its folder, and with settings of its own.
    fresh = scaffold("not_installed", kind="auth", directory=tmp_path, core=list(table()))
    pytest_here = (installed.python, "-m", "pytest", "-q", "-p", "no:cacheprovider")
    options = ("-o", "asyncio_mode=auto", "-o", "asyncio_default_fixture_loop_scope=function")
    outs = await asyncio.gather(
        installed.run(*pytest_here, *options, cwd=shared),
        installed.run(*pytest_here, cwd=fresh),
        return_exceptions=True,  # none is left behind when another fails
    )
    for out in outs:
        if isinstance(out, BaseException):
            raise out
    assert all(" passed" in out and "failed" not in out for out in map(str, outs)), outs


async def test_the_new_command_and_the_check_of_the_wheel(installed: Environment, tmp_path: Path) -> None:
    program = installed.folder / "venv" / "bin" / "netautod"
    out = await installed.run(program, "plugins", "new", "made_here", "--kind", "source", cwd=tmp_path)
    assert "made_here is made" in out
    wheels = sorted((installed.folder / "wheels").glob("*.whl"))
    plugins = [wheel for wheel in wheels if not wheel.name.startswith("netautod-")]
    checked = await installed.run(program, "plugins", "check", tmp_path / "made_here", *plugins)
    assert checked.count("it can be installed") == 1 + len(OF_GUIDE) + len(KINDS)


async def test_the_code_of_new_plugins_and_of_the_guide_is_clean(
    projects: dict[str, Path], tmp_path: Path
) -> None:
    """Check them by ruff with the project's own configuration, and by mypy as strict as here, all at once."""
    here = Environment(tmp_path)
    bin_ = Path(sys.executable).parent
    for project in projects.values():
        await here.run(bin_ / "ruff", "check", "--no-cache", ".", cwd=project)
        await here.run(bin_ / "ruff", "format", "--no-cache", "--check", ".", cwd=project)
    roots = [*projects.values(), *(write_project(name, tmp_path) for name in OF_GUIDE)]
    examples = tmp_path / "examples"
    examples.mkdir()
    for name in HOOKS:
        (examples / f"example_of_{name}.py").write_text(dedent(section_of(name).example))
    packages = [root / root.name for root in roots]
    tests = [file for root in projects.values() for file in (root / "tests").glob("*.py")]
    config = tmp_path / "mypy.ini"
    text = (ROOT / ".mypy.ini").read_text().replace("mypy_path = plugins", "mypy_path = {}")
    path = ":".join(map(str, [ROOT / "plugins", *roots, examples]))
    config.write_text(text.replace("{}", path).replace("files = netautod, plugins, tests\n", ""))
    done = await here.run(
        bin_ / "mypy", "--config-file", config, *packages, *tests, *examples.glob("*.py"), cwd=ROOT
    )
    assert "Success" in done
