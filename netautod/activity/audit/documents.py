"""The form of an audit event in the collection `audit_events`, without its place in the chain."""

from netautod.activity.audit.models import AuditEvent
from netautod.core.identity.caller import OrgId
from netautod.store.client import Document

COLLECTION = "audit_events"


def document_of(event: AuditEvent) -> Document:
    return {
        "_id": event.id,
        "at": event.at,
        "actor_id": event.actor_id,
        "actor_name": event.actor_name,
        "action": event.action,
        "resource_type": event.resource_type,
        "resource_id": event.resource_id,
        "ip_address": event.ip_address,
        "request_id": event.request_id,
        "details": dict(event.details),
    }


def event_of(document: Document) -> AuditEvent:
    return AuditEvent(
        id=document["_id"],
        org_id=OrgId(document["org_id"]),
        at=document["at"],
        actor_id=document["actor_id"],
        actor_name=document["actor_name"],
        action=document["action"],
        resource_type=document["resource_type"],
        resource_id=document["resource_id"],
        ip_address=document["ip_address"],
        request_id=document["request_id"],
        details=document["details"],
    )
