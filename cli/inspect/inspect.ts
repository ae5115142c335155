/**
 * The three calls of this module: `routebook inspect FILE.har` calls `inspect({ har: FILE }, options)`; `routebook inspect openapi.json`
 * calls `inspect({ openapi: FILE }, options)`; `routebook inspect https://site/` calls `inspect({ recording: record(url, …) }, options)`
 * with `record` of `record.ts`. `options.confirmExample` asks the contributor. Without it, the draft of a recording has no examples.
 */

import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { normaliseSite } from '../../shared/domain/site/site-name.ts';
import type { PackageDocument } from '../../shared/domain/types.ts';
import { importDocument } from '../import/import.ts';
import { readDocument } from '../import/read-document.ts';
import { addAuth } from './drafts/auth.ts';
import { guessCategory } from './drafts/category.ts';
import { describeBySite } from './drafts/describe-by-site.ts';
import { draftEndpoint } from './drafts/endpoint.ts';
import { readRouteTexts } from './drafts/route-texts.ts';
import { thingNames } from './drafts/thing-names.ts';
import type { ExampleCandidate } from './example-candidate.ts';
import { addExamples } from './examples.ts';
import { CutShort, type Element, streamElements } from './exchanges/json-elements.ts';
import { createLedger, type InspectReport, type Ledger } from './exchanges/report.ts';
import { areReports } from './exchanges/visit-reports.ts';
import { type Collection, collect, domainOf } from './routes/collect.ts';
import { settleDispatch } from './routes/dispatch.ts';
import { foldGroups } from './routes/fold.ts';
import { withoutLayout } from './routes/form-inputs.ts';
import { dropTimes, type Group } from './routes/groups.ts';
import { type Settled, settle } from './settle.ts';
import { describeSite } from './words/describe.ts';

export type InspectSource =
    | { har: string | Readable }
    | { openapi: string }
    /** Entries of a HAR file (`log.entries[]`), as a stream. */
    | { recording: AsyncIterable<unknown> };

export interface InspectOptions {
    /** The site's name. By default, the domain with the largest share of the recording. */
    site?: string;
    title?: string;
    /** A path of the taxonomy. By default, the category is guessed. */
    category?: string;
    /** Ports other than 443 that the registry accepts (its EGRESS_ALLOW). By default, none. */
    isPortAllowed?: (port: number) => boolean;
    /** Shows the contributor the params of a recorded call. Returns whether they may be published as an example. */
    confirmExample?: (candidate: ExampleCandidate) => boolean | Promise<boolean>;
    /** Called at intervals with the number of exchanges read. */
    onProgress?: (read: number) => void;
}

export interface Inspected {
    /** A draft. It passes the server's rules if `report.leftToDo` contains only warnings. */
    package: PackageDocument;
    report: InspectReport;
}

const THEY_REPORT = 'they say when or where something happened, and all of them get the same answer';
/** Larger exchanges are skipped. No API responds with so much. */
const MAX_ENTRY = 48 * 1024 * 1024;
/** docs/api.md, "Schema packages". */
const MAX_ENDPOINTS = 500;

/**
 * Drafts a package from a recording or an OpenAPI document. Only types, names and words of programs enter the draft of a recording.
 * Credentials are removed while they are read, and recorded values never leave this function.
 * @throws Error if the file cannot be read or has another format
 */
export async function inspect(source: InspectSource, options: InspectOptions = {}): Promise<Inspected> {
    if ('openapi' in source) return fromDocument(await readDocument(source.openapi), options);
    const ledger = createLedger();
    const named = options.site === undefined ? undefined : normaliseSite(options.site);
    const entries = 'har' in source ? harEntries(source.har, ledger) : readElements(source.recording);
    const collection = await collect(entries, ledger, {
        domain: named?.ok === true ? named.registrable : undefined,
        keepsSamples: options.confirmExample !== undefined,
        onProgress: options.onProgress,
    });
    return await draft(collection, ledger, options);
}

async function* harEntries(har: string | Readable, ledger: Ledger): AsyncGenerator<Element> {
    const bytes = typeof har === 'string' ? createReadStream(har, { highWaterMark: 1024 * 1024 }) : har;
    try {
        yield* streamElements(bytes, ['log', 'entries'], { maxBytes: MAX_ENTRY });
    } catch (error) {
        if (!(error instanceof CutShort)) throw error;
        ledger.drop('The end of the recording', 'the file ends before its JSON does; the part before was read');
    }
}

async function* readElements(entries: AsyncIterable<unknown>): AsyncGenerator<Element> {
    for await (const value of entries) yield { ok: true, value };
}

