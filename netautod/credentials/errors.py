"""Why there is no credential for a login: typed, so that a run can tell it from a failing device."""

from netautod.core.errors import Conflict


class CredentialUnusable(Conflict):
    """Nothing was sent to the device."""


class NoCredential(CredentialUnusable):
    """Neither the request, the device nor the organization names one that exists."""


class CredentialNotAllowed(CredentialUnusable):
    """The host is outside the credential's `allowed_hosts`."""
