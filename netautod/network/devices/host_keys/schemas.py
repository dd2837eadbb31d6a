"""Answers about changed host keys."""

from marshmallow import fields

from netautod.core.schema.bases import Answer, Id, Timestamp


class HostKeyPromptAnswer(Answer):
    id = Id()
    host = fields.String()
    port = fields.Integer()
    device_id = Id()
    device_name = fields.String()
    is_changed_key = fields.Boolean()
    fingerprint = fields.String()
    previous_fingerprint = fields.String()
    created_at = Timestamp()


class HostKeyPromptItem(HostKeyPromptAnswer):
    class Meta(Answer.Meta):
        many = True
