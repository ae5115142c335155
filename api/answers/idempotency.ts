import { hash } from 'node:crypto';
import type { Request } from '@hapi/hapi';
import canonicalize from 'canonicalize';
import { limitHeaders } from '../../shared/coordination/limits/headers.ts';
import { windowsOf } from '../../shared/domain/accounts/plans.ts';
import type { StoredAnswer } from '../../shared/domain/fetch/stored-answer.ts';
import type { Db } from '../../shared/platform/db.ts';
import { isOutage } from '../../shared/platform/pg-errors.ts';
import { Refusal } from '../../shared/refusals.ts';
import type { Caller } from '../../shared/store/accounts/callers.ts';
import { type KeyedCall, keepAnswer } from '../../shared/store/fetch/idempotency.ts';
import { countRefused } from '../admission/count-call.ts';
import { KeyedQueue } from '../admission/keyed-queue.ts';
import { perApp } from '../admission/per-app.ts';
import type { Call, OpenCall, Rendered } from '../call.ts';
import { renderRefusal } from './refusal.ts';

/** A route's options for calls with an Idempotency-Key. */
export interface OnceRules<Body> {
    /** Whether a success is stored. Other calls release their key. */
    isKept?(body: Body, call: OpenCall<unknown, unknown, Body>): boolean;
    /** For a route that reads its body itself, after the key is acquired. The hash is stored with the answer (`setHash`). */
    readHash?(call: Call<unknown, unknown, Body>): Promise<string>;
    /** Milliseconds after which every call has ended. */
    lastsMs?(call: Call<unknown, unknown, Body>): number;
    /** Restricts the answer to one user; absent: every member of the workspace may get it. */
    whose?(call: Call<unknown, unknown, Body>): Promise<string | undefined>;
    /** Rejects a replay that the caller may not see. */
    mayReplay?(call: Call<unknown, unknown, Body>, kept: StoredAnswer): Promise<void>;
}

/** Visible ASCII. Two headers arrive joined by a comma and a space, which is invalid. */
const WELL_FORMED = /^[\x21-\x7e]{1,255}$/;
const LASTS_MS = 30_000;
/** The hash stored for a body that is still arriving. */
const UNREAD = '00'.repeat(32);
/** Maximum number of attempts for a key that is released meanwhile. */
const MAX_LOOKS = 5;
/** The call was charged and never runs again. */
const SEALED = 'This call was made, but the answer stored under its Idempotency-Key cannot be decrypted at the moment.';

/**
 * Runs a call once per key (docs/api.md, "Idempotency"). Successes are stored for 24 h, and failures that the handler marks as final (a
 * write that may have been sent). Without an Idempotency-Key or an API key the call runs directly.
 * @throws Refusal INVALID_IDEMPOTENCY_KEY, IDEMPOTENCY_CONFLICT, IDEMPOTENCY_IN_PROGRESS, RATE_LIMITED (window `idempotency`).
 */
export async function answerOnce<P, Q, B, By extends Caller | undefined>(
    { call, request, rules }: { call: Call<P, Q, B, By>; request: Request; rules: OnceRules<B> },
    run: (call: Call<P, Q, B, By>) => Promise<Rendered>,
): Promise<Rendered> {
    const { caller, route } = call;
    const key = call.header('idempotency-key');
    if (key === undefined || caller === undefined) return run(call);
    if (!WELL_FORMED.test(key)) {
        await countRefused(call.app, request);
        throw new Refusal('INVALID_IDEMPOTENCY_KEY');
    }
    const keyed: KeyedCall = { workspaceId: caller.workspaceId, route, key, operation: call.operation };
    const own = { ...call, caller, keyed };
    return (await takeKey(own, request, keyed, rules)) ?? runKeyed(own, request, { keyed, rules }, () => run(own));
}

/** Acquires the key and returns undefined, or returns the stored answer. */
async function takeKey<P, Q, B>(
    call: Call<P, Q, B>,
    request: Request,
    keyed: KeyedCall,
    rules: OnceRules<B>,
): Promise<Rendered | undefined> {
    const { idempotency } = call.app;
    const { readHash } = rules;
    const lastsMs = rules.lastsMs?.(call) ?? LASTS_MS;
    let bodyHash = readHash === undefined ? hashOf(call.body, await rules.whose?.(call)) : UNREAD;
    for (let look = 0; look < MAX_LOOKS; look++) {
        const begun = await idempotency.begin({ ...keyed, bodyHash, lastsMs });
        switch (begun.verdict) {
            case 'new': {
                const isBodyConsumed = readHash !== undefined && bodyHash !== UNREAD;
                if (!isBodyConsumed) return undefined;
                // The stored answer expired while the body was read, and the body cannot be read twice.
                await idempotency.forget(keyed);
                throw inProgress();
            }
            case 'conflict':
                // The stored hash is that of a body. Whether it is this call's body is known only after reading it.
                if (readHash === undefined || bodyHash !== UNREAD) throw new Refusal('IDEMPOTENCY_CONFLICT');
                bodyHash = await readHash(call);
                break;
            case 'running':
                throw inProgress();
            case 'abandoned':
                await endAbandoned(call, request, { ...keyed, operation: begun.holder });
                break;
            case 'full':
                await refuseUntilSpace(call, request, keyed);
                break;
            case 'replay': {
                const turn = { keys: [keyed.workspaceId], gone: call.gone };
                const kept = await replaysOf(call.app).run(turn, () => idempotency.read(keyed));
                if (kept === 'sealed') throw new Refusal('SERVICE_UNAVAILABLE', SEALED, { retryAfter: 60 });
                // Undefined if it expired since; then the key is free.
                if (kept === undefined) break;
                await rules.mayReplay?.(call, kept);
                return replay(kept);
            }
        }
    }
    throw inProgress();
}

