"""Pages of sites."""

from uuid import uuid4

from tests.console.site import Site

HOSTILE = "<b>Berlin</b>"


async def test_a_site_is_made_changed_and_deleted_when_nothing_uses_it(site: Site) -> None:
    org_id = str(uuid4())
    manager = site.browser("devices.access", "devices.manage", org_id=org_id)
    assert "There is no site yet" in (await manager.get("/sites")).text
    page = await manager.post("/sites/new", {"name": " ", "description": "kept"}, status=400)
    assert page.all("textarea", name="description")[0].text == "kept"
    await manager.post("/sites/new", {"name": HOSTILE, "description": "kept"})
    await manager.post("/sites/new", {"name": HOSTILE}, status=409)
    page = await manager.get("/sites")
    assert page.rows[0][:2] == [HOSTILE, "kept"]
    path = page.links[HOSTILE]
    tag = (await manager.get(path)).all("input", name="_tag")[0].attributes["value"]
    device = {"name": "c1", "host": "192.0.2.9", "device_type": "linux", "site_id": path.rpartition("/")[2]}
    made = (await site.api(manager).post("/api/devices", device)).expect(201)
    page = await manager.post(f"{path}/delete", status=409)
    assert "is in use by device c1" in page.text
    page = await manager.post(path, {"_tag": tag, "name": "", "description": ""}, status=400)
    assert "name: " in page.text
    await manager.post(path, {"_tag": tag, "name": "Bonn", "description": ""})
    stored = (await site.api(manager).get(f"/api{path}")).expect()
    assert (stored["name"], stored["description"]) == ("Bonn", None)
    page = await manager.post(path, {"_tag": tag, "name": "Köln"}, status=409)
    assert "changed while the form was open" in page.text
    viewer = site.browser("devices.access", org_id=org_id)
    page = await viewer.get(path)
    assert "device c1" in page.text
    assert not page.controls - {"Log out"}
    assert "New site" not in (await viewer.get("/sites")).links
    await viewer.get("/sites/new", status=403)
    await viewer.post(f"{path}/delete", status=403)
    await site.browser("devices.access", "devices.manage", org_id=str(uuid4())).get(path, status=404)
    await site.api(manager).delete(f"/api/devices/{made['id']}")
    await manager.post(f"{path}/delete")
    await manager.get(path, status=404)
