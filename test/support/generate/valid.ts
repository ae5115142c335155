import type { Json, JsonObject } from '../../../shared/domain/types.ts';
import { SHOP } from '../shop.ts';
import type { Operation, Parameter } from './document.ts';
import { aCall, type GeneratorWorld, somePackage } from './generator-world.ts';
import type { Random } from './random.ts';
import { valueFor } from './values.ts';

/** A request that can still be changed in one place. */
export interface Draft {
    method: string;
    /** The path with its placeholders. */
    path: string;
    /** Values of the placeholders, percent-encoded. */
    places: Record<string, string>;
    /** Values percent-encoded. */
    query: [name: string, value: string][];
    headers: Record<string, string>;
    body: Json | undefined;
    /** Sent in place of the body. */
    bytes?: Uint8Array;
}

/** Creates a valid request of an operation. `plain`: without anything optional. */
export function validRequest(operation: Operation, fixture: GeneratorWorld, random: Random, { plain = false } = {}): Draft {
    const draft: Draft = { method: operation.method, path: operation.path, places: {}, query: [], headers: {}, body: undefined };
    for (const parameter of operation.parameters) {
        const isWanted = parameter.required || (!plain && random.chance(0.4));
        if (isWanted) place(draft, parameter, wordOf(operation, parameter, fixture, random));
    }
    mendQuery(draft, operation, fixture, random);
    if (operation.auth === 'required' || (operation.auth === 'optional' && (operation.body !== undefined || operation.id === 'getCatalog')))
        draft.headers['authorization'] = `Bearer ${fixture.keys.good}`;
    else if (!plain && random.chance(0.5)) draft.headers['authorization'] = `Bearer ${fixture.keys.good}`;
    if (!plain && random.chance(0.3)) draft.headers['x-request-id'] = random.pick(['trace-7', 'no good id!', 'x'.repeat(64)]);
    // The other parameters are only for ndjson bodies. Each account may create 60 batches an hour.
    if (operation.id === 'postBatch') {
        draft.query = draft.query.filter(([name]) => name === 'dry_run');
        draft.headers['authorization'] = `Bearer ${random.pick(fixture.finders)}`;
    }
    if (operation.id === 'getEndpoints' && draft.headers['authorization'] !== undefined)
        draft.headers['authorization'] = `Bearer ${random.pick(fixture.finders)}`;
    // One client address may send 60 reports or searches a minute, so each request has a different one.
    if (['postKeyReport', 'getEndpoints'].includes(operation.id))
        draft.headers['x-forwarded-for'] = `198.18.${random.int(0, 255)}.${random.int(1, 254)}`;
    if (operation.body === undefined) return draft;
    draft.headers['content-type'] = random.pick(['application/json', 'application/json; charset=utf-8', 'Application/JSON']);
    draft.body = bodyOf(operation, fixture, random, plain);
    return draft;
}

function wordOf(operation: Operation, { name, schema }: Parameter, fixture: GeneratorWorld, random: Random): string {
    if (name === 'Idempotency-Key') return `key-${random.next()}`;
    return String(fixture.known(operation.id, name, random) ?? valueFor(schema, random, `${operation.id} ${name}`));
}

function place(draft: Draft, { name, in: where }: Parameter, text: string): void {
    if (where === 'path') draft.places[name] = encodeURIComponent(text);
    else if (where === 'query') draft.query.push([name, encodeURIComponent(text)]);
    else draft.headers[name.toLowerCase()] = text;
}

/** Makes the query valid beyond the schema: a look-up needs an intent somewhere, and a cursor belongs to its query. */
function mendQuery(draft: Draft, operation: Operation, fixture: GeneratorWorld, random: Random): void {
    if (operation.id === 'getCatalog' && draft.headers['x-service-intent'] === undefined) {
        const intent = encodeURIComponent(String(fixture.known(operation.id, 'intent', random)));
        draft.query = [['intent', intent]];
    }
    // This cursor was issued for results of every status.
    if (operation.id === 'getBatchResults' && draft.query.some(([name]) => name === 'after')) {
        draft.query = draft.query.filter(([name]) => name !== 'status');
    }
    if (!draft.query.some(([name]) => name === 'cursor')) return;
    const issued = fixture.cursors[operation.id] ?? [];
    if (issued.length === 0) draft.query = draft.query.filter(([name]) => name !== 'cursor');
    else {
        const limit = draft.query.filter(([name]) => name === 'limit');
        draft.query = [...limit, ...issued.map(([name, value]): [string, string] => [name, encodeURIComponent(value)])];
        if (operation.id !== 'getSchemas') draft.places['site'] = SHOP;
    }
}

function bodyOf(operation: Operation, fixture: GeneratorWorld, random: Random, plain: boolean): Json {
    const { body: shape = {} } = operation;
    if (operation.id === 'postSchema') return somePackage(random);
    if (operation.id === 'postBatchRetry') return plain ? {} : { codes: ['UPSTREAM_TIMEOUT'] };
    if (operation.id === 'postKeyReport') return { keys: ['rb_live_of_nobody'] };
    if (operation.id === 'postMonitor') {
        const more = { name: random.words(3), watch: 'price', identity: 'id', when: 'always', max_credits_per_day: 9, metadata: {} };
        return { site: SHOP, endpoint: 'product', params: { id: 1 }, cron: '0 8 1 1 *', ...(plain ? {} : more) };
    }
    if (operation.id === 'patchMonitor') return plain ? { status: 'active' } : { name: random.words(3), when: { expression: 'after' } };
    const all = Object.entries(shape.properties ?? {});
    const chosen = all.filter(([name]) => shape.required?.includes(name) || (!plain && random.chance(0.4)));
    const fields = chosen.length === 0 ? all.slice(0, shape.minProperties ?? 0) : chosen;
    const body: JsonObject = Object.fromEntries(
        fields.map(([name, field]) => [
            name,
            fixture.known(operation.id, name, random) ?? valueFor(field, random, `${operation.id} /${name}`),
        ]),
    );
    if (operation.id === 'postBatch') body['defaults'] = { site: SHOP, endpoint: 'product' };
    if (operation.id !== 'postFetch' && operation.id !== 'postJob') return body;
    // A cursor belongs to one call, and these fields are only for endpoints with pages.
    for (const name of ['params', 'cursor', 'max_pages', 'partial']) delete body[name];
    return { ...body, ...(plain ? { endpoint: 'product', params: { id: 1 } } : aCall(random)) };
}
