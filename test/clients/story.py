"""What users of the client do, against a running Routebook and a server that says no. Prints one JSON object."""

import asyncio
import json
import os
import sys
from typing import Any, Dict

from routebook import AsyncRoutebook, Routebook, RoutebookError, WebhookVerificationError, verify_webhook

given = json.loads(sys.stdin.read())
site = given["site"]
told: Dict[str, Any] = {}


def failure(call: Any) -> Dict[str, Any]:
    try:
        call()
    except RoutebookError as error:
        return {"code": error.code, "retryable": error.retryable, "fault": error.fault, "details": error.details,
                "has_key": error.idempotency_key is not None, "request": error.request_id is not None,
                "upstream": error.upstream, "retry_after": error.retry_after}
    return {"code": None}


routebook = Routebook()
answer = routebook.fetch(site, "product", {"id": 7})
told["fetch"] = {"data": answer["data"], "credits_used": answer["meta"]["credits_used"]}
told["missing"] = failure(lambda: routebook.fetch(site, "no_such_endpoint"))
told["invalid"] = failure(lambda: routebook.fetch(site, "product", {"id": "x"}))
told["upstream"] = failure(lambda: routebook.fetch(site, "gone"))
told["sites"] = sorted(card["site"] for card in routebook.schemas(limit=1))
told["find"] = [found["endpoint"] for found in routebook.find("a product of the shop", site=site)["data"]]
told["account"] = routebook.account()["plan"]
told["job"] = routebook.jobs.create(site, "product", {"id": 8}).result(30)["data"]
told["failed_job"] = failure(lambda: routebook.jobs.create(site, "gone").result(30))
items = routebook.batches.run([{"params": {"id": number}, "custom_id": f"p{number}"} for number in range(1, 6)], site=site, endpoint="product")
told["batch"] = {item["custom_id"]: item["result"]["data"]["id"] for item in items}

flaky = Routebook(given["flaky"], "rb_live_test")
told["retried"] = flaky.fetch(site, "product", {"id": 1})["data"]
told["refused"] = failure(lambda: Routebook(given["refusing"], "rb_live_test").fetch(site, "product"))
told["slow"] = failure(lambda: Routebook(given["slow"], "rb_live_test", timeout=0.3).fetch(site, "product"))
told["nobody"] = failure(lambda: Routebook("http://127.0.0.1:1", max_retries=0).account())
told["page"] = failure(lambda: Routebook(given["page"], max_retries=0).account())

webhook = given["webhook"]
told["webhook"] = verify_webhook(webhook["headers"], webhook["body"], webhook["secret"])["type"]
try:
    verify_webhook(webhook["headers"], webhook["body"] + " ", webhook["secret"])
    told["forged"] = "taken"
except WebhookVerificationError as error:
    told["forged"] = str(error)


async def several() -> Any:
    client = AsyncRoutebook()
    answers = await asyncio.gather(*(client.fetch(site, "product", {"id": number}) for number in (1, 2, 3)))
    job = await client.jobs.create(site, "product", {"id": 9})
    sites = [card["site"] async for card in client.schemas()]
    return [one["data"]["id"] for one in answers], (await job.result(30))["data"]["id"], sites


told["several"], told["async_job"], told["async_sites"] = asyncio.run(several())
told["where"] = os.path.dirname(sys.modules["routebook"].__file__ or "")
print(json.dumps(told))
