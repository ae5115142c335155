import { setTimeout as sleep } from 'node:timers/promises';

/** Whom strangers come to, and the key of the account that they have. */
export interface Target {
    base: string;
    apiKey: string;
    /** How many of them are on their way at once. */
    size: number;
    /** A site that nobody has published for yet; what is served for it comes from 127.0.0.1. */
    site: string;
    /** ApiError once what comes first is done, right before the strangers begin. */
    begun?: () => void;
}

/** How often each status was heard; 0 stands for a connection that ended without an answer. */
export type Heard = Map<number, number>;

/** What each row of the tables is: something that strangers do to everybody else. */
export interface Stranger {
    name: string;
    /** Answers that a worker reads, packages that an API checks, or many hands at once. */
    kind: 'reading' | 'package' | 'crowd';
    /** Another row does nearly the same: specs run both, the bench runs that one. */
    isVariant?: boolean;
    /** Short runs try this row on every surface; of the others they try one surface. */
    isSample?: boolean;
    /** Goes on until the signal. */
    run(target: Target, until: AbortSignal): Promise<Heard>;
}

/** Refused at once, strangers would only be busy with themselves. */
export const BREATH_MS = 5;

/** As many as `size` do the same again and again, each of them one at a time. */
export async function again(
    { size, begun }: Target,
    until: AbortSignal,
    act: (turn: number) => Promise<{ status: number }>,
): Promise<Heard> {
    const heard: Heard = new Map();
    let turns = 0;
    const member = async () => {
        while (!until.aborted) {
            const { status } = await act(turns++);
            if (until.aborted) return;
            heard.set(status, (heard.get(status) ?? 0) + 1);
            await sleep(BREATH_MS);
        }
    };
    begun?.();
    await Promise.all(Array.from({ length: size }, member));
    return heard;
}
