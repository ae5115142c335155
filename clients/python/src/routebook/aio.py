"""The client for asyncio. Each call runs in a thread and does not block the event loop."""

from __future__ import annotations

import asyncio
import functools
from typing import Any, AsyncIterator, Callable, Iterator, Mapping, Optional, TypeVar

from .batches import Batches
from .client import Routebook
from .jobs import Job, Jobs
from .lists import Json
from .monitors import Monitors

Result = TypeVar("Result")


class AsyncRoutebook:
    """Accepts the arguments of :class:`Routebook`. Methods are coroutines, lists are asynchronous iterators."""

    def __init__(self, *args: Any, **options: Any) -> None:
        self._client = Routebook(*args, **options)
        self.jobs = AsyncJobs(self._client.jobs)
        self.batches = AsyncBatches(self._client.batches)
        self.monitors = AsyncMonitors(self._client.monitors)

    async def find(self, task: str, **query: Any) -> Json:
        return await _run(self._client.find, task, **query)

    async def catalog(self, domain: str, intent: str) -> Json:
        return await _run(self._client.catalog, domain, intent)

    async def fetch(self, site: str, endpoint: str, params: Optional[Mapping[str, Any]] = None, **order: Any) -> Json:
        return await _run(self._client.fetch, site, endpoint, params, **order)

    def schemas(self, **query: Any) -> AsyncIterator[Json]:
        return _iterate(self._client.schemas(**query))

    async def card(self, site: str) -> Json:
        return await _run(self._client.card, site)

    async def package(self, site: str, **options: Any) -> Json:
        return await _run(self._client.package, site, **options)

    async def trending(self, window: str = "7d") -> Json:
        return await _run(self._client.trending, window)

    async def categories(self) -> Any:
        return await _run(self._client.categories)

    async def account(self) -> Json:
        return await _run(self._client.account)

    async def request_schema(self, **request: Any) -> Json:
        return await _run(self._client.request_schema, **request)

    async def publish(self, package: Mapping[str, Any], **options: Any) -> Json:
        return await _run(self._client.publish, package, **options)


class AsyncJob:
    def __init__(self, job: Job) -> None:
        self._job = job

    @property
    def job_id(self) -> str:
        return self._job.job_id

    @property
    def state(self) -> Json:
        return self._job.state

    async def refresh(self, wait: int = 0) -> "AsyncJob":
        await _run(self._job.refresh, wait)
        return self

    async def result(self, timeout: Optional[float] = None) -> Json:
        return await _run(self._job.result, timeout)

    async def cancel(self) -> "AsyncJob":
        await _run(self._job.cancel)
        return self


class AsyncJobs:
    def __init__(self, jobs: Jobs) -> None:
        self._jobs = jobs

    async def create(self, site: str, endpoint: str, params: Optional[Mapping[str, Any]] = None, **order: Any) -> AsyncJob:
        return AsyncJob(await _run(self._jobs.create, site, endpoint, params, **order))

    async def get(self, job_id: str) -> AsyncJob:
        return AsyncJob(await _run(self._jobs.get, job_id))

    def list(self, **query: Any) -> AsyncIterator[Json]:
        return _iterate(self._jobs.list(**query))


class AsyncBatches:
    def __init__(self, batches: Batches) -> None:
        self._batches = batches

    async def create(self, items: Any, **batch: Any) -> Json:
        return await _run(self._batches.create, items, **batch)

    async def dry_run(self, items: Any, **batch: Any) -> Json:
        return await _run(self._batches.dry_run, items, **batch)

    async def get(self, batch_id: str, wait: int = 0) -> Json:
        return await _run(self._batches.get, batch_id, wait)

    def list(self, **query: Any) -> AsyncIterator[Json]:
        return _iterate(self._batches.list(**query))

    def results(self, batch_id: str, after: Optional[str] = None) -> AsyncIterator[Json]:
        return _iterate(self._batches.results(batch_id, after))

    async def run(self, items: Any, **batch: Any) -> AsyncIterator[Json]:
        created = await self.create(items, **batch)
        async for item in self.results(created["batch_id"]):
            yield item

    async def pause(self, batch_id: str) -> Json:
        return await _run(self._batches.pause, batch_id)

    async def resume(self, batch_id: str, **limits: int) -> Json:
        return await _run(self._batches.resume, batch_id, **limits)

    async def cancel(self, batch_id: str) -> Json:
        return await _run(self._batches.cancel, batch_id)

    async def retry(self, batch_id: str, codes: Any = None) -> Json:
        return await _run(self._batches.retry, batch_id, codes)


class AsyncMonitors:
    def __init__(self, monitors: Monitors) -> None:
        self._monitors = monitors

    async def create(self, site: str, endpoint: str, params: Optional[Mapping[str, Any]] = None, **order: Any) -> Json:
        return await _run(self._monitors.create, site, endpoint, params, **order)

    def list(self, **query: Any) -> AsyncIterator[Json]:
        return _iterate(self._monitors.list(**query))

    async def get(self, monitor_id: str) -> Json:
        return await _run(self._monitors.get, monitor_id)

    async def update(self, monitor_id: str, **changes: Any) -> Json:
        return await _run(self._monitors.update, monitor_id, **changes)

    async def pause(self, monitor_id: str) -> Json:
        return await _run(self._monitors.pause, monitor_id)

    async def resume(self, monitor_id: str) -> Json:
        return await _run(self._monitors.resume, monitor_id)

    async def delete(self, monitor_id: str) -> Json:
        return await _run(self._monitors.delete, monitor_id)

    async def run(self, monitor_id: str) -> AsyncJob:
        return AsyncJob(await _run(self._monitors.run, monitor_id))

    def changes(self, monitor_id: str) -> AsyncIterator[Json]:
        return _iterate(self._monitors.changes(monitor_id))

    def runs(self, monitor_id: str) -> AsyncIterator[Json]:
        return _iterate(self._monitors.runs(monitor_id))


async def _run(call: Callable[..., Result], *args: Any, **options: Any) -> Result:
    # Not asyncio.to_thread, so that the loop's default executor stays free for the program.
    return await asyncio.get_running_loop().run_in_executor(None, functools.partial(call, *args, **options))


async def _iterate(items: Iterator[Json]) -> AsyncIterator[Json]:
    end = object()
    while True:
        item: Any = await _run(next, items, end)
        if item is end:
            return
        yield item
