import type { Kind, Method } from '../../../shared/domain/types.ts';

/** Sources and omissions of a draft, without recorded values. */
export interface InspectReport {
    /** The number of exchanges that were read. */
    read: number;
    found: {
        name: string;
        kind: Kind;
        method: Method;
        url: string;
        samples: number;
        /** How many of the endpoint and its params have a description from pages. */
        byPages: number;
        /** How many more have one from response fields or from the text of a GraphQL operation. */
        byAnswers: number;
    }[];
    dropped: { what: string; why: string }[];
    redacted: { where: string; kind: string }[];
    /** Notes on endpoints of the draft: data embedded in a page, pages that need signing in … */
    noticed: { where: string; what: string }[];
    /** Tasks for the contributor before the draft can be published. */
    leftToDo: { path: string; message: string }[];
}

/** Collects report lines. Of equal lines, the first names its exchange and the others are counted. */
export interface Ledger {
    drop(what: string, why: string): void;
    redact(where: string, kind: string, place: number): void;
    notice(where: string, what: string): void;
    lines(): Pick<InspectReport, 'dropped' | 'redacted' | 'noticed'>;
}

/** At most this many different lines of each kind are kept. */
const MAX_LINES = 500;

export function createLedger(): Ledger {
    const dropped = new Map<string, { what: string; why: string; times: number }>();
    const redacted = new Map<string, { where: string; kind: string; first: number; times: number }>();
    const noticed = new Map<string, { where: string; what: string }>();
    return {
        drop(what, why) {
            const line = dropped.get(`${what}\n${why}`);
            if (line !== undefined) line.times++;
            else if (dropped.size < MAX_LINES) dropped.set(`${what}\n${why}`, { what, why, times: 1 });
        },
        redact(where, kind, place) {
            const line = redacted.get(`${where}\n${kind}`);
            if (line !== undefined) line.times++;
            else if (redacted.size < MAX_LINES) redacted.set(`${where}\n${kind}`, { where, kind, first: place, times: 1 });
        },
        notice(where, what) {
            if (noticed.size < MAX_LINES) noticed.set(`${where}\n${what}`, { where, what });
        },
        lines: () => ({
            dropped: [...dropped.values()].map(({ what, why, times }) => ({ what: times > 1 ? `${what} (${times} times)` : what, why })),
            redacted: [...redacted.values()].map(({ where, kind, first, times }) => ({
                where: times > 1 ? `${where} of exchange ${first} and ${times - 1} more` : `${where} of exchange ${first}`,
                kind,
            })),
            noticed: [...noticed.values()],
        }),
    };
}
