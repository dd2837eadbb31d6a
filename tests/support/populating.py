"""An organization with something of everything, made over HTTP."""

from collections.abc import Mapping
from typing import Any

from netautod.testing import SimulatedDevice, ios_config
from tests.e2e.console import CONFIGS, SCHEDULES, Console

PASSPHRASE = "correct horse battery staple of the notes"
NOTE = "the code of the door is 4711"
OLD_COMMUNITY, NEW_COMMUNITY = "community-before", "community-after"
PASSWORD = "Wolkenkuckucksheim-9"
DEVICE_PASSWORD = "the password of the switch"


async def populate(console: Console, name: str, switch: SimulatedDevice) -> dict[str, Any]:
    """Ids and values by what they are of; names begin with `name`, which is not used elsewhere."""
    api, made = console.client, dict[str, Any]()
    made["site"] = (await console.add("/api/sites", name=f"{name}-site"))["id"]
    made["credential"] = await console.credential(f"{name}-login", secret=DEVICE_PASSWORD)
    snmp = {"credential_type": "snmp_community", "port": 161, "secret": f"{name}-community"}
    made["snmp credential"] = await console.credential(f"{name}-snmp", **snmp)
    switch.config = ios_config(switch.hostname, community=OLD_COMMUNITY)
    fields = {"default_credential_id": made["credential"], "site": f"{name}-site"}
    made["device"] = await console.device(f"{name}-switch", switch.port, **fields)
    made["task"] = await console.backup(f"{name}-nightly", f"{name}-site")
    made["minutely"] = await console.backup(f"{name}-minutely", f"{name}-site", cron_expression="* * * * *")
    first = await console.run(made["task"])
    switch.config = ios_config(switch.hostname, community=NEW_COMMUNITY)
    second = await console.run(made["task"])
    assert (first["state"], second["state"]) == ("completed", "completed")
    made["executions"] = [first["id"], second["id"]]
    notes = {"notes": f"{name} before the change"}
    (await api.put(f"{CONFIGS}/{made['device']}/configs/1/notes", notes)).expect()
    made |= await _documents(console, name)
    made |= await _people(console, name)
    made["source"] = (
        await console.add(
            "/api/devices/sources/inventory",
            name=f"{name}-netbox",
            url="http://netbox.invalid",
            token=f"{name}-token",
        )
    )["id"]
    return made


async def _documents(console: Console, name: str) -> Mapping[str, Any]:
    api, text = console.client, {"content": f"Hello {{{{ name }}}}, from {name}"}
    template = {"name": f"{name}-template", "category": "templates", "content_type": "jinja"}
    document = await console.add("/api/docs", **template, **text)
    (await api.put(f"/api/docs/{document['id']}", {"content": f"{text['content']}!"})).expect()
    note = {"name": f"{name}-note", "category": "notes", "content_type": "markdown", "content": NOTE}
    made = await console.add("/api/docs", **note)
    assert (await api.post("/api/vault/password", {"password": PASSPHRASE})).status == 204
    return {"document": document["id"], "note": made["id"]}


async def _people(console: Console, name: str) -> Mapping[str, Any]:
    role = await console.add("/api/roles", name=f"{name}-reader", permissions=["devices.access"])
    user = await console.add(
        "/api/users", username=f"{name}-carla", password=PASSWORD, roles=[f"{name}-reader"]
    )
    token = await console.add("/api/auth/tokens", name=f"{name}-machine", permissions=["devices.access"])
    disabled = await console.add(
        SCHEDULES,
        name=f"{name}-off",
        task_type="backup",
        cron_expression="0 3 * * *",
        enabled=False,
        parameters={"device_filter": {"site": f"{name}-site"}},
    )
    return {
        "role": role["id"],
        "user": user["id"],
        "token": token["token"],
        "token id": token["id"],
        "disabled task": disabled["id"],
    }
