"""Wheel and sdist: the same bytes from the same checkout, complete, and with a list of what is in them."""

import json
import os
import runpy
import subprocess
import sys
import tarfile
import zipfile
from email import message_from_string
from hashlib import sha256
from pathlib import Path

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from tests.repository.test_packaging import PACKAGED, ROOT, copy

pytestmark = pytest.mark.slow
EPOCH = "1700000000"
BESIDE = (".editorconfig", ".importlinter", ".mypy.ini", ".pytest.ini", ".ruff.toml")
STRAY = (
    "build/lib/netautod/ssh/platforms/gone.toml",
    "build/lib/netautod/gone.py",
    "build/lib/netautod_gone/__init__.py",
    "config/my.key",
    "config/mine.toml",
    "config/netautod.toml~",
    "netautod/secret.env",
    "plugins/netautod_backup/my.key",
    "tests/secret.env",
)
# Only for whoever works in a checkout.
LEFT_OUT = {".gitignore", ".pre-commit-config.yaml"}


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """That of an environment which builds."""
    folder = tmp_path_factory.mktemp("builder")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    python = folder / "bin" / "python"
    pip = (sys.executable, "-m", "pip", "--python", python, "install", "-q")
    subprocess.run([*pip, "setuptools>=77"], check=True)
    return python


def built(python: Path, folder: Path, *, umask: int, backwards: bool) -> list[Path]:
    """The two files, from a copy of the checkout whose files have this order and these modes.

    Beside them lie files of an administrator, and what a build before this one has left.
    """
    for name in sorted((*PACKAGED, *BESIDE, "tests"), reverse=backwards):
        copy(ROOT / name, folder / name)
    for name in STRAY:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("not ours\n")
    for path in folder.rglob("*"):
        path.chmod((0o777 if path.is_dir() else 0o666) & ~umask)
    run_setup(python, folder, "sdist", "bdist_wheel", umask=umask)
    return sorted((folder / "dist").iterdir())


def run_setup(python: Path, folder: Path, *commands: str, umask: int = 0o022) -> None:
    command = [str(python), "setup.py", "-q", *commands]
    environment = {**os.environ, "SOURCE_DATE_EPOCH": EPOCH, "PYTHONPATH": ""}
    subprocess.run(command, cwd=folder, env=environment, umask=umask, check=True, capture_output=True)


def tracked(*folders: str) -> set[str]:
    # What is new in a checkout, too.
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *folders]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return set(listed.rstrip("\0").split("\0"))


@pytest.fixture(scope="module")
def builds(python: Path, tmp_path_factory: pytest.TempPathFactory) -> list[list[Path]]:
    return [
        built(python, tmp_path_factory.mktemp("one"), umask=0o022, backwards=False),
        built(python, tmp_path_factory.mktemp("another-folder"), umask=0o077, backwards=True),
    ]


def test_two_builds_are_the_same_bytes(builds: list[list[Path]]) -> None:
    one, other = ([(path.name, sha256(path.read_bytes()).hexdigest()) for path in files] for files in builds)
    assert one == other
    assert [name.partition("-")[0] for name, _ in one] == ["netautod", "netautod"]


def test_the_wheel_holds_what_is_tracked_and_nothing_else(builds: list[list[Path]]) -> None:
    [wheel] = [path for path in builds[0] if path.suffix == ".whl"]
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    data = f"{wheel.name.partition('-py3')[0]}.data/data/share/netautod/"
    config = {f"{data}{name.removeprefix('config/')}" for name in tracked("config", "README.md")}
    plugins = {name.removeprefix("plugins/") for name in tracked("plugins") - {"plugins/README.md"}}
    assert names == {*tracked("netautod"), *plugins, *config}


def test_the_sdist_holds_the_whole_checkout(builds: list[list[Path]]) -> None:
    """With what its tests are run by."""
    [source] = [path for path in builds[0] if path.name.endswith(".tar.gz")]
    with tarfile.open(source) as archive:
        names = {one.name.partition("/")[2] for one in archive.getmembers() if one.isfile()}
    made = {name for name in names if name.startswith("netautod.egg-info/")} | {"PKG-INFO", "setup.cfg"}
    assert names - made == tracked() - LEFT_OUT


def test_the_wheel_lists_its_components(builds: list[list[Path]]) -> None:
    [wheel] = [path for path in builds[0] if path.suffix == ".whl"]
    with zipfile.ZipFile(wheel) as archive:
        [name] = [one for one in archive.namelist() if one.endswith(".dist-info/sboms/netautod.cdx.json")]
        text = archive.read(name).decode()
        [record] = [one for one in archive.namelist() if one.endswith(".dist-info/RECORD")]
        assert name in archive.read(record).decode()
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None
    names = {component["name"] for component in json.loads(text)["components"]}
    assert {"tornado", "pymongo", "cryptography", "cffi", "mongodb"} <= names
    assert names.isdisjoint({"pytest", "mypy", "ruff"})


def test_the_list_is_that_of_the_tested_versions() -> None:
    """`.ci/renew-sbom` writes it anew."""
    made = runpy.run_path(str(ROOT / ".ci" / "renew-sbom"))["text"]()
    assert made == (ROOT / ".ci" / "netautod.cdx.json").read_text()


def test_the_metadata(builds: list[list[Path]]) -> None:
    [wheel] = [path for path in builds[0] if path.suffix == ".whl"]
    with zipfile.ZipFile(wheel) as archive:
        [name] = [one for one in archive.namelist() if one.endswith(".dist-info/METADATA")]
        told = message_from_string(archive.read(name).decode())
    assert told["Requires-Python"] == ">=3.11"
    assert told["Description-Content-Type"] == "text/markdown"
    assert told["Summary"]
    assert "Programming Language :: Python :: 3.11" in told.get_all("Classifier", [])
    assert "License" not in told  # the owner has named none


def test_the_sdist_builds_the_same_wheel(builds: list[list[Path]], python: Path, tmp_path: Path) -> None:
    [source] = [path for path in builds[0] if path.name.endswith(".tar.gz")]
    [wheel] = [path for path in builds[0] if path.suffix == ".whl"]
    with tarfile.open(source) as archive:
        archive.extractall(tmp_path, filter="data")
    [folder] = tmp_path.iterdir()
    assert (folder / "tests" / "conftest.py").exists()
    run_setup(python, folder, "bdist_wheel")
    [again] = (folder / "dist").iterdir()
    assert sha256(again.read_bytes()).hexdigest() == sha256(wheel.read_bytes()).hexdigest()
