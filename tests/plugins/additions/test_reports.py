"""Reports on backups: over HTTP, as a task that tells an event, for agents, and on the command line."""

import asyncio
import csv
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from netautod.activity.events.publishing import EventPublisher
from netautod.cli import entry as cli
from netautod.plugin_api import PluginHost
from netautod.store.scoped import scoped
from netautod.testing import DeviceFailed, RunDevice, SimulatedDevice, run_executor
from netautod.transport.outbound.addresses import AddressRules
from netautod.transport.outbound.client import GuardedClient
from netautod_reports.executor import BackupReport
from netautod_reports.report import COLUMNS, report_on
from netautod_reports.settings import ReportsSettings
from netautod_reports.tool import ReportTool
from tests.e2e.console import Console
from tests.plugins.additions.conftest import Running
from tests.support.client import ApiClient, assert_error

REPORT = "/api/plugins/reports/backups"


@pytest.fixture(scope="module")
async def admin(running: Running) -> ApiClient:
    """Return the admin of an organization with four devices, one of each status; one name looks like a
    formula.
    """
    admin = await running.logged_in("admin")
    console = Console(client=admin)
    credential = await console.credential("lab")
    ids = {}
    async with SimulatedDevice(hostname="good") as device:
        for name in ("good", "=stale"):
            ids[name] = await console.device(
                name, device.port, site="Berlin", default_credential_id=credential
            )
            (await admin.post(f"/api/config/devices/{ids[name]}/pull")).expect()
        failing = await console.device("failed", device.port, default_credential_id=credential)
    assert (await admin.post(f"/api/config/devices/{failing}/pull")).status == 502
    await console.device("new", 22)
    ages = {"$set": {"backup.success_at": datetime(2026, 1, 1, tzinfo=UTC)}}
    devices = scoped(running.installation.database, "devices")
    await devices.update(running.organization, {"_id": ids["=stale"]}, ages)
    return admin


async def test_as_json_in_pages(admin: ApiClient) -> None:
    whole = (await admin.get(REPORT)).expect()
    assert whole["counts"] == {"good": 1, "stale": 1, "failed": 1, "never": 1}
    found = [(row["device"], row["status"]) for row in whole["rows"]]
    assert found == [("=stale", "stale"), ("failed", "failed"), ("good", "good"), ("new", "never")]
    assert (whole["total"], whole["limit"], whole["offset"]) == (4, 100, 0)
    good, failed = whole["rows"][2], whole["rows"][1]
    assert (good["version"], good["error"], good["site"]) == (1, None, "Berlin")
    assert good["last_backup_at"] == good["last_success_at"]
    assert "connection refused" in failed["error"]
    assert failed["last_success_at"] is None
    second = (await admin.get(f"{REPORT}?limit=1&offset=1")).expect()
    assert ([row["device"] for row in second["rows"]], second["total"]) == (["failed"], 4)


@pytest.mark.parametrize(
    ("query", "devices"),
    [
        ("status=stale", ["=stale"]),
        ("site=Berlin", ["=stale", "good"]),
        ("site=Berlin&status=never", []),
    ],
)
async def test_narrowed(admin: ApiClient, query: str, devices: list[str]) -> None:
    assert [row["device"] for row in (await admin.get(f"{REPORT}?{query}")).json["rows"]] == devices


@pytest.mark.parametrize("query", ["status=gone", "limit=0", "limit=1001", "limit=x", "offset=-1"])
async def test_wrong_queries(admin: ApiClient, query: str) -> None:
    assert_error(await admin.get(f"{REPORT}?{query}"), 400, f"{query.partition('=')[0]}: ")


async def test_as_csv(admin: ApiClient) -> None:
    answer = await admin.get(f"{REPORT}.csv")
    assert answer.headers["Content-Type"] == "text/csv; charset=utf-8"
    rows = list(csv.DictReader(StringIO(answer.content.decode(), newline="")))
    assert tuple(rows[0]) == COLUMNS
    assert [row["device"] for row in rows] == ["'=stale", "failed", "good", "new"]


async def test_the_permission_alone_shows_no_devices(running: Running, admin: ApiClient) -> None:
    both = await running.user("reports", "reports.read", "devices.access")
    assert (await both.get(REPORT)).json["total"] == 4
    for name, held in (("only-reports", "reports.read"), ("only-devices", "devices.access")):
        client = await running.user(name, held)
        for path in (REPORT, f"{REPORT}.csv"):
            assert_error(await client.get(path), 403, "insufficient permissions")
    stranger = await running.logged_in("stranger")
    assert (await stranger.get(REPORT)).json["rows"] == []


