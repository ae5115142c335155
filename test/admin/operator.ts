import { expect } from 'chai';
import { keyHash } from '../../shared/domain/accounts/api-key.ts';
import type { JsonObject } from '../../shared/domain/types.ts';
import { openKeys } from '../../shared/store/accounts/callers.ts';
import { useDatabase } from '../store/registry.ts';
import { type AdminRun, admin } from '../support/admin.ts';

/** Opens a database before the tests of a suite and closes it after them. `opened` is that database; the functions run commands on it. */
export function useOperator() {
    const opened = useDatabase();
    let people = 0;

    const run = (...args: (string | number)[]) => admin(opened.url, [...args, '--json']);
    const done = async (...args: (string | number)[]): Promise<JsonObject> => {
        const { code, out, err, json } = await run(...args);
        expect(code, err.join('\n')).to.equal(0);
        expect(out).to.have.length(1);
        return json;
    };
    const errorOf = ({ json }: AdminRun) => json['error'] as JsonObject;
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
    return { opened, admin: run, done, errorOf, newAccount, callerOf };
}
