"""The errors of failed calls."""

from __future__ import annotations

from typing import Any, Dict, List, Optional


class RoutebookError(Exception):
    """A failed call, with the server's message if it answered.

    Codes of this client: ``NETWORK_ERROR`` (no answer), ``TIMEOUT`` (no answer in time), ``INVALID_ANSWER`` (an answer
    that is too long or not from Routebook), ``NO_RESULT`` (a job ended without a result) and ``BATCH_PAUSED`` (a batch is paused).
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        status: int = 0,
        fault: str = "service",
        retryable: bool = False,
        retry_after: Optional[int] = None,
        details: Optional[List[Dict[str, Any]]] = None,
        request_id: Optional[str] = None,
        doc_url: Optional[str] = None,
        credits_used: Optional[int] = None,
        credits_remaining: Optional[int] = None,
        upgrade: Optional[Dict[str, str]] = None,
        connect_url: Optional[str] = None,
        obtain_url: Optional[str] = None,
        upstream: Optional[Dict[str, Any]] = None,
        did_you_mean: Optional[List[str]] = None,
        idempotency_key: Optional[str] = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        #: The HTTP status; 0 without an answer.
        self.status = status
        self.fault = fault
        #: Whether the same call may succeed later.
        self.retryable = retryable
        #: Whole seconds.
        self.retry_after = retry_after
        self.details = details or []
        self.request_id = request_id
        self.doc_url = doc_url
        self.credits_used = credits_used
        self.credits_remaining = credits_remaining
        self.upgrade = upgrade
        #: Where a person connects the site that needs a credential.
        self.connect_url = connect_url
        #: Where people get that credential.
        self.obtain_url = obtain_url
        self.upstream = upstream
        self.did_you_mean = did_you_mean or []
        #: For writes: repeat the call with this key, so that nothing is done or charged twice.
        self.idempotency_key = idempotency_key

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"


def failure_of(status: int, body: Any, retry_after_header: Optional[str]) -> RoutebookError:
    """The error of an unsuccessful answer, which may also come from a proxy."""
    header = int(retry_after_header) if retry_after_header is not None and retry_after_header.isdigit() else None
    error = body.get("error") if isinstance(body, dict) else None
    if not isinstance(error, dict) or not isinstance(error.get("code"), str) or "message" not in error:
        return RoutebookError(
            "INVALID_ANSWER",
            f"The address answered {status}, but not with an answer of Routebook.",
            status=status,
            # An answer of an intermediary, such as a proxy during a deployment.
            retryable=status in (502, 503, 504),
            retry_after=header,
        )
    meta = body.get("meta") or {}
    upgrade_to, upgrade_url = error.get("upgrade_to"), error.get("upgrade_url")
    return RoutebookError(
        error["code"],
        error["message"],
        status=status,
        fault=error.get("fault", "service"),
        retryable=bool(error.get("retryable", False)),
        retry_after=error.get("retry_after", header),
        details=error.get("details"),
        request_id=error.get("request_id"),
        doc_url=error.get("doc_url"),
        credits_used=meta.get("credits_used"),
        credits_remaining=meta.get("credits_remaining"),
        upgrade={"to": upgrade_to, "url": upgrade_url} if upgrade_to and upgrade_url else None,
        connect_url=error.get("connect_url"),
        obtain_url=error.get("obtain_url"),
        upstream=error.get("upstream"),
        did_you_mean=error.get("did_you_mean"),
    )
