import { LRUCache } from 'lru-cache';
import type { App } from '../../../shared/app.ts';
import { type BatchItem, batchItem } from '../../../shared/contracts/batch-fields.ts';
import type { FetchRequest } from '../../../shared/contracts/fetch.ts';
import type { Effect } from '../../../shared/domain/types.ts';
import { checkFound } from '../../../shared/fetch/admit.ts';
import { trustedEffect } from '../../../shared/fetch/check-rights.ts';
import { type Found, findEndpoint } from '../../../shared/fetch/find-endpoint.ts';
import { orderedCall } from '../../../shared/fetch/new-job.ts';
import { type ItemDetail, invalidField, invalidFields, Refusal, refusalEntry } from '../../../shared/refusals.ts';
import type { Caller } from '../../../shared/store/accounts/callers.ts';
import type { NewItem } from '../../../shared/store/jobs/drafts.ts';
import type { Latest } from '../../../shared/store/registry/site-states.ts';
import { checkEndpoint, checkSite } from '../../auth/key-scopes.ts';
import { isTooComplex, readJsonPart } from '../../bodies/json-body.ts';
import { prepare, problemsOf } from '../../plugins/input.ts';
import { batchTurn } from './batch-turns.ts';
import { type BatchBody, type ItemText, MAX_DETAILS } from './read-items.ts';

/** How long items are validated before other work gets a turn of the event loop. */
const TURN_MS = 10;

/**
 * How many endpoints, and how many sites, of a batch are cached at most. Others are looked up again. Endpoints are cached by weak
 * references, since each may keep a package of 4 MiB in memory.
 */
const MAX_KNOWN = 1000;

/**
 * Maximum number of look-ups of a batch that may fail. One look-up costs as much as twenty items, and a body may name 100,000 unknown sites.
 * After that, an item that names another endpoint gets ENDPOINT_NOT_FOUND without a look-up.
 */
const MAX_FAILED_LOOK_UPS = 1000;

export interface BatchTotals {
    items: number;
    /** Their highest cost in credits. */
    greatestCost: number;
    /** The part of `greatestCost` for writes. */
    costOfWrites: number;
    firstUnit: number;
    needs: Effect;
    sites: Set<string>;
    endpoints: Set<string>;
    connections: Set<string>;
    ownerId: string | null;
}

type Known = { found: Found; needs: Effect } | { refusal: Refusal };

interface KnownOfBatch {
    endpoints: LRUCache<string, WeakRef<Known>>;
    /** Reads a site only once, even if many items name endpoints that it does not have. */
    readSite: Latest['find'];
    /** Number of look-ups that led to a refusal. */
    refused: number;
}

function openKnown({ latest }: App): KnownOfBatch {
    const sites = new LRUCache<string, ReturnType<Latest['find']>>({ max: MAX_KNOWN });
    return {
        refused: 0,
        endpoints: new LRUCache({ max: MAX_KNOWN }),
        readSite(question) {
            const key = JSON.stringify(question);
            const state = sites.get(key) ?? latest.find(question);
            sites.set(key, state);
            return state;
        },
    };
}

/**
 * Validates all items like fetches, looking up each endpoint once, and passes valid items to `store` until one is invalid.
 * @throws Refusal VALIDATION_ERROR with the first problems of the body and its items; errors that do not concern an item, such as
 * SERVICE_UNAVAILABLE
 */
export async function checkItems(app: App, caller: Caller, body: BatchBody, store: (item: NewItem) => Promise<void>): Promise<BatchTotals> {
    const known = openKnown(app);
    const customIds = new Set<string>();
    const details: ItemDetail[] = body.problems.slice(0, MAX_DETAILS);
    let problems = body.problems.length;
    const totals: BatchTotals = {
        items: 0,
        greatestCost: 0,
        costOfWrites: 0,
        firstUnit: 0,
        needs: 'read',
        sites: new Set(),
        endpoints: new Set(),
        connections: new Set(),
        ownerId: null,
    };
    const report = ({ at }: ItemText, found: readonly ItemDetail[]) => {
        problems += found.length;
        for (const one of found.slice(0, MAX_DETAILS - details.length)) {
            const line = body.isLines && at !== '/items' ? `Line ${at.slice('/lines/'.length)}: ` : '';
            details.push({ ...one, path: at === '/items' ? at : `${at}${one.path}`, message: `${line}${one.message}` });
        }
    };
    let turn = performance.now();
    for await (const one of body.items) {
        if (performance.now() - turn > TURN_MS) {
            await batchTurn(app, caller);
            turn = performance.now();
        }
        const read = readItem(one, body, customIds);
        if (!read.ok) {
            report(one, read.problems);
            continue;
        }
        try {
            const suggests = details.length < MAX_DETAILS;
            const item = await checkItem(app, caller, { ...body.fields.defaults, ...read.item }, { known, suggests });
            if (totals.items === 0) totals.firstUnit = item.job.unit;
            totals.items += 1;
            totals.greatestCost += item.cost;
            if (item.job.needs === 'write') totals.costOfWrites += item.cost;
            addToTotals(totals, item.job);
            if (problems === 0) await store(item.job);
        } catch (error) {
            if (!isOfItem(error)) throw error;
            report(one, detailsOf(error));
        }
    }
    if (problems > 0) throw invalidFields(details, problems);
    return totals;
}

