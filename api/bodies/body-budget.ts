import type { Request } from '@hapi/hapi';
import { BODY_BYTES } from '../../shared/contracts/body-bytes.ts';
import { Refusal } from '../../shared/refusals.ts';
import { networkOf } from '../admission/client-address.ts';
import { goneSignal } from '../call.ts';

interface Sender {
    network: string;
    /** The account, or another identifier of the sender. */
    owner: string;
    /** Whether the account is on the Free plan. One person may have many such accounts. */
    isFree: boolean;
}

const MIB = 1024 * 1024;

/** 32 packages of the largest size. */
const MAX = 128 * MIB;

/** A body that receives less than this within STALLED_MS has stalled. */
const PROGRESS_BYTES = 32 * 1024;
const STALLED_MS = 1000;

interface Entry extends Sender {
    bytes: number;
    /** The bytes at the last progress, and its time. */
    marked: number;
    progressAt: number;
    isWhole: boolean;
    isRunning: boolean;
    giveUp(): void;
}

/**
 * Creates the memory budget of one process for request bodies. It counts the bytes that arrived, not the Content-Length. Above the limit, it
 * drops bodies: first the one that has been stalled longest, then the newest one of the largest sender in the largest network. Free
 * accounts can use only half of the budget, and so can the bodies of running calls.
 * @param maxBytes of all bodies together
 */
export function createBodyBudget({ maxBytes = MAX, now = () => performance.now() }: { maxBytes?: number; now?: () => number } = {}) {
    const entries = new Set<Entry>();
    let total = 0;
    let free = 0;
    let running = 0;

    function add(entry: Entry, bytes: number): void {
        entry.bytes += bytes;
        total += bytes;
        if (entry.isFree) free += bytes;
        if (entry.isRunning) running += bytes;
    }

    function remove(entry: Entry): boolean {
        if (!entries.delete(entry)) return false;
        add(entry, -entry.bytes);
        return true;
    }

    function makeRoom(): void {
        while (total > maxBytes) {
            const entry = pick();
            if (entry === undefined || !remove(entry)) return;
            entry.giveUp();
        }
    }

    function pick(): Entry | undefined {
        const all = [...entries].filter(({ isRunning }) => !isRunning);
        const candidates = free > maxBytes / 2 ? all.filter(({ isFree }) => isFree) : all;
        const before = now() - STALLED_MS;
        const stalled = candidates.filter(({ isWhole, progressAt }) => !isWhole && progressAt <= before);
        if (stalled.length > 0) return stalled.reduce((first, one) => (one.progressAt < first.progressAt ? one : first));
        return findLargestGroup(findLargestGroup(candidates, 'network'), 'owner').at(-1);
    }

    return {
        /** Reserves memory for one body, while it arrives and while it is kept. @param giveUp called once, when the budget drops this body */
        createReservation(sender: Sender, giveUp: () => void) {
            const entry: Entry = { ...sender, bytes: 0, marked: 0, progressAt: now(), isWhole: false, isRunning: false, giveUp };
            entries.add(entry);
            return {
                /** Adds bytes that arrived. Above the limit, the budget drops a body, possibly this one. */
                received(bytes: number) {
                    if (!entries.has(entry)) return;
                    add(entry, bytes);
                    if (entry.bytes - entry.marked >= PROGRESS_BYTES) {
                        entry.marked = entry.bytes;
                        entry.progressAt = now();
                    }
                    makeRoom();
                },
                /** The body is complete and waits in a queue. */
                completed() {
                    entry.isWhole = true;
                },
                /** Begins the call of the body, which then is never dropped. False if the bodies of running calls already use half of the budget. */
                tryToRun() {
                    if (!entries.has(entry) || running + entry.bytes > maxBytes / 2) return false;
                    running += entry.bytes;
                    entry.isRunning = true;
                    return true;
                },
                release: () => void remove(entry),
            };
        },
        held: () => total,
    };
}

function findLargestGroup(entries: readonly Entry[], by: 'network' | 'owner'): readonly Entry[] {
    let largest: readonly Entry[] = [];
    let bytes = -1;
    for (const group of Map.groupBy(entries, (entry) => entry[by]).values()) {
        const sum = group.reduce((all, one) => all + one.bytes, 0);
        if (sum > bytes) [largest, bytes] = [group, sum];
    }
    return largest;
}

const budget = createBodyBudget();

const NO_ROOM = 'This process is receiving too many large bodies. Send this one again in a moment.';

export interface BodyUse {
    maxBytes: number;
    /** Whether it contains the params of a call, which stay in memory while the call runs. */
    isCall?: boolean;
}

/**
 * Reserves memory for the body of a request. A package, a large form or a call with files keeps it until the request is answered, any other
 * body until it is read.
 * @param giveUp called when the budget drops a body that is still arriving; a body that waits is removed from its queue
 */
export function reserveBody(request: Request, { maxBytes, isCall = false }: BodyUse, giveUp: (refusal: Refusal) => void) {
    const { clientAddress } = request.app;
    const { app: caller, user: signedIn } = request.auth.credentials ?? {};
    const owner = caller?.accountId ?? signedIn?.userId ?? clientAddress;
    const isFree = (caller?.plan ?? signedIn?.current?.plan ?? 'free') === 'free';
    const waiting = new AbortController();
    let isWhole = false;
    const reservation = budget.createReservation({ network: networkOf(clientAddress), owner, isFree }, () => {
        if (isWhole) waiting.abort(new Refusal('OVERLOADED', NO_ROOM, { retryAfter: 1 }));
        else giveUp(new Refusal('OVERLOADED', NO_ROOM, { retryAfter: 1, headers: { connection: 'close' } }));
    });
    /** A response that is already closed emits `close` no more. */
    const releaseAfterAnswer = () => {
        const { res } = request.raw;
        if (res.closed) reservation.release();
        else res.once('close', reservation.release);
    };
    return {
        received: reservation.received,
        release: reservation.release,
        releaseAfterAnswer,
        /** @returns the refusal of a complete body that does not fit into memory @param bytes its size */
        completed(bytes: number): Refusal | undefined {
            if (bytes <= BODY_BYTES && (isCall || maxBytes <= BODY_BYTES)) {
                reservation.release();
                return undefined;
            }
            if (isCall && !reservation.tryToRun()) return new Refusal('OVERLOADED', NO_ROOM, { retryAfter: 1 });
            releaseAfterAnswer();
            if (isCall) return undefined;
            isWhole = true;
            reservation.completed();
            request.app.gone = AbortSignal.any([request.app.gone ?? goneSignal(request), waiting.signal]);
            return undefined;
        },
    };
}
