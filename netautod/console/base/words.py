"""The words on the screen for the codes of the service; filters and addresses keep the codes."""

from collections.abc import Mapping

from netautod.core.text.plurals import noun_for

FAILURES: Mapping[str, str] = {
    "dns": "Name not found",
    "refused": "Connection refused",
    "timeout": "Timed out",
    "kex": "No common algorithm",
    "host_key": "Host key changed",
    "auth": "Login refused",
    "enable": "Enable refused",
    "prompt": "No prompt",
    "pager": "Pager active",
    "incomplete": "Config incomplete",
    "refused_command": "Command refused",
    "lost": "Connection lost",
    "flood": "Too much output",
    "not_found": "Device deleted",
    "credential": "Credential missing",
    "suspended": "Login suspended",
    "address": "Address not allowed",
    "not_vouched": "Not vouched for",
    "busy": "Device busy",
    "unknown": "Unknown failure",
}
BACKUPS: Mapping[str, str] = {
    "success": "Backed up",
    "failed": "Failed",
    "stale": "Stale",
    "never": "Never backed up",
}
STATES: Mapping[str, str] = {
    "approval_pending": "waiting for approval",
    "timeout": "timed out",
    "never": "never synchronised",
    "success": "succeeded",
    "partial": "partly failed",
}
ORIGINS: Mapping[str, str] = {
    "schedule": "Schedule",
    "manual": "User",
    "api": "Single pull",
    "bulk": "Bulk pull",
    "task": "Task",
    "import": "Import",
}
SOURCES: Mapping[str, str] = {"manual": "Manual", "inventory": "Inventory", "csv": "CSV"}
METHODS: Mapping[str, str] = {
    "snmp": "SNMP",
    "cli": "CLI",
    "both": "SNMP and CLI",
    "lldp": "LLDP",
    "cdp": "CDP",
}
PROVIDERS: Mapping[str, str] = {"local": "netautod", "ldap": "LDAP", "oidc": "OpenID Connect"}
CLIENTS: Mapping[str, str] = {"admin_ui": "Console or API", "terminal": "Terminal"}
CREDENTIALS: Mapping[str, str] = {
    "ssh_password": "SSH password",
    "ssh_key": "SSH key",
    "snmp_community": "SNMP community",
    "snmp_v3": "SNMPv3",
    "api_token": "API token",
    "generic_secret": "Other secret",
}
_TABLES: Mapping[str, Mapping[str, str]] = {
    "failure": FAILURES,
    "backup": BACKUPS,
    "state": STATES,
    "origin": ORIGINS,
    "source": SOURCES,
    "method": METHODS,
    "provider": PROVIDERS,
    "client": CLIENTS,
    "credential": CREDENTIALS,
}


def in_words(code: str, table: str) -> str:
    """Return the words for a code; for one that only a plugin knows, the code with blanks."""
    return _TABLES[table].get(code) or code.replace("_", " ")


def option(code: str, table: str) -> tuple[str, str]:
    """Return a choice of a form: the code that is sent and the words that are shown."""
    words = in_words(code, table)
    return code, f"{words[:1].upper()}{words[1:]}"


def counted(count: int, noun: str, plural: str = "") -> str:
    """Return the count with its noun, and with commas in a long count: `1 device`, `2,000 devices`."""
    return f"{count:,} {noun_for(count, noun, plural)}"