/** Stored answers that a process reads at a time, one of each workspace: an answer may have 10 MiB, and replays are not charged. */
const REPLAYS_AT_ONCE = 4;

const replaysOf = perApp(() => new KeyedQueue({ atOnce: REPLAYS_AT_ONCE }));

function inProgress(): Refusal {
    return new Refusal('IDEMPOTENCY_IN_PROGRESS', undefined, { retryAfter: 1 });
}

async function runKeyed<P, Q, B>(
    call: Call<P, Q, B>,
    request: Request,
    { keyed, rules }: { keyed: KeyedCall; rules: OnceRules<B> },
    run: () => Promise<Rendered>,
): Promise<Rendered> {
    const { idempotency } = call.app;
    try {
        const answer = await run();
        if (rules.isKept?.(call.body, call) === false) await tryTo(call, () => idempotency.forget(keyed));
        else if (!answer.isKept) await tryTo(call, () => idempotency.store(keyed, toStoredAnswer(answer)));
        return answer;
    } catch (error) {
        if (call.notes.isFinal !== true) {
            const forgotten = tryTo(call, () => idempotency.forget(keyed));
            // If the database caused the error, do not wait for it again.
            if (!isOutage(error)) await forgotten;
            throw error;
        }
        const answer = await renderRefusal(call.app, request, error as Error);
        await tryTo(call, () => idempotency.store(keyed, toStoredAnswer(answer)));
        return answer;
    }
}

/**
 * Ends a call whose process died, or could not store how it ended. The hold decides: a charge was stored with its answer; an
 * open hold is released here, so that its worker sends nothing; a write that was marked as sent stays OUTCOME_UNKNOWN; in all other cases
 * the call was not made.
 */
async function endAbandoned<P, Q, B>(call: Call<P, Q, B>, request: Request, abandoned: KeyedCall): Promise<void> {
    const { app } = call;
    const { before, marked, available } = await app.credits.release({ operation: abandoned.operation });
    if (!marked || before === 'charged') return app.idempotency.forget(abandoned);
    call.notes.creditsRemaining = available;
    const answer = await renderRefusal(app, request, new Refusal('OUTCOME_UNKNOWN'));
    // The recorded refusal belongs to the abandoned call. This call may still be refused for its own body.
    request.app.refused = undefined;
    await app.idempotency.store(abandoned, toStoredAnswer(answer));
}

/**
 * The reply of a call that stores something. It is stored in the same transaction if the call has an Idempotency-Key, so that a repeated
 * call stores nothing again.
 * @throws Refusal IDEMPOTENCY_IN_PROGRESS if another call owns the key by now
 */
export async function keepReply(
    { app, keyed }: Pick<OpenCall<unknown, unknown, unknown>, 'app' | 'keyed'>,
    trx: Db,
    { status, headers, text }: Omit<Rendered, 'isKept'>,
): Promise<Omit<Rendered, 'status'>> {
    if (keyed === undefined) return { text, isKept: false, headers };
    if (!(await keepAnswer(trx, app.secrets, keyed, { status, headers, body: text }))) throw inProgress();
    return { text, isKept: true, headers };
}

/** Tells the caller how long to wait for space. @throws Refusal RATE_LIMITED unless a stored answer has just expired */
async function refuseUntilSpace<P, Q, B>(
    { app, caller, notes }: Call<P, Q, B>,
    request: Request,
    { workspaceId }: KeyedCall,
): Promise<void> {
    const waitMs = await app.idempotency.msUntilSpace(workspaceId);
    if (waitMs === 0) return;
    const { plan, accountId, figures } = caller;
    app.metrics.rateLimited.inc({ plan, window: 'idempotency' });
    if (request.route.settings.app?.contract?.counted) {
        const { windows } = await app.limits.peek(`account:${accountId}`, windowsOf(figures), accountId);
        Object.assign(notes.headers, limitHeaders(windows));
    }
    throw new Refusal('RATE_LIMITED', 'The window idempotency is full: the stored answers of this workspace use all of its space.', {
        retryAfter: Math.ceil(waitMs / 1000),
    });
}

function replay({ status, headers, body }: StoredAnswer): Rendered {
    return { text: body, status, headers: { ...headers, 'idempotent-replayed': 'true' }, isKept: true };
}

function toStoredAnswer({ text, status, headers }: Rendered): StoredAnswer {
    return { status, headers, body: text };
}

/** Logs a failure to store; the answer is sent anyway. When the call's time is over, the key counts as abandoned. */
async function tryTo<P, Q, B>({ app, operation }: Call<P, Q, B>, write: () => Promise<void>): Promise<void> {
    try {
        await write();
    } catch (error) {
        app.log.error({ part: 'idempotency', operation, err: error }, 'the answer of a call with an Idempotency-Key could not be stored');
    }
}

function hashOf(body: unknown, whose: string | undefined): string {
    return hash('sha256', canonicalize(whose === undefined ? body : [body, whose]) ?? '');
}
