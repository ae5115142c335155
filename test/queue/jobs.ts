import type { FetchJob, FetchOutcome } from '../../shared/domain/fetch/fetch-job.ts';
import { newId } from '../../shared/domain/text/ids.ts';
import type { JsonObject } from '../../shared/domain/types.ts';
import { patienceFor } from '../support/eventually.ts';

export interface Place {
    databaseUrl: string;
    redisUrl?: string;
    keyPrefix: string;
}

export const silent = { info() {}, warn() {}, error() {} };

/** A call that is admitted now and must be answered within `timeoutMs`. */
export function aJob(changes: Partial<FetchJob> = {}, timeoutMs = 10_000): FetchJob {
    const now = Date.now();
    return {
        operation: newId('op'),
        requestId: 'req_test',
        site: 'shop.example',
        versionId: 1,
        endpoint: 'product',
        effect: 'read',
        values: '{}',
        deadlineAt: now + timeoutMs,
        admittedAt: now,
        maxResults: 1,
        maxPages: 1,
        run: 1,
        ...changes,
    };
}

/** A worker's outcome of a successful call. */
export function success(data: Record<string, string> = {}): FetchOutcome {
    const upstream = { status: 200, attempts: 1, durationMs: 1, bytes: 2 };
    return {
        ok: true,
        text: JSON.stringify(data),
        results: 1,
        requests: 1,
        truncated: false,
        mayKeep: false,
        upstream,
        startedAt: Date.now(),
    };
}

/** The data that the caller of a successful call gets. */
export function dataOf(outcome: FetchOutcome): JsonObject | undefined {
    return outcome.ok ? (JSON.parse(outcome.text) as JsonObject) : undefined;
}

/** Polls until the condition is true, or fails after `limitMs`. */
export async function eventually(what: string, isSo: () => boolean | Promise<boolean>, limitMs = 10_000): Promise<void> {
    const end = performance.now() + patienceFor(limitMs);
    while (!(await isSo())) {
        if (performance.now() > end) throw new Error(`never came true: ${what}`);
        await new Promise((resolve) => setTimeout(resolve, 10));
    }
}

export function isUp(part: { ping(): Promise<void> }): Promise<boolean> {
    return part.ping().then(
        () => true,
        () => false,
    );
}
