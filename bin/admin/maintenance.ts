import { listChanges, recordChange } from '../../shared/store/accounts/audit.ts';
import { rewrapAll } from '../../shared/store/accounts/sealed-rows.ts';
import { type Done, table } from './command.ts';
import { AdminFault, type Operator } from './operator.ts';

export async function rotate({ db, secrets, secretKeyId, actor, command }: Operator): Promise<Done> {
    if (secretKeyId === undefined) {
        throw new AdminFault('VALIDATION_ERROR', 'SECRET_KEYS is not set: there is no key to encrypt with. Set it as for the services.');
    }
    const tables = (await rewrapAll(db, secrets)).map((counts) => ({ ...counts }));
    // Not in the transaction of the change: that one would lock every row, so nobody could sign in with a code meanwhile.
    await recordChange(db, { actor, command, target: secretKeyId, reason: null, before: null, after: { tables } });
    const unreadable = tables.reduce((sum, counts) => sum + counts.unreadable, 0);
    return {
        result: { key: secretKeyId, tables },
        lines: table(['table', 'rewrapped', 'current', 'unreadable'], tables.map(Object.values)),
        ...(unreadable > 0 && {
            note: `admin: no key of SECRET_KEYS decrypts ${unreadable} of these secrets; add the key that encrypted them, and run this again`,
        }),
    };
}

export async function listAudit({ db }: Operator, { limit }: { limit: number }): Promise<Done> {
    const entries = (await listChanges(db, limit)).map((entry) => ({ ...entry, at: entry.at.toISOString() }));
    return {
        result: entries,
        lines: table(
            ['at', 'command', 'target', 'reason', 'actor'],
            entries.map(({ at, actor, command, target, reason }) => [at, command, target, reason, actor]),
        ),
    };
}
