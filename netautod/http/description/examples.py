"""Examples of the description, made from its schemas, so that none can disagree with them.

A value comes from the field's own example, from EXAMPLES by the field's name, or from the type. A request
shows what it needs, with what its class adds in `example`; an answer shows every field.
"""

import re
from collections.abc import Mapping
from typing import Any
from uuid import UUID

MOMENT = "2026-11-21T06:44:12.345Z"
UUID_EXAMPLE = "6f1f4a86-6f0b-4f0e-9a51-0d9d0b7c2f11"
HASH = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
FINGERPRINT = "SHA256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU"
DEEPEST = 8  # levels of schemas within schemas
EXAMPLES: Mapping[str, tuple[Any, ...]] = {
    "access_token": ("eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiI2ZjFmNGE4NiJ9.c2lnbmF0dXJl",),
    "action": ("device.create",),
    "address": ("192.0.2.10",),
    "allowed_hosts": (["192.0.2.0/24"],),
    "attempts": (1,),
    "category": ("templates",),
    "ca_public_key": ("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGtleQ== netautod",),
    "certificate": ("ssh-ed25519-cert-v01@openssh.com AAAAIHNzaC1lZDI1NTE5LWNlcnQ= netautod",),
    "changes": (["host"],),
    "code": ("123456",),
    "command": ("show version",),
    "config_format": ("cli",),
    "config_hash": (HASH,),
    "config_text": ("hostname core-1\n",),
    "connect_commands": (["terminal length 0"],),
    "content": ("hostname {{ name }}\n",),
    "content_type": ("jinja",),
    "credential_type": ("ssh_password",),
    "cron_expression": ("0 3 * * *",),
    "current_password": ("correct horse battery staple",),
    "description": ("The core switch of the first floor",),
    "device_name": ("core-1",),
    "device_type": ("cisco_ios",),
    "diff": ("--- version 1\n+++ version 2\n@@ -1 +1 @@\n-hostname core-1\n+hostname core-2\n",),
    "directory": ("/var/lib/netautod",),
    "display_name": ("Ada Lovelace",),
    "duration_ms": (184,),
    "email": ("ada@example.com",),
    "error": ("connection refused",),
    "error_message": ("3 of 40 devices failed",),
    "expires_in": (3600,),
    "fingerprint": (FINGERPRINT,),
    "host": ("192.0.2.10",),
    "host_key_fingerprint": (FINGERPRINT,),
    "input_task": ("Which interfaces are down?",),
    "interface": ("GigabitEthernet1/0/7",),
    "inventory_url": ("https://inventory.example.com",),
    "ip_address": ("192.0.2.10",),
    "limit": (50,),
    "line": ("hostname core-1",),
    "local": ("2026-11-22T03:00:00+01:00",),
    "local_interface": ("GigabitEthernet1/0/7",),
    "mac_address": ("00:00:5e:00:53:01",),
    "manufacturer": ("Cisco",),
    "message": ("Done",),
    "model": ("C9300-48P",),
    "name": ("core-1",),
    "new_password": ("a longer passphrase 2026",),
    "notes": ("Before the move to the new building",),
    "offset": (0,),
    "old_password": ("correct horse battery staple",),
    "os_version": ("17.9.4",),
    "otpauth_uri": ("otpauth://totp/netautod:ada?secret=JBSWY3DPEHPK3PXP&issuer=netautod",),
    "output": ({"devices_total": 1, "succeeded": 1, "failed": 0},),
    "password": ("correct horse battery staple",),
    "permissions": (["devices.access"],),
    "platform": ("cisco_ios",),
    "port": (22,),
    "previous_fingerprint": (FINGERPRINT,),
    "prompt": ("Which interfaces are down?",),
    "public_key": ("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGtleQ== ada",),
    "reason": ("Change of the core routers",),
    "recovery_codes": (["4k7q-9x2m-p3ht"],),
    "refresh_token": ("cmVmcmVzaC10b2tlbi1vZi1hLXNlc3Npb24",),
    "remote_capabilities": (["bridge", "router"],),
    "remote_mgmt_address": ("192.0.2.11",),
    "roles": (["operator"],),
    "secret": ("the password of the device",),
    "site": ("Berlin",),
    "state": ("completed",),
    "status": ("ok",),
    "tags": (["core"],),
    "task_type": ("backup",),
    "text": ("Cisco IOS XE Software, Version 17.09.04\n",),
    "timezone": ("Europe/Berlin",),
    "token": ("0123456789abcdef0123456789abcdef01234567",),
    "triggered_by": ("manual",),
    "url": ("https://inventory.example.com",),
    "user_agent": ("curl/8.5.0",),
    "username": ("ada",),
    "version": (2, "1.4.0"),
}
"""By the names of fields; the first one that fits the field's type is taken."""
NAMES: Mapping[str, str] = {
    "Agent": "interfaces that are down",
    "ApiToken": "deploy script",
    "Credential": "switches",
    "Document": "base configuration",
    "Feature": "ldap",
    "NewApiToken": "deploy script",
    "Part": "inventory",
    "Plugin": "backup",
    "Provider": "local",
    "Risk": "no-tls",
    "Role": "auditors",
    "Site": "Berlin",
    "Snapshot": "nightly backup",
    "Source": "inventory",
    "Task": "nightly backup",
    "UsedToken": "deploy script",
    "Vlan": "servers",
    "Interface": "GigabitEthernet1/0/7",
}
"""The field `name`, by how the name of its schema begins."""
MESSAGES: Mapping[int, str] = {
    400: "port: Must be greater than or equal to 1 and less than or equal to 65535",
    401: "Authentication required",
    403: "Insufficient permissions",
    404: "Device not found",
    408: "The request took too long to arrive",
    409: "Device with this name already exists",
    412: "If-Match: the record is another one by now; read it again",
    413: "The request body is larger than 1048576 bytes",
    414: "The request line is longer than 65536 bytes",
    415: "Content-Type: 'text/plain' is not taken here; send JSON with the header "
    "`Content-Type: application/json`",
    417: "Expect: Only 100-continue is supported",
    421: "Host: 'attacker.example' is not in server.hosts, the names of this service",
    429: "Too many requests",
    431: "The headers are longer than 65536 bytes",
    500: f"Internal server error (request {UUID_EXAMPLE.replace('-', '')})",
    502: "connection refused (is SSH enabled on this port?)",
    503: "draining",
}


