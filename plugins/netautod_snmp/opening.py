"""The choice of the library that talks to an agent."""

from contextlib import AbstractAsyncContextManager

from netautod.plugin_api import SnmpAccess
from netautod_snmp.agent import Agent
from netautod_snmp.gufo_agent import GufoAgent
from netautod_snmp.pysnmp_agent import PysnmpAgent


def opened(access: SnmpAccess) -> AbstractAsyncContextManager[Agent]:
    """Open the agent with gufo-snmp, but for 3DES, which it does not know. Raises DeviceFailed when it is
    entered.
    """
    user = access.user
    if user is not None and user.priv_protocol == "3des":
        return PysnmpAgent(access).opened()
    return GufoAgent(access).opened()
