import type { Secrets } from '../../platform/secrets.ts';
import { textInTurns } from '../../platform/turns.ts';
import type { RefusalExtras } from '../../refusals.ts';

/** The encryption purposes of the columns of a job. */
export const JOB_PURPOSES = { request: 'job request', result: 'job result', error: 'job error' } as const;

export async function sealRequest(secrets: Secrets, request: object): Promise<Buffer> {
    return secrets.seal(JSON.stringify(request), JOB_PURPOSES.request);
}

/**
 * Decrypts the request; undefined if it was deleted or no key of the ring can.
 * @param parse a JSON parser that keeps digits, if they matter
 */
export async function openRequest<Request extends object>(
    secrets: Secrets,
    sealed: Buffer | null,
    parse: (text: string) => unknown = JSON.parse,
): Promise<Request | undefined> {
    const text = sealed === null ? undefined : await secrets.open(sealed, JOB_PURPOSES.request);
    return text === undefined ? undefined : (parse(text.toString()) as Request);
}

/** Encrypts `<head length>\n<head><tail>`. `openResult` inserts the current balance between head and tail. */
export async function sealResult(secrets: Secrets, { head, tail }: { head: string; tail: string }): Promise<Buffer> {
    return secrets.seal(`${head.length}\n${head}${tail}`, JOB_PURPOSES.result);
}

/** Decrypts a result to JSON text; undefined if no key of the ring can. */
export async function openResult(secrets: Secrets, sealed: Buffer, remaining: number): Promise<string | undefined> {
    const opened = await secrets.open(sealed, JOB_PURPOSES.result);
    const text = opened && (await textInTurns(opened));
    if (text === undefined) return undefined;
    const from = text.indexOf('\n') + 1;
    const middle = from + Number(text.slice(0, from - 1));
    return `${text.slice(from, middle)}${remaining}${text.slice(middle)}`;
}

/** The failure of an attempt, without its code. */
type StoredError = Pick<RefusalExtras, 'details' | 'retryAfter' | 'upstream' | 'didYouMean' | 'retryable'> & { message?: string };

export async function sealError(secrets: Secrets, error: StoredError): Promise<Buffer> {
    return secrets.seal(JSON.stringify(error), JOB_PURPOSES.error);
}

/** Decrypts the failure; empty if no key of the ring can. */
export async function openError(secrets: Secrets, sealed: Buffer | null): Promise<StoredError> {
    const text = sealed === null ? undefined : await secrets.open(sealed, JOB_PURPOSES.error);
    return text === undefined ? {} : (JSON.parse(text.toString()) as StoredError);
}
