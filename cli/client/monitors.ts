import { data, getRequest, listItems, Resource, writeRequest } from './calls.ts';
import type { Listing } from './listing.ts';
import type { CallOptions } from './transport.ts';
import type { Job, Monitor, MonitorChange, MonitorChanges, MonitorOrder, MonitorRun, MonitorStatus } from './types.ts';

/** Scheduled calls that report changes of their results. The key needs the scope jobs. */
export class Monitors extends Resource {
    /** Requires exactly one of `every` and `cron`. The first run stores the base value and reports no change. */
    create(order: MonitorOrder, options?: CallOptions): Promise<Monitor> {
        // Not repeatable: sent twice, it creates two monitors.
        return data(this.transport, { ...writeRequest('POST', '/v1/monitors'), body: order, isRepeatable: false }, options);
    }

    /** Newest first. */
    list(query: { status?: MonitorStatus; limit?: number } = {}, options?: CallOptions): Listing<Monitor> {
        return listItems(this.transport, '/v1/monitors', { ...query }, options);
    }

    get(monitorId: string, options?: CallOptions): Promise<Monitor> {
        return data(this.transport, getRequest(pathOf(monitorId)), options);
    }

    /** Omitted fields are unchanged; null removes a value. Later runs have the rights of this key. */
    update(monitorId: string, changes: MonitorChanges, options?: CallOptions): Promise<Monitor> {
        return data(this.transport, { ...writeRequest('PATCH', pathOf(monitorId)), body: changes }, options);
    }

    pause(monitorId: string, options?: CallOptions): Promise<Monitor> {
        return this.update(monitorId, { status: 'paused' }, options);
    }

    resume(monitorId: string, options?: CallOptions): Promise<Monitor> {
        return this.update(monitorId, { status: 'active' }, options);
    }

    /** Deletes its runs and changes too. */
    delete(monitorId: string, options?: CallOptions): Promise<{ monitor_id: string; deleted: true }> {
        return data(this.transport, writeRequest('DELETE', pathOf(monitorId)), options);
    }

    /** Runs it now and returns the job of the run. If an earlier run has not ended, returns the job of that run. */
    run(monitorId: string, options?: CallOptions): Promise<Job> {
        return data(this.transport, { ...writeRequest('POST', `${pathOf(monitorId)}/run`), isRepeatable: false }, options);
    }

    /** Changes, newest first; the latest 100 are kept. */
    changes(monitorId: string, query: { limit?: number } = {}, options?: CallOptions): Listing<MonitorChange> {
        return listItems(this.transport, `${pathOf(monitorId)}/changes`, query, options);
    }

    /** Newest first; the latest 100 are kept. */
    runs(monitorId: string, query: { limit?: number } = {}, options?: CallOptions): Listing<MonitorRun> {
        return listItems(this.transport, `${pathOf(monitorId)}/runs`, query, options);
    }
}

function pathOf(monitorId: string): string {
    return `/v1/monitors/${encodeURIComponent(monitorId)}`;
}
