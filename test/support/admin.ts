import { runAdmin } from '../../bin/admin/run-admin.ts';
import type { JsonObject } from '../../shared/domain/types.ts';

export interface AdminRun {
    code: number;
    out: string[];
    err: string[];
    /** The last line of stdout with `--json`; otherwise null. */
    json: JsonObject;
}

/** Runs a command of the operator on a database, in this process. */
export async function admin(
    databaseUrl: string,
    args: readonly (string | number)[],
    env: Record<string, string> = {},
    tableWidth = Number.POSITIVE_INFINITY,
): Promise<AdminRun> {
    const out: string[] = [];
    const err: string[] = [];
    const terminal = { print: (line: string) => out.push(line), printError: (line: string) => err.push(line), tableWidth };
    const code = await runAdmin(args.map(String), terminal, { DATABASE_URL: databaseUrl, ...env });
    return { code, out, err, json: JSON.parse((args.includes('--json') && out.at(-1)) || 'null') };
}
