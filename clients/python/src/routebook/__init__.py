"""Client for Routebook: find endpoints of websites and call them."""

from .aio import AsyncRoutebook
from .client import Routebook
from .errors import RoutebookError
from .webhooks import WebhookVerificationError, verify_webhook

__all__ = ["AsyncRoutebook", "Routebook", "RoutebookError", "WebhookVerificationError", "verify_webhook"]
__version__ = "0.1.0"
