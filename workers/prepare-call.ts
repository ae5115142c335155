import { buildPrepareRequest } from '../shared/domain/fetch/build-request.ts';
import type { FetchFailure } from '../shared/domain/fetch/fetch-job.ts';
import type { PreparedForm } from '../shared/domain/fetch/prepared-form.ts';
import { NOT_THERE, preparedFault, withPrepared } from '../shared/domain/fetch/prepared-values.ts';
import { escapePointer } from '../shared/domain/json/json-bounds.ts';
import type { Extract, Json, PrepareStep, Values } from '../shared/domain/types.ts';
import type { Reader } from './select/reader.ts';
import { asksToSignIn, beginningOf, SIGN_IN } from './select/sign-in-page.ts';
import type { RunningCall, SiteCall } from './site-call.ts';
import type { Page } from './upstream.ts';

interface Prepared {
    ok: true;
    form?: PreparedForm;
    /** The values of the call, with those that were extracted. */
    values: Values;
}

/**
 * The steps of an endpoint with `prepare` (docs/api.md, "Schema packages"): GETs of their pages, whose cookies the call keeps, the values
 * that they extract, and the form of the last page if it names one. Steps are always reads: they set no sent mark and may be retried.
 */
export async function prepareCall(running: RunningCall, values: Values): Promise<Prepared | FetchFailure> {
    const { call, endpoint, userAgent } = running;
    const prepared: Prepared = { ok: true, values };
    const steps = endpoint.prepare ?? [];
    for (const [place, step] of steps.entries()) {
        const answer = await call.send(buildPrepareRequest(step, endpoint, prepared.values, userAgent), { effect: 'read' });
        if (!answer.ok) return answer;
        const path = `/prepare/${place}`;
        // Reading the page frees it.
        const beginning = Object.keys(step.extract).length === 0 ? undefined : beginningOf(answer.page);
        const formPath = steps.length === 1 ? '/prepare/form' : `${path}/form`;
        const form = step.form === undefined ? undefined : { path: formPath, selector: step.form, method: endpoint.method };
        const read = await readStep(running, answer.page, { step, path, form });
        if (!read.ok) return read;
        if (read.form !== undefined) {
            if (carriesCredential(call, [read.form.action, ...read.form.fields.flat()]))
                return extractFailure(formPath, 'form', CREDENTIAL);
            prepared.form = read.form;
        }
        for (const [name, value] of Object.entries(read.found)) {
            const fault = carriesCredential(call, [value]) ? CREDENTIAL : preparedFault(endpoint, name, value);
            if (fault !== undefined) {
                const failure = extractFailure(`${path}/extract/${escapePointer(name)}`, name, fault);
                return fault === NOT_THERE && beginning !== undefined ? namedSignIn(failure, beginning) : failure;
            }
            prepared.values = withPrepared(prepared.values, name, value);
        }
    }
    return prepared;
}

type Wanted = Parameters<Reader['prepare']>[1];

/** What a step extracts from its cookies and its page, and the form of the page. */
async function readStep(
    { call, reader, turn }: RunningCall,
    page: Page,
    { step, path, form }: { step: PrepareStep; path: string; form: Wanted['form'] },
): ReturnType<Reader['prepare']> {
    const { cookies, onPage } = separate(step);
    const found = Object.fromEntries(cookies.map(([name, cookie]) => [name, cookieValue(call, page, cookie)]));
    if (form === undefined && Object.keys(onPage).length === 0) return { ok: true, found };
    const read = await reader.prepare(page, { path, form, extract: onPage }, turn);
    return read.ok ? { ...read, found: { ...found, ...read.found } } : read;
}

const CREDENTIAL = 'holds the credential of the connection, which may be sent only to its own hosts';

/**
 * Whether a value repeats the credential. Pages are masked when they arrive, but the mask misses a credential in HTML escapes or a cookie.
 */
function carriesCredential(call: SiteCall, values: readonly Json[]): boolean {
    return values.some((value) => call.holdsCredential(typeof value === 'string' ? value : JSON.stringify(value)));
}

/** Splits the extracted values of a step into cookies, by name, and values on its page. */
function separate({ extract }: PrepareStep): { cookies: [name: string, cookie: string][]; onPage: Record<string, Extract> } {
    const cookies: [string, string][] = [];
    const onPage: [string, Extract][] = [];
    for (const [name, entry] of Object.entries(extract)) {
        const cookie = typeof entry === 'string' ? undefined : entry['cookie'];
        if (typeof cookie === 'string') cookies.push([name, cookie]);
        else onPage.push([name, entry]);
    }
    return { cookies, onPage: Object.fromEntries(onPage) };
}

/** The value of a cookie without its percent-encoding, as scripts of the site send it back. */
function cookieValue(call: SiteCall, { url }: Page, name: string): string | null {
    const value = call.cookie(url, name);
    if (value === undefined) return null;
    try {
        return decodeURIComponent(value);
    } catch {
        return value;
    }
}

/** A sign-in page has no such value, so the message says what the page is. */
function namedSignIn(failure: FetchFailure, page: Parameters<typeof asksToSignIn>[0]): FetchFailure {
    return asksToSignIn(page) ? { ...failure, message: `${SIGN_IN} ${failure.message}` } : failure;
}

function extractFailure(path: string, name: string, fault: string): FetchFailure {
    const message = `The value ${name}, which prepare extracts, ${fault}.`;
    return { ok: false, code: 'UPSTREAM_INVALID_RESPONSE', message, details: [{ path, code: 'INVALID_VALUE', message }] };
}
