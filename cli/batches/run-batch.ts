import { defined } from '../../shared/domain/defined.ts';
import { BATCH_ARRIVAL_MS } from '../../shared/domain/jobs/bounds.ts';
import { type CallOptions, declaredParams } from '../calling/fetch-endpoint.ts';
import { type Batch, type BatchDryRun, type BatchOrder, RoutebookError } from '../client/index.ts';
import { formatSeconds } from '../format-seconds.ts';
import { awaitInterruption } from '../interruption.ts';
import { type Done, PATIENT, type Patience, type Session } from '../session.ts';
import { PROGRAM } from '../settings.ts';
import { checkWritable, type FollowTo, followBatch } from './follow-batch.ts';
import { readItems, readMap } from './read-items.ts';

/** The server accepts an upload for ten minutes. */
const UPLOAD: Patience = { ...PATIENT, timeoutMs: BATCH_ARRIVAL_MS.all };

interface RunOptions extends FollowTo, Omit<CallOptions, 'param' | 'params' | 'maxPages'> {
    site: string;
    endpoint: string;
    map?: readonly string[];
    name?: string;
    stopAfterFailures?: number;
    expiresIn?: number;
    dryRun?: true;
    detach?: true;
}

/** `routebook batch run FILE`: calls an endpoint for each item of a file and writes results as items end. */
export async function runBatch(session: Session, file: string, options: RunOptions): Promise<Done> {
    const { terminal } = session;
    const client = session.client();
    const params = await declaredParams(client, options, { mustExist: true });
    const items = await readItems(terminal, file, { map: readMap(options.map), params });
    const order = defined<BatchOrder>({
        items,
        defaults: defaultsOf(options),
        name: options.name,
        max_credits: options.maxCredits,
        stop_after_failures: options.stopAfterFailures,
        expires_in: options.expiresIn,
    });
    try {
        if (options.dryRun === true) return presentPrice(await session.client(UPLOAD).batches.dryRun(order));
        if (options.out !== undefined && options.detach !== true) await checkWritable(options.out);
        // The batch continues on the server from here on, so Ctrl-C must print its id.
        const interruption = awaitInterruption();
        const batch = await session
            .client(UPLOAD)
            .batches.create(order)
            .catch((error: unknown) => {
                interruption.end();
                throw error;
            });
        if (options.detach === true) {
            interruption.end();
            return presentStarted(batch);
        }
        session.note(`batch ${batch.batch_id}: ${many(items.length, 'item')}`);
        return await followBatch(session, batch.batch_id, options, interruption);
    } catch (error) {
        const [, at] = error instanceof RoutebookError ? (/^\/items\/(\d+)/.exec(error.details[0]?.path ?? '') ?? []) : [];
        if (at !== undefined) session.note(`Items are counted from 0: /items/${at} is item ${count(Number(at) + 1)} of ${file}.`);
        if (error instanceof RoutebookError && error.problems !== undefined && error.problems > error.details.length) {
            session.note(`${count(error.problems)} problems in all; the first ${error.details.length} are listed.`);
        }
        throw error;
    }
}

function defaultsOf({ site, endpoint, version, maxResults, maxAge, timeout, connection }: RunOptions): NonNullable<BatchOrder['defaults']> {
    return defined({ site, endpoint, version, max_results: maxResults, max_age: maxAge, timeout_ms: timeout, connection });
}

/** What to do about a warning of the server. */
const WARNINGS: Readonly<Record<string, string>> = {
    EXPIRES_BEFORE_END:
        ': some items would expire before they start. Send fewer, give them more time (--expires-in, up to 30 days), or take a larger plan.',
};

function presentPrice(result: BatchDryRun): Done {
    const time =
        result.eta_seconds === null ? [] : [`They would take about ${formatSeconds(result.eta_seconds)} at the limits of your plan.`];
    const price = `Nothing was created. ${many(result.items, 'item')} would cost at most ${many(result.credits.max, 'credit')}.`;
    return { result, lines: [price, ...time, ...result.warnings.map((warning) => `! ${warning}${WARNINGS[warning] ?? ''}`)] };
}

function presentStarted(batch: Batch): Done {
    return { result: batch, lines: [batch.batch_id, `Get the results: ${PROGRAM} batch follow ${batch.batch_id}`] };
}

/** `2,000 items` */
function many(number: number, one: string): string {
    return `${count(number)} ${one}${number === 1 ? '' : 's'}`;
}

function count(items: number): string {
    return items.toLocaleString('en');
}
