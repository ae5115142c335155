import type { RefusalCode } from '../../refusals.ts';
import type { FetchOutcome } from '../fetch/fetch-job.ts';
import type { Endpoint, JsonObject, PackageAuth, PackageDocument } from '../types.ts';
import { needOf } from './auth.ts';
import { readEndpoint } from './endpoint.ts';
import { hostsOfEndpoint } from './hosts.ts';

/** Maximum number of calls of one run (docs/api.md, "The registry"). */
const MAX_CALLS = 20;

/** Number of consecutive failed runs after which a site loses `verified`. */
export const FAILURES_TO_DRIFT = 3;

/** `undecided`: a problem on our side prevented a result; `nothing`: no endpoint can be called. */
export type RunOutcome = 'passed' | 'failed' | 'undecided' | 'nothing';

/** `unknown`: the failure says nothing about the schema. */
export type FindingVerdict = 'passed' | 'failed' | 'unknown';

/** The result of calling one endpoint. */
export interface Finding {
    name: string;
    verdict: FindingVerdict;
    /** Why the call failed. */
    code: RefusalCode | null;
    /** One sentence, if the code is not sufficient. */
    message: string | null;
    /** The HTTP status of the site, if it answered. */
    status: number | null;
    durationMs: number;
}

/**
 * Whether a verification run may call this endpoint. It must be a hosted read with an example (a POST that declares `effect: read` counts).
 * It must work without a credential or with one that a maintainer lent. A run never uses the connection of a caller. @param auth of the
 * package
 */
function isVerifiable(endpoint: Endpoint, auth: readonly PackageAuth[], isLent = false): boolean {
    const { hosted, effect, examples } = endpoint;
    return hosted && effect === 'read' && examples.length > 0 && (isLent || needOf(endpoint, auth) !== 'required');
}

/** Whether a verification run can call any endpoint of a package. */
export function isVerifiablePackage({ endpoints, auth = [] }: Pick<PackageDocument, 'endpoints' | 'auth'>): boolean {
    return endpoints.some((endpoint) => isVerifiable(readEndpoint(endpoint), auth));
}

export interface ExampleToCall {
    endpoint: Endpoint;
    params: JsonObject;
}

/** The endpoints of a version that a run may call. */
export interface VersionToVerify {
    inOrder: Iterable<Endpoint>;
    auth: readonly PackageAuth[];
    /** Whether a maintainer lent a connection for an endpoint; absent: nobody lent one. */
    isLent?: (endpoint: Endpoint) => boolean;
}

/** The facts that decide which calls a run makes: its number, from 1, and the endpoints that failed before. */
interface RunPlace {
    run: number;
    missed: readonly string[];
}

/**
 * Chooses the calls of a run: the first example of each endpoint that may be called, in the order of the package. If these are too many for
 * one run, each run starts further along than the previous one, so that all are called in turn. Endpoints that failed before are called
 * first, so that consecutive failures are noticed in a large package too.
 * @param max number of calls that a run has time for; up to half of them are earlier failures, and each run starts half of them further
 * along
 */
export function callsOf({ inOrder, auth, isLent }: VersionToVerify, { run, missed }: RunPlace, max = MAX_CALLS): ExampleToCall[] {
    const all: ExampleToCall[] = [];
    for (const endpoint of inOrder) {
        const [example] = endpoint.examples;
        if (example !== undefined && isVerifiable(endpoint, auth, isLent?.(endpoint))) all.push({ endpoint, params: example.params });
    }
    if (all.length <= max) return all;
    const stride = Math.max(1, Math.floor(max / 2));
    const again = all.filter(({ endpoint }) => missed.includes(endpoint.name)).slice(0, stride);
    const first = ((run - 1) * stride) % all.length;
    const inTurn = [...all.slice(first), ...all.slice(0, first)].filter((call) => !again.includes(call));
    return [...again, ...inTurn].slice(0, max);
}

/** Failures that were caused by Routebook, by a lent credential, or by a rate limit of the site. */
const SAYS_NOTHING: ReadonlySet<RefusalCode> = new Set<RefusalCode>([
    'CONCURRENCY_LIMITED',
    'CONNECTION_REQUIRED',
    'DEADLINE_EXCEEDED',
    'INTERNAL',
    'OVERLOADED',
    'SERVICE_UNAVAILABLE',
    'SITE_BLOCKED',
    'SITE_BUSY',
    'SITE_UNAVAILABLE',
    'UPSTREAM_RATE_LIMITED',
    'VERSION_NOT_FOUND',
]);

/** Converts the outcome of a hosted fetch into a verdict about the schema. */
export function verdictOf(outcome: FetchOutcome): FindingVerdict {
    if (outcome.ok) return 'passed';
    return outcome.isCallers === true || SAYS_NOTHING.has(outcome.code) ? 'unknown' : 'failed';
}

/** The outcome of a run with this many calls. It fails if one call fails, and passes only if all calls pass. */
export function outcomeOf(findings: readonly Pick<Finding, 'verdict'>[], calls: number): RunOutcome {
    if (calls === 0) return 'nothing';
    if (findings.some(({ verdict }) => verdict === 'failed')) return 'failed';
    return findings.length === calls && findings.every(({ verdict }) => verdict === 'passed') ? 'passed' : 'undecided';
}

/** The minimum duration of one call by rate limits of its hosts, in milliseconds; 0 without one. @param paces requests a minute */
export function pacedMs(endpoint: Pick<Endpoint, 'url' | 'prepare'>, paces: Readonly<Record<string, number>>): number {
    const distances = hostsOfEndpoint(endpoint).map((host) => (Object.hasOwn(paces, host) ? 60_000 / (paces[host] ?? 1) : 0));
    const requests = 1 + (endpoint.prepare?.length ?? 0);
    return requests * Math.max(...distances);
}
