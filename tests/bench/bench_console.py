"""The console in a browser: bytes, requests and milliseconds of its pages, and how soon a log line shows."""

import time
from collections.abc import Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

from playwright.async_api import Browser, StorageState, expect

from netautod.automation.executions.records.result_store import COLLECTION as RESULTS
from netautod.network.configs.backups.counts import BackupCounting
from netautod.network.devices.records.counts import DeviceCounts
from netautod.network.devices.records.queries import COLLECTION as DEVICES
from netautod.network.devices.records.queries import SEARCH, search_text
from netautod.store.client import Database
from netautod.store.connection import connect
from netautod.store.settings import MongoDBSettings
from tests.bench.measuring.databases import private_mongod
from tests.bench.measuring.page_loads import Load, fresh, load, measuring_browser
from tests.bench.measuring.report import Report
from tests.bench.measuring.service import UNLIMITED
from tests.browser.people import log_in
from tests.browser.plugin.scripted_runs import END
from tests.browser.world import PASSWORD, variables
from tests.e2e.console import Console
from tests.support.databases import PATIENT_SECONDS
from tests.support.programs.service import Service, serving

FEW, MANY, BATCH = 1_000, 100_000, 5_000
RESULT_ROWS = 20_000
ROUNDS = 7
LINES = 20
FIRST_BYTES, LATER_BYTES, REQUESTS, NODES, SHIFT, TASK_MS = 120_000, 30_000, 6, 3_000, 0.05, 100
LINE_SECONDS, EXECUTION_MS = 2.5, 1_000
ROW_MS = {FEW: 300, MANY: 600}
COPIED = ("_id", "name", SEARCH)


async def run(report: Report) -> None:
    """The service and the database are processes of their own; one browser, one page after the other."""
    report.parameter("rounds", ROUNDS)
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="netautod-bench-")))
        uri = await stack.enter_async_context(private_mongod())
        place = MongoDBSettings(uri=uri)
        given = {**UNLIMITED, **variables(folder, place)}
        service = await stack.enter_async_context(serving(folder / "data", variables=given))
        browser = await stack.enter_async_context(measuring_browser())
        console = Console(client=await service.client("admin", PASSWORD))
        database = connect(uri, place.database, timeout_seconds=PATIENT_SECONDS)
        stack.callback(database.close)
        state = await _state(browser, service)
        execution = await _seeded(database, console)
        for devices in (FEW, MANY):
            await _fill(database, devices)
            await _pages(report, browser, service, state, execution, devices)
        await _log(report, browser, service, state, console, folder)


async def _state(browser: Browser, service: Service) -> StorageState:
    context = await browser.new_context(base_url=service.url)
    page = await context.new_page()
    await page.goto("/login")
    await log_in(page, "admin")
    await expect(page.get_by_role("button", name="Log out")).to_be_visible()
    state = await context.storage_state()
    await context.close()
    return state


async def _seeded(database: Database, console: Console) -> str:
    """One device, and an execution with RESULT_ROWS results that are copies of its one."""
    credential = await console.credential("bench")
    await console.device("switch-0", 9, site="bench", default_credential_id=credential, poll_enabled=False)
    task = await console.backup("bench", "bench")
    execution = str((await console.run(task))["id"])
    results = database.collection(RESULTS)
    found = await results.find_one({"execution_id": execution})
    assert found is not None
    for begin in range(0, RESULT_ROWS - 1, BATCH):
        copies = []
        for number in range(begin, min(begin + BATCH, RESULT_ROWS - 1)):
            device = str(uuid4())
            new = {"_id": f"{execution}:{device}", "device_id": device, "device_name": f"switch-{number}"}
            copies.append({**found, **new})
        await results.insert_many(copies)
    return execution


async def _fill(database: Database, devices: int) -> None:
    """Up to so many copies of the device."""
    collection = database.collection(DEVICES)
    found = await collection.find_one({"name": "switch-0"})
    assert found is not None
    for begin in range(await collection.count({}), devices, BATCH):
        names = [f"switch-{number:06}" for number in range(begin, min(begin + BATCH, devices))]
        await collection.insert_many([{**found, **_named(name, found)} for name in names])
    totals = DeviceCounts(database)
    await totals.changed(found["org_id"])
    await BackupCounting(database, totals=totals).changed(found["org_id"])


def _named(name: str, found: Mapping[str, Any]) -> dict[str, Any]:
    return dict(zip(COPIED, (str(uuid4()), name, search_text(name, found["host"])), strict=True))


async def _pages(
    report: Report, browser: Browser, service: Service, state: StorageState, execution: str, devices: int
) -> None:
    """Each page in turn, with an empty cache the first time and the files of the console in it later."""
    later = {
        "devices": "/devices",
        "devices_last_page": f"/devices?offset={devices - 50}",
        "devices_filtered": "/devices?q=000099",
        "overview": "/",
        "executions": "/executions",
        "execution_20000": f"/executions/{execution}",
    }
    loads: dict[str, list[Load]] = {name: [] for name in ("first", *later)}
    for _ in range(ROUNDS):
        context = await fresh(browser, service.url, state)
        page = await context.new_page()
        loads["first"].append(await load(page, "/devices"))
        for name, path in later.items():
            loads[name].append(await load(page, path))
        await context.close()
    for name, measured in loads.items():
        _tell(report, f"{name}_of_{devices}", measured, name, devices)


def _tell(report: Report, title: str, loads: list[Load], name: str, devices: int) -> None:
    most = FIRST_BYTES if name == "first" else LATER_BYTES
    report.wanted(f"{title}_bytes", max(one.bytes for one in loads), "bytes", "at most", most)
    report.wanted(f"{title}_requests", max(one.requests for one in loads), "requests", "at most", REQUESTS)
    report.wanted(f"{title}_elements", max(one.nodes for one in loads), "elements", "at most", NODES)
    report.wanted(f"{title}_layout_shift", max(one.shift for one in loads), "score", "at most", SHIFT)
    report.wanted(f"{title}_longest_script", max(one.longest_ms for one in loads), "ms", "at most", TASK_MS)
    limit = EXECUTION_MS if name.startswith("execution_") else ROW_MS[devices]
    report.wanted(f"{title}_first_row", median(one.row_ms for one in loads), "ms", "at most", limit)


async def _log(
    report: Report, browser: Browser, service: Service, state: StorageState, console: Console, folder: Path
) -> None:
    """From the moment at which the run may write a line until it is seen."""
    path = folder / "bench.script"
    path.write_text("")
    task = await console.task("writes", "writes", parameters={"file": str(path)})
    execution = await console.start(task)
    await console.until(execution, "running")
    page = await (await fresh(browser, service.url, state)).new_page()
    await page.goto(f"/executions/{execution}")
    took = []
    for number in range(LINES):
        began = time.perf_counter()
        with path.open("a") as file:
            file.write(f"measured line {number}.\n")
        await page.get_by_text(f"measured line {number}.").wait_for()
        took.append(time.perf_counter() - began)
    with path.open("a") as file:
        file.write(f"{END}\n")
    report.raw("log_line_seen", took, "s")
    report.wanted("log_line_seen_at_the_latest", max(took), "s", "at most", LINE_SECONDS)
