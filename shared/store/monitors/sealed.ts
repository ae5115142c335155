import type { Secrets } from '../../platform/secrets.ts';

/** The encrypted parts of a monitor: its call, its values and their diffs. */
const PURPOSES = { request: 'monitor request', value: 'monitor value', diff: 'monitor diff' } as const;

/** The encrypted columns. They must be encrypted again on a key rotation, because monitors outlive the keys of the ring. */
export const MONITOR_COLUMNS = [
    { table: 'monitors', id: 'monitor_id', column: 'request', purpose: PURPOSES.request },
    { table: 'monitor_runs', id: 'run_id', column: 'value', purpose: PURPOSES.value },
    { table: 'monitor_changes', id: 'change_id', column: 'diff', purpose: PURPOSES.diff },
] as const;

export async function sealText(secrets: Secrets, what: keyof typeof PURPOSES, text: string): Promise<Buffer> {
    return secrets.seal(text, PURPOSES[what]);
}

/** JSON text; undefined if no key of the ring decrypts it. */
export async function openText(secrets: Secrets, what: keyof typeof PURPOSES, sealed: Buffer): Promise<string | undefined> {
    return (await secrets.open(sealed, PURPOSES[what]))?.toString();
}
