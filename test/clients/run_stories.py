"""Runs the stories with the Python client. Reads ``[{mode, base, api_key, story}]``; prints one outcome a line of input, as JSON."""

import asyncio
import inspect
import json
import os
import sys
from typing import Any, Callable, Dict

import routebook
from routebook import AsyncRoutebook, Routebook, RoutebookError, WebhookVerificationError, verify_webhook


def batch(given: Dict[str, Any]) -> Dict[str, Any]:
    count = given.pop("count", 0)
    return {"items": [{"params": {"id": number}} for number in range(count)], **given}



#: The words of the stories in Python; the asynchronous client has the same methods.
CALLS: Dict[str, Callable[[Any, Dict[str, Any]], Any]] = {
    "account": lambda client, given: client.account(),
    "catalog": lambda client, given: client.catalog(**given),
    "create_batch": lambda client, given: client.batches.create(**batch(given)),
    "fetch": lambda client, given: client.fetch(**given),
    "find": lambda client, given: client.find(**given),
    "follow_batch": lambda client, given: client.batches.results(**given),
    "job_result": lambda client, given: client.jobs.create(**given),
    "list_jobs": lambda client, given: client.jobs.list(**given),
    "list_schemas": lambda client, given: client.schemas(**given),
    "pause_batch": lambda client, given: client.batches.pause(**given),
    "price_batch": lambda client, given: client.batches.dry_run(**batch(given)),
    "publish": lambda client, given: client.publish(**given),
    "request_schema": lambda client, given: client.request_schema(**given),
    "resume_batch": lambda client, given: client.batches.resume(**given),
    "retry_batch": lambda client, given: client.batches.retry(**given),
    "run_batch": lambda client, given: client.batches.run(**batch(given)),
    "verify_webhook": lambda client, given: verify_webhook(**given),
}


def facts(error: RoutebookError) -> Dict[str, Any]:
    names = ("code", "message", "status", "fault", "retryable", "retry_after", "details", "request_id", "doc_url", "credits_used",
             "credits_remaining", "upgrade", "connect_url", "obtain_url", "upstream", "did_you_mean")
    return {**{name: getattr(error, name) for name in names}, "has_key": error.idempotency_key is not None}


async def run_async(client: Any, story: Dict[str, Any], given: Dict[str, Any], take: Any) -> Any:
    answer = CALLS[story["call"]](client, given)
    if inspect.isawaitable(answer):
        answer = await answer
    if story["call"] == "job_result":
        return await answer.result()
    if not hasattr(answer, "__aiter__"):
        return answer
    items = []
    async for item in answer:
        items.append(item)
        if len(items) == take:
            break
    return items


def run_sync(client: Any, story: Dict[str, Any], given: Dict[str, Any], take: Any) -> Any:
    answer = CALLS[story["call"]](client, given)
    if story["call"] == "job_result":
        return answer.result()
    if not hasattr(answer, "__next__"):
        return answer
    items = []
    for item in answer:
        items.append(item)
        if len(items) == take:
            break
    return items


def outcome(mode: str, base: str, api_key: str, story: Dict[str, Any]) -> Dict[str, Any]:
    options = {"api_key": api_key, **story.get("options", {})}
    given = dict(story["with"])
    take = given.pop("take", None)
    try:
        if mode == "asyncio":
            result = asyncio.run(run_async(AsyncRoutebook(base, **options), story, given, take))
        else:
            result = run_sync(Routebook(base, **options), story, given, take)
        return {"result": result, "text": json.dumps(result)}
    except RoutebookError as error:
        return {"error": facts(error)}
    except WebhookVerificationError:
        return {"error": {"code": "WEBHOOK_VERIFICATION"}}


told = {"where": os.path.dirname(routebook.__file__ or ""), "outcomes": [outcome(**each) for each in json.load(sys.stdin)]}
print(json.dumps(told))