async function draft(collection: Collection, ledger: Ledger, options: InspectOptions): Promise<Inspected> {
    const { site, domain } = siteOf(collection, options);
    const routes = routesOf(collection, domain, ledger);
    const routeTexts = readRouteTexts(routes, collection);
    const drafted = draftAll(routes, thingNames(routes, routeTexts, collection), collection.tokens, ledger);
    const described = describeBySite(drafted, routeTexts, collection);
    const guess = guessCategory([site, ...routes.flatMap(wordsOf)]);
    const complete: PackageDocument = {
        format: 'routebook/1',
        site,
        title: options.title ?? site,
        description:
            described.site ??
            describeSite(
                site,
                drafted.map(({ endpoint }) => endpoint),
            ),
        intent_category: options.category ?? guess.category,
        endpoints: await addExamples(drafted, options.confirmExample),
    };
    const isPortAllowed = options.isPortAllowed ?? (() => false);
    const first = settle(complete, isPortAllowed);
    const groups = new Map(drafted.map(({ endpoint, group }) => [endpoint.name, group]));
    const withAuth = addAuth(first.package, groups, {
        domain,
        granting: collection.granting,
        refusing: collection.refusing,
        signedIn: collection.signedIn,
        ledger,
    });
    const settled = withAuth === first.package ? first : mergeRounds(first, settle(withAuth, isPortAllowed));
    for (const { endpoint, why } of settled.refused) ledger.drop(`${endpoint.method} ${endpoint.name}`, why);
    for (const { endpoint, part, why } of settled.removed) ledger.notice(endpoint.name, `its ${part} was left out: ${why}`);
    const leftToDo = [...settled.leftToDo];
    if (options.category === undefined && guess.isGuess)
        leftToDo.push({ path: '/intent_category', message: 'The recording does not show the category; choose one.' });
    const found = settled.package.endpoints.map(({ name, kind, method, url, params = [] }) => ({
        name,
        kind: kind ?? 'api_call',
        method,
        url,
        samples: groups.get(name)?.sendings ?? 0,
        byPages: [name, ...params.map((param) => `${name} ${param.name}`)].filter((one) => described.byPages.has(one)).length,
        byAnswers: [name, ...params.map((param) => `${name} ${param.name}`)].filter((one) => described.byAnswers.has(one)).length,
    }));
    return { package: settled.package, report: { read: collection.read, found, ...ledger.lines(), leftToDo } };
}

/** Merges what two rounds left out. */
function mergeRounds(first: Settled, second: Settled): Settled {
    return { ...second, removed: [...first.removed, ...second.removed], refused: [...first.refused, ...second.refused] };
}

/** The routes of the site itself. If a package cannot contain all of them, the most called ones. */
function routesOf({ groups, seen, texts }: Collection, domain: string, ledger: Ledger): Group[] {
    const own = [...groups.values()].filter((group) => {
        const host = domainOf(new URL(group.origin).hostname);
        if (host !== domain) ledger.drop(`Requests to ${host}`, 'that is another site');
        else if (group.method === 'POST' && areReports(group.reporting, group.sendings)) ledger.drop('Reports of the visit', THEY_REPORT);
        else return true;
        return false;
    });
    for (const group of own) dropTimes(group);
    const routes = withoutLayout(foldGroups(settleDispatch(own, { seen, texts }), { seen, texts })).filter(
        ({ sendings, form, method }) => sendings > 0 || form?.fields.size !== 0 || (method === 'POST' && !form.isIdle),
    );
    if (routes.length <= MAX_ENDPOINTS) return routes;
    const kept = new Set([...routes].sort((a, b) => b.sendings - a.sendings).slice(0, MAX_ENDPOINTS));
    ledger.drop(`${routes.length - kept.size} routes`, `a package has at most ${MAX_ENDPOINTS} endpoints; these were called least`);
    return routes.filter((route) => kept.has(route));
}

/** The words of a route: literals of its path, and field names. */
function wordsOf({ segments, shape }: Group): string[] {
    return [...segments.filter(({ form }) => form === 'word').map(({ core }) => core), ...shape.fields.keys()];
}

function draftAll(routes: readonly Group[], things: ReadonlyMap<Group, string>, tokens: Collection['tokens'], ledger: Ledger) {
    const names = new Set<string>();
    return routes.flatMap((group) => {
        const drafted = draftEndpoint(group, names, tokens, things.get(group));
        if (!drafted.ok) {
            ledger.drop(`${group.method} routes`, drafted.why);
            return [];
        }
        for (const note of drafted.notes) ledger.notice(drafted.endpoint.name, note);
        return [{ endpoint: drafted.endpoint, group }];
    });
}

/** The named site, or the one with the largest share of the recording. Pages count more than other responses. */
function siteOf({ domains }: Collection, options: InspectOptions): { site: string; domain: string } {
    if (options.site !== undefined) {
        const named = normaliseSite(options.site);
        return named.ok ? { site: named.site, domain: named.registrable } : { site: options.site, domain: options.site };
    }
    const [domain, { pageHost }] = [...domains].sort(([, a], [, b]) => b.weight - a.weight)[0] ?? ['', { pageHost: undefined }];
    const named = normaliseSite(pageHost ?? domain);
    return { site: named.ok ? named.site : domain, domain };
}

function fromDocument(document: unknown, options: InspectOptions): Inspected {
    const { package: imported, carried, notCarried, leftToDo } = importDocument(document, { ...options, single: true });
    const whole = notCarried.filter(({ scope }) => scope === 'operation');
    const parts = notCarried.filter(({ scope }) => scope !== 'operation');
    const found = imported.endpoints.map(({ name, kind, method, url }) => ({
        name,
        kind: kind ?? 'api_call',
        method,
        url,
        samples: 0,
        byPages: 0,
        byAnswers: 0,
    }));
    return {
        package: imported,
        report: {
            read: carried.length + whole.length,
            found,
            dropped: whole.map(({ where, why }) => ({ what: where, why })),
            redacted: [],
            noticed: parts.map(({ where, why }) => ({ where, what: why })),
            leftToDo,
        },
    };
}
