import type { Secrets } from '../../platform/secrets.ts';

/** What is encrypted of a monitor: its call, the values that it saw, and how they differ. */
const PURPOSES = { request: 'monitor request', value: 'monitor value', diff: 'monitor diff' } as const;

/** Where it is stored: a monitor lives longer than an old key stays in the ring. */
export const MONITOR_COLUMNS = [
    { table: 'monitors', id: 'monitor_id', column: 'request', purpose: PURPOSES.request },
    { table: 'monitor_runs', id: 'run_id', column: 'value', purpose: PURPOSES.value },
    { table: 'monitor_changes', id: 'change_id', column: 'diff', purpose: PURPOSES.diff },
] as const;

export async function sealText(secrets: Secrets, what: keyof typeof PURPOSES, text: string): Promise<Buffer> {
    return secrets.seal(text, PURPOSES[what]);
}

/** JSON text; undefined where no key of the ring opens it. */
export async function openText(secrets: Secrets, what: keyof typeof PURPOSES, sealed: Buffer): Promise<string | undefined> {
    return (await secrets.open(sealed, PURPOSES[what]))?.toString();
}
