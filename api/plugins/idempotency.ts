import { createHash } from 'node:crypto';
import type { Request } from '@hapi/hapi';
import canonicalize from 'canonicalize';
import { windowsOf } from '../../shared/domain/plans.ts';
import { limitHeaders } from '../../shared/limits/headers.ts';
import { Refusal } from '../../shared/refusals.ts';
import { isOutage } from '../../shared/store/credits/outages.ts';
import type { KeyedCall, KeyOrder } from '../../shared/store/idempotency.ts';
import type { Caller } from '../../shared/store/keys.ts';
import type { Call, Rendered } from '../serve.ts';
import { renderRefusal } from './refusals.ts';

/** What a route says about its keyed calls; all of it may be left out. */
export interface OnceRules<Body> {
    /** A call that is not kept does not look at its key. */
    isKept?(body: Body): boolean;
    /** Milliseconds after which a call is over, whatever became of it. */
    lastsMs?(call: Call<unknown, unknown, Body>): number;
    /** Refuses an answer that may not be given any more. */
    mayReplay?(call: Call<unknown, unknown, Body>): Promise<void>;
}

/** Visible ASCII; two headers of this name come joined by a comma and a space, which is none. */
const WELL_FORMED = /^[\x21-\x7e]{1,255}$/;
const LASTS_MS = 30_000;
/** How often a key is asked for again that came free while we looked. */
const MAX_LOOKS = 5;
/** The call is never run again: it was charged. */
const SEALED = 'This call was made, and the answer kept under its Idempotency-Key cannot be decrypted at the moment.';

/**
 * Runs a call once a key (CONTRACT section 4, "Idempotency"): every success is kept for 24 h, of failures those that the
 * story calls final (a write that may have been sent). Without a key, or without an API key, it just runs.
 * @throws Refusal INVALID_IDEMPOTENCY_KEY, IDEMPOTENCY_CONFLICT, IDEMPOTENCY_IN_PROGRESS, RATE_LIMITED (window `idempotency`).
 */
export async function answerOnce<P, Q, B>(
    { call, request, route, rules }: { call: Call<P, Q, B>; request: Request; route: string; rules: OnceRules<B> },
    run: (call: Call<P, Q, B>) => Promise<Rendered>,
): Promise<Rendered> {
    const key = call.header('idempotency-key');
    if (key === undefined || call.caller === undefined || rules.isKept?.(call.body) === false) return run(call);
    if (!WELL_FORMED.test(key)) throw new Refusal('INVALID_IDEMPOTENCY_KEY');
    const keyed: KeyedCall = { workspaceId: call.caller.workspaceId, route, key, operation: call.operation };
    const kept = await takeKey(call, request, keyed, rules);
    return kept ?? runKept(call, request, keyed, run);
}

/** Undefined where the key is this call's now, otherwise the answer that is kept under it. */
async function takeKey<P, Q, B>(
    call: Call<P, Q, B>,
    request: Request,
    keyed: KeyedCall,
    rules: OnceRules<B>,
): Promise<Rendered | undefined> {
    const { idempotency } = call.app;
    const order: KeyOrder = { ...keyed, bodyHash: hashOf(call.body), lastsMs: rules.lastsMs?.(call) ?? LASTS_MS };
    for (let look = 0; look < MAX_LOOKS; look++) {
        const begun = await idempotency.begin(order);
        if (begun.verdict === 'new') return undefined;
        if (begun.verdict === 'conflict') throw new Refusal('IDEMPOTENCY_CONFLICT');
        if (begun.verdict === 'running') break;
        if (begun.verdict === 'abandoned') await endAbandoned(call, request, { ...keyed, operation: begun.holder });
        else if (begun.verdict === 'full') await waitForRoom(call, request, keyed);
        else {
            await rules.mayReplay?.(call);
            const kept = await idempotency.read(keyed);
            if (kept === 'sealed') throw new Refusal('SERVICE_UNAVAILABLE', SEALED, { retryAfter: 60 });
            if (kept !== undefined) return replay(kept);
        }
    }
    throw new Refusal('IDEMPOTENCY_IN_PROGRESS', undefined, { retryAfter: 1 });
}

async function runKept<P, Q, B>(
    call: Call<P, Q, B>,
    request: Request,
    keyed: KeyedCall,
    run: (call: Call<P, Q, B>) => Promise<Rendered>,
): Promise<Rendered> {
    const { idempotency } = call.app;
    try {
        const answer = await run({ ...call, keyed });
        if (!answer.isKept) await tryTo(call, () => idempotency.store(keyed, keptOf(answer)));
        return answer;
    } catch (error) {
        if (!request.app.isFinal) {
            const forgotten = tryTo(call, () => idempotency.forget(keyed));
            // Where the database is why, it would be waited for once more.
            if (!isOutage(error)) await forgotten;
            throw error;
        }
        const answer = await renderRefusal(call.app, request, error as Error);
        await tryTo(call, () => idempotency.store(keyed, keptOf(answer)));
        return answer;
    }
}

/**
 * The process that had the key died, or could not tell the database how the call ended. Its hold says what may have happened:
 * a charge was kept together with its answer; a hold that is open is released here, so that its worker sends nothing any more;
 * a write that was marked as sent stays OUTCOME_UNKNOWN; anything else leaves nothing behind.
 */
async function endAbandoned<P, Q, B>(call: Call<P, Q, B>, request: Request, abandoned: KeyedCall): Promise<void> {
    const { app } = call;
    const { before, marked, available } = await app.credits.release({ operation: abandoned.operation });
    if (!marked || before === 'charged') return app.idempotency.forget(abandoned);
    request.app.creditsRemaining = available;
    const answer = await renderRefusal(app, request, new Refusal('OUTCOME_UNKNOWN'));
    // It is the answer of that call, and this one may be refused for its own body yet.
    request.app.refused = undefined;
    await app.idempotency.store(abandoned, keptOf(answer));
}

/** @throws Refusal RATE_LIMITED, unless something has just run out. */
async function waitForRoom<P, Q, B>(
    { app, caller, setHeaders }: Call<P, Q, B>,
    request: Request,
    { workspaceId }: KeyedCall,
): Promise<void> {
    const waitMs = await app.idempotency.room(workspaceId);
    if (waitMs === 0) return;
    const { plan, accountId, figures } = caller as Caller;
    app.metrics.rateLimited.inc({ plan, window: 'idempotency' });
    if (request.route.settings.app?.contract?.counted) {
        const { windows } = await app.limits.peek(`account:${accountId}`, windowsOf(figures), accountId);
        setHeaders(limitHeaders(windows));
    }
    throw new Refusal('RATE_LIMITED', 'The window idempotency is full: the answers kept under keys of this workspace take all its room.', {
        retryAfter: Math.ceil(waitMs / 1000),
    });
}

function replay({ status, headers, body }: { status: number; headers: Record<string, string>; body: string }): Rendered {
    return { text: body, status, headers: { ...headers, 'idempotent-replayed': 'true' }, isKept: true };
}

function keptOf({ text, status, headers }: Rendered) {
    return { status, headers, body: text };
}

/** What became of a call is told to its caller even where it could not be written down; its key is looked at again when its time is up. */
async function tryTo<P, Q, B>({ app, operation }: Call<P, Q, B>, write: () => Promise<void>): Promise<void> {
    try {
        await write();
    } catch (error) {
        app.log.error({ part: 'idempotency', operation, err: error }, 'how a keyed call ended could not be written down');
    }
}

function hashOf(body: unknown): string {
    return createHash('sha256')
        .update(canonicalize(body) ?? '', 'utf8')
        .digest('hex');
}
