import type { IncomingMessage } from 'node:http';
import { performance } from 'node:perf_hooks';
import type { Server } from '@hapi/hapi';
import type { App } from '../../shared/app.ts';
import { postFetch } from '../../shared/contracts/fetch.ts';
import type { Arrival, Check } from './check.ts';
import { createReadRefusal } from './rejections.ts';
import { createTokenBuckets } from './token-buckets.ts';

/** Maximum number of concurrent browsing requests. More would only delay each other and all fetches. */
const MAX_CONCURRENT = 256;
/** Fetches have priority for this long after the last fetch arrived. */
const FETCHES_MS = 1000;
/** The event loop utilization above which browsing beyond the guaranteed rate is reduced. */
const BUSY = 0.6;
const MEASURE_EVERY_MS = 50;
/** How the admitted share of browsing above the guaranteed rate changes: the factor when busy, and the increment when idle. */
const DECREASE = 0.7;
const INCREASE = 0.05;

/** Public pages that cost as much as browsing by the API. The page to try an endpoint is not one: it is for signed-in users. */
const PAGES = /^\/(?:(?:registry(?!\/[^/]+\/try\/)|trending|requests|docs)(?:\/|$)|llms\.txt$|$)/;

const WORDS = 'This process is busy, and fetches have priority. Try again in a moment.';

/**
 * Gives fetches priority over browsing. Browsing is always admitted up to a rate, and beyond it as long as the event loop has spare time.
 * Other browsing requests get 503 SERVICE_UNAVAILABLE with Retry-After before anything is read. Browsing means GET requests that everybody
 * may cache (contracts with `cacheSeconds`), and pages of the registry and the documentation.
 */
export function browseThrottling(server: Server, app: App): Check {
    const admission = createAdmission(app.config.browsedPerSecond);
    const refuse = createReadRefusal(server, app, { words: WORDS, message: 'reads were rejected: fetches have priority' });
    let lastFetch = Number.NEGATIVE_INFINITY;
    /** Browsing requests in progress. A finished answer that its client reads slowly does not count. */
    const inService = new Set<IncomingMessage>();
    server.ext('onPreResponse', ({ raw: { req } }, h) => {
        inService.delete(req);
        return h.continue;
    });

    return (arrival, pass) => {
        const { request, response, contract } = arrival;
        if (contract?.cacheSeconds !== undefined || isBrowsedPage(arrival)) {
            const isContested = performance.now() - lastFetch < FETCHES_MS;
            if (inService.size >= MAX_CONCURRENT || !admission.admits(isContested)) return refuse(arrival, pass);
            inService.add(request);
            response.once('close', () => inService.delete(request));
        }
        if (contract?.name === postFetch.name) lastFetch = performance.now();
        pass();
    };
}

function isBrowsedPage({ request: { method }, path = '' }: Arrival): boolean {
    return (method === 'GET' || method === 'HEAD') && PAGES.test(path);
}

/** Admits requests from a bucket that fills at the guaranteed rate, and beyond it a share that depends on the load of the event loop. */
function createAdmission(guaranteedPerSecond: number): { admits(isContested: boolean): boolean } {
    const guaranteed = createTokenBuckets({ capacity: guaranteedPerSecond, perSecond: guaranteedPerSecond });
    let share = 1;
    let measured = performance.eventLoopUtilization();
    let measuredAt = performance.now();

    return {
        admits(isContested) {
            if (guaranteed.take('')) return true;
            const now = performance.now();
            if (now - measuredAt >= MEASURE_EVERY_MS) measure(now);
            return !isContested || Math.random() < share;
        },
    };

    function measure(now: number): void {
        const utilization = performance.eventLoopUtilization();
        const busy = performance.eventLoopUtilization(utilization, measured).utilization;
        measured = utilization;
        measuredAt = now;
        share = busy > BUSY ? share * DECREASE : Math.min(1, share + INCREASE);
    }
}
