"""Configurations that are not UTF-8: every byte is kept, told, compared, found and given back."""

import re

import pytest

from netautod.testing import ios_config
from netautod.transport.ssh.encoding import to_bytes, to_text
from tests.network.configs.fleet import Fleet
from tests.network.devices.inventory import ABSENT_ID
from tests.support.client import assert_error


def path(device_id: str, rest: str) -> str:
    return f"/api/config/devices/{device_id}/{rest}"


def with_line(line: bytes) -> str:
    """A configuration with this line, as a simulated device takes it; nothing in it changes by itself."""
    still = re.sub(r"ntp clock-period \d+\n", "", ios_config("sw1"))
    return still.replace("end\n", f" description {to_text(line)}\nend\n")


@pytest.mark.parametrize(
    ("line", "encoding", "shown"),
    [
        pytest.param(b"plain", "utf-8", "plain", id="ASCII"),
        pytest.param("café".encode(), "utf-8", "café", id="UTF-8"),
        pytest.param(b"caf\xe9", "latin-1", "café", id="Latin-1"),
        pytest.param(b"\xff\xfe\x80\x81", "latin-1", "\xff\xfe\x80\x81", id="bytes of no encoding"),
        pytest.param("né ".encode() + b"\xe9", "latin-1", "nÃ© é", id="UTF-8 and Latin-1 in one text"),
        pytest.param(b"\xed\xa0\x80", "latin-1", "\xed\xa0\x80", id="an encoded surrogate"),
        pytest.param(b"\xc3", "latin-1", "\xc3", id="half a character"),
        pytest.param("a\u2028b\u0085c\x1cd".encode(), "utf-8", "a\u2028b\u0085c\x1cd", id="other line ends"),
        pytest.param(b"\x03ETX\x03 a\x0cb\x1a", "utf-8", "\x03ETX\x03 a\x0cb\x1a", id="control characters"),
        pytest.param(b"two blanks  ", "utf-8", "two blanks  ", id="blanks at the end of the line"),
        pytest.param(b"a tab\t\tb\t", "utf-8", "a tab\t\tb\t", id="tabs"),
    ],
)
async def test_the_bytes_of_a_line_are_stored_and_given_back(
    fleet: Fleet, line: bytes, encoding: str, shown: str
) -> None:
    device_id = await fleet.stored("sw1", with_line(line))
    for version in ("latest", "1"):
        read = (await fleet.api.get(path(device_id, f"configs/{version}"))).json
        assert read["encoding"] == encoding
        assert f"\n description {shown}\nend\n" in read["config_text"]
    raw = await fleet.api.get(path(device_id, "configs/1/raw"))
    assert raw.headers["Content-Type"] == "application/octet-stream"
    assert raw.content == to_bytes(with_line(line))
    assert read["size"] == len(raw.content)


async def test_a_changed_byte_is_a_change_that_a_diff_and_a_search_show(fleet: Fleet) -> None:
    device_id = await fleet.stored("sw1", *(with_line(line) for line in (b"caf\xe8", b"caf\xe9", b"caf\xe9")))
    listed = (await fleet.api.get(path(device_id, "configs"))).json
    assert [config["version"] for config in listed["configs"]] == [2, 1]
    for secrets in ("false", "true"):
        found = (await fleet.api.get(path(device_id, f"diff?secrets={secrets}"))).json
        assert "\n- description cafè\n+ description café\n" in found["diff"]
        assert not found["identical"]
    (match,) = (await fleet.api.get("/api/config/search?q=caf%C3%A9")).json["matches"]
    assert match["line"] == " description café"


async def test_a_text_that_becomes_utf8_is_shown_so_on_its_side_of_a_diff(fleet: Fleet) -> None:
    device_id = await fleet.stored("sw1", with_line(b"caf\xe9"), with_line("café".encode()))
    found = (await fleet.api.get(path(device_id, "diff"))).json
    assert "\n- description café\n+ description café\n" in found["diff"]
    assert not found["identical"]


async def test_a_secret_that_is_not_utf8_is_hidden(fleet: Fleet) -> None:
    config = ios_config("sw1").replace("end\n", to_text(b"username bob password 0 c4n\xe9\xa0ary\nend\n"))
    device_id = await fleet.stored("sw1", config)
    read = (await fleet.api.get(path(device_id, "configs/latest"))).json
    assert read["encoding"] == "latin-1"
    assert not any(part in read["config_text"] for part in ("c4n", "ary"))


async def test_a_user_command_and_its_refusal_are_read_as_the_configuration_is(fleet: Fleet) -> None:
    switch = fleet.simulated()
    refusal = to_text(b"% Invalid input detected \xe9\n")
    switch.responses = {"show ö": to_text(b"caf\xe9\n"), "show x": refusal}
    device_id = await fleet.device(switch)
    assert (await fleet.ran(device_id, "show ö"))["output"].strip() == "café"
    refused = await fleet.ran(device_id, "show x")
    assert (refused["success"], refused["output"].strip()) == (False, "% Invalid input detected é")
    assert refused["error"] == "refused_command: % Invalid input detected é"


async def test_the_bytes_are_for_those_who_may_see_secrets_and_reading_them_is_audited(fleet: Fleet) -> None:
    device_id = await fleet.stored("sw1", ios_config("sw1", community="c4nary"))
    reader = fleet.with_permissions("devices.access", "devices.manage")
    assert_error(await reader.get(path(device_id, "configs/1/raw")), 403)
    assert await fleet.audited("config.read_secrets") == []
    assert b"c4nary" in (await fleet.api.get(path(device_id, "configs/1/raw"))).content
    (event,) = await fleet.audited("config.read_secrets")
    assert event["details"] == {"device_id": device_id, "version": 1}
    for rest in ("configs/2/raw", "configs/latest/raw", "configs/0/raw"):
        assert_error(await fleet.api.get(path(device_id, rest)), 404, "Config version not found")
    assert_error(await fleet.api.get(path(ABSENT_ID, "configs/1/raw")), 404, "Device not found")


async def test_files_of_a_host_are_kept_as_they_are(fleet: Fleet) -> None:
    host = fleet.simulated("h1", platform="linux")
    hosts = b"127.0.0.1\tlocalhost  \n# caf\xe9 \x1b[1m \x00 \x0c a\rb\n"
    host.files = {"/etc/hostname": "h1\n", "/etc/hosts": to_text(hosts)}
    device_id = await fleet.device(host)
    await fleet.pulled(device_id)
    raw = (await fleet.api.get(path(device_id, "configs/1/raw"))).content
    assert b"### file /etc/hosts\n" + hosts in raw
    host.files["/etc/hosts"] = to_text(hosts.replace(b"\n", b"\r\n"))
    await fleet.pulled(device_id)
    assert (await fleet.api.get(path(device_id, "configs/latest"))).json["version"] == 1  # CRLF is LF
