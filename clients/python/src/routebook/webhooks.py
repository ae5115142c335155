"""Verification of webhooks: Standard Webhooks, signed with HMAC-SHA256."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import time
from typing import Any, Dict, Mapping, Union

#: Seconds by which the timestamp may differ from now.
TOLERANCE = 300


class WebhookVerificationError(Exception):
    """The webhook has no valid signature, or is too old."""


def verify_webhook(headers: Mapping[str, str], body: Union[str, bytes], secret: str) -> Dict[str, Any]:
    """Returns the verified event, `{id, type, timestamp, data}`. ``body`` is the raw body; ``secret`` begins with ``whsec_``.

    :raises WebhookVerificationError: if the request is not genuine
    """
    named = {name.lower(): value for name, value in headers.items()}
    try:
        message_id, sent_at, signatures = named["webhook-id"], named["webhook-timestamp"], named["webhook-signature"]
    except KeyError as missing:
        raise WebhookVerificationError(f"the header {missing.args[0]} is missing") from None
    if not sent_at.isdigit() or abs(time.time() - int(sent_at)) > TOLERANCE:
        raise WebhookVerificationError("the timestamp is not within five minutes")
    try:
        key = base64.b64decode(secret[len("whsec_"):] if secret.startswith("whsec_") else secret, validate=True)
    except binascii.Error:
        raise WebhookVerificationError("the secret is not base64") from None
    content = body.encode() if isinstance(body, str) else body
    expected = hmac.new(key, f"{message_id}.{sent_at}.".encode() + content, hashlib.sha256).digest()
    for signature in signatures.split(" "):
        version, _, value = signature.partition(",")
        if version == "v1" and hmac.compare_digest(base64.b64encode(expected).decode(), value):
            event = json.loads(content)
            if isinstance(event, dict):
                return {"id": message_id, **event}
    raise WebhookVerificationError("no signature fits")