/** Memory that a custom_id takes besides its characters. */
const CUSTOM_ID_BYTES = 64;

const itemSchema = prepare(batchItem, { convert: false });

function readItem(
    { text }: ItemText,
    { isLines, keep }: BatchBody,
    customIds: Set<string>,
): { ok: true; item: BatchItem } | { ok: false; problems: readonly ItemDetail[] } {
    if (typeof text !== 'string') return { ok: false, problems: [text.problem] };
    const read = readJsonPart(text, { guard: true, hasParams: true });
    if (read === undefined) {
        if (!isLines) throw new Refusal('INVALID_JSON');
        return { ok: false, problems: [{ path: '', code: 'INVALID_JSON', message: 'This is not valid JSON.' }] };
    }
    if (isTooComplex(read)) return { ok: false, problems: read.faults };
    const { value, error } = itemSchema.validate(read.value);
    const problems: ItemDetail[] = [...read.faults, ...problemsOf(error?.details ?? [])];
    if (problems.length > 0) return { ok: false, problems };
    const asked = value as BatchItem;
    const { custom_id: name } = asked;
    if (name === undefined) return { ok: true, item: asked };
    if (customIds.has(name))
        return { ok: false, problems: [{ path: '/custom_id', code: 'REPEATED', message: 'Another item has the same custom_id.' }] };
    customIds.add(name);
    keep(CUSTOM_ID_BYTES + name.length);
    return { ok: true, item: asked };
}

async function checkItem(
    app: App,
    caller: Caller,
    { custom_id: customId, ...asked }: BatchItem,
    { known, suggests }: { known: KnownOfBatch; suggests: boolean },
): Promise<{ job: NewItem; cost: number }> {
    const { site, endpoint } = asked;
    if (site === undefined || endpoint === undefined) throw missing(site === undefined ? 'site' : 'endpoint');
    const body: FetchRequest = { ...asked, site, endpoint };
    const { found, needs } = await lookUp(app, body, known);
    const { sites, endpoints } = caller.scopes.listed;
    checkSite(sites, found.site);
    checkEndpoint(endpoints, found.endpoint.name);
    // The price is confirmed for the batch, not per item.
    const { price, connection } = await checkFound(app, { caller: { ...caller, confirmAbove: null }, body, suggests }, found);
    const job = { ...(await orderedCall(app, body, { found, price, connection }, needs)), customId: customId ?? null };
    return { job, cost: price.unit * price.maxUnits };
}

function missing(field: 'site' | 'endpoint'): Refusal {
    return invalidField(`/${field}`, `${field} is required, here or in the defaults.`, 'REQUIRED');
}

/** Finds the endpoint of an item. @throws Refusal the error that a call of this endpoint would get */
async function lookUp(app: App, body: FetchRequest, known: KnownOfBatch): Promise<Extract<Known, { found: Found }>> {
    const question = JSON.stringify([body.site, body.endpoint, body.version]);
    let answer = known.endpoints.get(question)?.deref();
    if (answer === undefined) {
        if (known.refused >= MAX_FAILED_LOOK_UPS) throw new Refusal('ENDPOINT_NOT_FOUND');
        answer = await findOnce(app, body, known.readSite);
        known.endpoints.set(question, new WeakRef(answer));
        if ('refusal' in answer) known.refused += 1;
    }
    if ('refusal' in answer) throw answer.refusal;
    return answer;
}

async function findOnce(app: App, body: FetchRequest, readSite: Latest['find']): Promise<Known> {
    try {
        const found = await findEndpoint(app, body, { find: readSite, isLater: true });
        return found.ok ? { found, needs: await trustedEffect(app, found) } : { refusal: found.refusal };
    } catch (error) {
        if (!isOfItem(error)) throw error;
        return { refusal: error };
    }
}

/** Whether an error concerns the item and not the state of the service or the site. */
function isOfItem(error: unknown): error is Refusal {
    if (!(error instanceof Refusal)) return false;
    const { status } = refusalEntry(error.code);
    return status < 500 && status !== 429;
}

/** The field that an error without details refers to. */
const FIELDS: Readonly<Record<string, string>> = {
    INVALID_DOMAIN: '/site',
    SITE_NOT_FOUND: '/site',
    SITE_BLOCKED: '/site',
    ENDPOINT_NOT_FOUND: '/endpoint',
    ENDPOINT_NOT_HOSTED: '/endpoint',
    VERSION_NOT_FOUND: '/version',
};

function detailsOf({ code, message, extras: { details = [] } }: Refusal): readonly ItemDetail[] {
    if ((code === 'INVALID_PARAMS' || code === 'VALIDATION_ERROR') && details.length > 0) return details;
    return [{ path: FIELDS[code] ?? '', code, message }];
}

function addToTotals(totals: BatchTotals, { site, endpoint, needs, connectionId, ownerId }: NewItem): void {
    totals.sites.add(site);
    totals.endpoints.add(endpoint);
    if (needs === 'write') totals.needs = 'write';
    if (connectionId !== null) totals.connections.add(connectionId);
    totals.ownerId ??= ownerId;
}
