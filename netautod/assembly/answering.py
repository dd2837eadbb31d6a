"""What answers requests: the services that handlers use, and the application of all routes and pages."""

from collections.abc import Collection, Iterable
from functools import partial

from tornado.web import Application

from netautod.assembly.acting.caller_services import caller_services
from netautod.assembly.base import Base
from netautod.assembly.parts.executions import background_pulls_of, history_of
from netautod.assembly.parts.http import http_context_of
from netautod.assembly.parts.system import capabilities_of, system_of
from netautod.assembly.parts.users import initial_password_watch_of
from netautod.assembly.routes import ROUTES
from netautod.assembly.surroundings import Surroundings
from netautod.assembly.works import Works
from netautod.automation.summary.service import Summaries
from netautod.automation.system.service import SystemService
from netautod.console.base.pages import UnknownPageHandler
from netautod.console.base.rendering import Renderer
from netautod.console.base.static import StaticFiles
from netautod.console.help.pages import ManualPages
from netautod.console.routes import PAGES, chapters
from netautod.console.runs.previews import Previews
from netautod.core.json import values as json_values
from netautod.http.description.docs_page import DocsPage
from netautod.http.description.openapi import Description, document
from netautod.http.idempotency.service import IdempotencyKeys
from netautod.http.routing.routes import Route, application
from netautod.http.routing.unknown_route import UnknownRouteHandler
from netautod.http.status.health import HealthCheck
from netautod.manual.library import Manual
from netautod.plugin_host.offers.routes import PluginCalls


def application_of(base: Base, around: Surroundings, made: Works, health: HealthCheck) -> Application:
    settings, installation, auth = base.settings, base.installation, around.logins.auth
    with_console = settings.console.enabled
    context = http_context_of(
        authenticator=around.logins.sessions.authenticator,
        page_callers=auth.page_callers if with_console else None,
        bodies=made.bodies,
        clock=installation.clock,
        server=settings.server,
        limits=settings.limits,
        refusals=around.refusals,
        room=installation.database.room,
        metrics=installation.metrics,
        tracer=installation.tracer,
        idempotency=IdempotencyKeys(store=installation.stores.idempotency, vault=installation.vault),
        database_seconds=settings.mongodb.timeout_seconds,
    )
    routes = (*ROUTES, *base.additions.routes)
    capabilities = capabilities_of(
        settings.server.instance_name,
        auth.providers,
        installation.people.permissions,
        has_model=made.agents.agents.has_model,
    )
    records, work, api = _of_records(base, around, made), _of_work(base, made), _of_the_api(routes)
    services = (*records, *work, *api, capabilities, health)
    pages = PAGES if with_console else ()
    unknown = UnknownPageHandler if with_console else UnknownRouteHandler
    return application((*routes, *pages), context, services, unknown=unknown)


def _of_records(base: Base, around: Surroundings, made: Works) -> Collection[object]:
    """Of people, devices, inventories and documents, and of what hears of their changes."""
    installation, logins, devices = base.installation, around.logins, made.devices
    return (
        installation.audit,
        installation.people.roles,
        installation.people.users,
        logins.ssh_ca,
        *logins.auth.services,
        *devices.devices.services,
        *devices.operations.services,
        *devices.configs.services,
        *made.inventory.services,
        made.discovery.discovery,
        made.discovery.places,
        made.notes,
        made.documents,
        around.webhooks.service,
        around.events.streams,
    )


def _of_work(base: Base, made: Works) -> Collection[object]:
    """Of tasks, runs, agents and plugins, and of the system as a whole."""
    stores, runs, configs = base.installation.stores, made.runs, made.devices.configs
    agents = made.agents.agents
    system = _system(base, made)
    return (
        system,
        Summaries(backups=configs.backups, executions=runs.executions, system=system, changes=configs.recent),
        runs.tasks,
        runs.executions,
        runs.subset_runs,
        Previews(tasks=runs.tasks, devices=made.devices.devices.devices),
        background_pulls_of(runs.subset_runs, runs.executions),
        agents,
        PluginCalls(partial(caller_services, made.shared)),
        history_of(stores, runs.executions, agents),
    )


def _of_the_api(routes: Iterable[Route]) -> Collection[object]:
    static, manual = StaticFiles.read(), ManualPages(Manual.installed())
    renderer = Renderer(static, chapters())
    return DocsPage.read(), Description(json_values.encode(document(routes))), static, renderer, manual


def _system(base: Base, made: Works) -> SystemService:
    installation = base.installation
    watch = initial_password_watch_of(installation.people, base.settings.data_dir)
    return system_of(
        stores=installation.stores,
        clock=installation.clock,
        audit=installation.audit,
        plugins=base.plugins,
        pauses=made.pauses,
        metrics=base.metrics,
        schedule=base.settings.scheduler,
        risks=base.configuration.risks.warned,
        lookouts=(watch.risks,),
    )
