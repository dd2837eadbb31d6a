"""The groups of services that assembly builds and handlers get, each by its type (`routes.application`)."""


class Services:
    """A base of frozen dataclasses that group services: each field is offered to the handlers."""

    @property
    def services(self) -> tuple[object, ...]:
        """Return all services of the group."""
        return tuple(vars(self).values())