async def test_a_task_reports_and_publishes_an_event(
    running: Running, admin: ApiClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    published: list[Mapping[str, Any]] = []

    async def publish(self: object, **event: Any) -> None:
        published.append(event)

    monkeypatch.setattr(EventPublisher, "publish", publish)
    console = Console(client=admin)
    task = await console.task("daily", "backup_report", parameters={"site": "Berlin"})
    done = await console.run(task)
    assert (done["state"], done["output"]["counts"]["stale"]) == ("completed", 1)
    assert [row["device"] for row in done["output"]["not_good"]] == ["=stale"]
    [event] = published
    assert (event["name"], event["permission"]) == ("reports.finished", "reports.read")
    assert event["org_id"] == running.organization
    [row] = event["data"].pop("not_good")
    assert row.items() <= done["output"].pop("not_good")[0].items()
    assert row.keys() == {"device_id", "device", "site", "status", "last_success_at"}
    assert event["data"] == {**done["output"], "execution_id": done["id"], "task_name": "daily"}


async def test_the_command(
    running: Running,
    admin: ApiClient,
    mongo_uri: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(
        "netautod.core.logs.setup.configure", lambda **_: None
    )  # it would take caplog's handler
    monkeypatch.setenv("NETAUTOD_MONGODB_DATABASE", running.installation.database.name)

    async def report(*more: str) -> tuple[int, str, str]:
        settings = ("--mongodb-uri", mongo_uri, "--data-dir", str(running.data_dir))
        code = await asyncio.to_thread(cli.main, ["report", *settings, *more])
        return code, *capsys.readouterr()

    out = tmp_path / "report.csv"
    assert await report("--organization", "default", "--output", str(out)) == (0, "", "")
    assert out.read_bytes() == (await admin.get(f"{REPORT}.csv")).content
    checked = await report("--organization", "default", "--check", "--site", "Berlin")
    assert checked == (1, "1 good, 1 stale, 0 failed, 0 never\n", "")
    code, shown, _ = await report("--organization", "default", "--status", "never")
    assert (code, [line.partition(",")[0] for line in shown.splitlines()]) == (0, ["device", "new"])
    code, shown, text = await report()
    assert (code, shown, text.count("\n"), "name one with --organization" in text) == (2, "", 1, True)


def devices() -> list[RunDevice]:
    now = datetime.now(UTC)
    old, fresh = now - timedelta(hours=30), now - timedelta(hours=1)
    return [
        RunDevice(name="good", captured_at=fresh, captured_well_at=fresh),
        RunDevice(name="old", captured_at=old, captured_well_at=old),
        RunDevice(name="bad", captured_at=fresh, captured_well_at=old, capture_error="timeout: none"),
        RunDevice(name="new"),
    ]


async def test_the_executor_without_a_server() -> None:
    host = PluginHost(settings=ReportsSettings(stale_hours=26), http=GuardedClient(AddressRules()))
    done = await run_executor(BackupReport(host), devices=devices())
    assert done.output["counts"] == {"good": 1, "stale": 1, "failed": 1, "never": 1}
    assert [row["device"] for row in done.output["not_good"]] == ["bad", "new", "old"]
    refused = await run_executor(BackupReport(host), devices=devices(), permissions=())
    assert refused.state == "failed"


async def test_what_a_capture_leaves_is_what_a_report_says() -> None:
    good, bad = RunDevice(name="good"), RunDevice(name="bad", config=DeviceFailed("none", kind="timeout"))
    for device in (good, bad):
        with suppress(DeviceFailed):
            await device.captured("c")
    assert (good.backup.status, good.backup.version) == ("success", 1)
    assert (bad.backup.status, bad.backup.error) == ("failed", "timeout: none")


class Tools:
    """The context of a tool, with devices as those of a run."""

    def __init__(self, acting: Any) -> None:
        self.acting = acting
        self.http = GuardedClient(AddressRules())
        self.org_id = "o"

    def admit(self, device_id: str) -> None:
        return


class Backups:
    """The services, as far as a report asks them."""

    async def backups(self, *, site: str | None = None, device_type: str | None = None) -> Any:
        for device in devices():
            yield device.backup


async def test_agents_get_the_devices_that_are_not_good() -> None:
    tool = ReportTool(ReportsSettings())
    outcome = await tool.call({"site": None}, Tools(Backups()))
    first, *rest = outcome.text.splitlines()
    assert first == "1 good, 1 stale, 1 failed, 1 never"
    assert [line.partition(" ")[0] for line in rest] == ["bad", "new", "old"]
    assert rest[1] == "new (192.0.2.1) never, last good never"


async def test_a_backup_is_stale_when_it_is_older_than_that() -> None:
    now = datetime.now(UTC)
    moment = now - timedelta(hours=30)

    class One:
        async def backups(self, *, site: str | None = None, device_type: str | None = None) -> Any:
            yield RunDevice(captured_at=moment, captured_well_at=moment).backup

    for hours, status in ((29, "stale"), (30, "good"), (31, "good")):
        report = await report_on(One(), stale_hours=hours, now=now)  # type: ignore[arg-type]
        assert [row.status for row in report.rows] == [status]
        assert report.all_good == (status == "good")