class Examples:
    """The examples of schemas that refer to each other; `schemas` are the components of the description."""

    def __init__(self, schemas: Mapping[str, Any]) -> None:
        self._schemas = schemas

    def answer(self, schema: Mapping[str, Any]) -> Any:
        return self._value(schema, "", DEEPEST, whole=True)

    def request(self, schema: Mapping[str, Any], added: Mapping[str, Any]) -> Any:
        """Return an example of what the schema requires, with what is added."""
        made = self._value(schema, "", DEEPEST, whole=False)
        return {**made, **added} if isinstance(made, dict) else made

    def _value(self, schema: Mapping[str, Any], name: str, depth: int, *, whole: bool) -> Any:
        schema, component = self._resolved(schema)
        known = _known(schema, name)
        if known is not None:
            return known
        kind = _kind(schema)
        if kind == "object" or "properties" in schema:
            return {**self._object(schema, depth, whole=whole), **_named(schema, component)}
        if kind == "array":
            return [self._value(schema["items"], name, depth - 1, whole=whole)] if depth else []
        return _scalar(schema, kind, name)

    def _object(self, schema: Mapping[str, Any], depth: int, *, whole: bool) -> dict[str, Any]:
        shown = schema.get("properties", {}) if depth else {}
        needed = schema.get("required", ())
        return {
            name: self._value(inner, name, depth - 1, whole=whole)
            for name, inner in shown.items()
            if name in needed or (whole and not inner.get("x-optional"))
        }

    def _resolved(self, schema: Mapping[str, Any]) -> tuple[Mapping[str, Any], str]:
        """Return the schema without a reference, and without null where it may be null, with the component's
        name.
        """
        component = ""
        while "$ref" in schema or "anyOf" in schema:
            if "$ref" in schema:
                component = schema["$ref"].rpartition("/")[2]
                schema = self._schemas[component]
            else:
                schema = next(one for one in schema["anyOf"] if one.get("type") != "null")
        return schema, component


def _named(schema: Mapping[str, Any], component: str) -> dict[str, str]:
    found = next((name for prefix, name in NAMES.items() if component.startswith(prefix)), None)
    field = schema.get("properties", {}).get("name", {})
    return {"name": found} if found is not None and "type" in field and _fits(found, field) else {}


def _known(schema: Mapping[str, Any], name: str) -> Any:
    if schema.get("examples"):
        return schema["examples"][0]
    offered = (*EXAMPLES.get(name, ()), *(one for one in schema.get("enum", ()) if one is not None))
    return next((one for one in offered if _fits(one, schema)), None)


def _kind(schema: Mapping[str, Any]) -> str:
    kind = schema.get("type", "")
    return next(one for one in kind if one != "null") if isinstance(kind, list) else str(kind)


JSON_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "": (object,),
}


def _fits(value: Any, schema: Mapping[str, Any]) -> bool:
    """Return whether the value fits the schema, as far as a value of EXAMPLES can miss it."""
    kind = _kind(schema)
    if not isinstance(value, JSON_TYPES[kind]) or isinstance(value, bool) != (kind == "boolean"):
        return kind == ""
    if "enum" in schema:
        return value in schema["enum"]
    if isinstance(value, list):
        return all(_fits(one, schema["items"]) for one in value) and "$ref" not in schema["items"]
    if isinstance(value, dict):
        return "properties" not in schema
    return not isinstance(value, str) or _text_fits(value, schema)


def _text_fits(text: str, schema: Mapping[str, Any]) -> bool:
    if schema.get("format") in ("uuid", "date-time"):
        return False
    if len(text) > schema.get("maxLength", len(text)):
        return False
    return re.search(schema.get("pattern", ""), text) is not None


def _scalar(schema: Mapping[str, Any], kind: str, name: str) -> Any:
    if schema.get("default") is not None:
        return schema["default"]
    if kind in ("integer", "number"):
        return max(1, schema.get("minimum", 1))
    if kind == "boolean":
        return True
    if kind == "string":
        return _text(schema, name)
    return None


def _text(schema: Mapping[str, Any], name: str) -> str:
    form = schema.get("format")
    if form == "date-time":
        return MOMENT
    if form == "uuid":
        return str(UUID(UUID_EXAMPLE))
    return name.replace("_", " ")[: schema.get("maxLength", 64)]
