import { expect } from 'chai';
import { runAdmin } from '../../bin/admin/run-admin.ts';
import { keyHash } from '../../shared/domain/accounts/api-key.ts';
import type { JsonObject } from '../../shared/domain/types.ts';
import { openKeys } from '../../shared/store/accounts/callers.ts';
import { useDatabase } from '../store/registry.ts';

interface Ran {
    code: number;
    out: string[];
    err: string[];
    /** The last line of stdout, parsed as JSON. */
    json: JsonObject;
}

/** Opens a database before the tests of a suite and closes it after them. `opened` is that database; the functions run commands on it. */
export function useOperator() {
    const opened = useDatabase();
    let people = 0;

    const admin = async (...args: (string | number)[]): Promise<Ran> => {
        const out: string[] = [];
        const err: string[] = [];
        const terminal = { print: (line: string) => out.push(line), complain: (line: string) => err.push(line) };
        const code = await runAdmin([...args.map(String), '--json'], terminal, { DATABASE_URL: opened.url });
        return { code, out, err, json: JSON.parse(out.at(-1) ?? 'null') };
    };
    const done = async (...args: (string | number)[]): Promise<JsonObject> => {
        const { code, out, err, json } = await admin(...args);
        expect(code, err.join('\n')).to.equal(0);
        expect(out).to.have.length(1);
        return json;
    };
    const errorOf = ({ json }: Ran) => json['error'] as JsonObject;
    const newAccount = async (...options: (string | number)[]) => {
        const made = await done('account', 'create', '--email', `p${people++}@people.example`, ...options);
        return {
            userId: String(made['user_id']),
            workspaceId: String(made['workspace_id']),
            keyId: String(made['key_id']),
            apiKey: String(made['api_key']),
        };
    };
    const callerOf = async (apiKey: string) => {
        const keys = openKeys(opened.db);
        const caller = await keys.find(keyHash(apiKey));
        await keys.close();
        return caller;
    };
    return { opened, admin, done, errorOf, newAccount, callerOf };
}
