import type { Command } from 'commander';
import { recordChange } from '../../shared/store/accounts/audit.ts';
import { rewrapAll } from '../../shared/store/accounts/sealed-rows.ts';
import { type Run, table, type Work } from './command.ts';
import { AdminFault } from './operator.ts';

/** `credentials rotate`. */
export function addCredentialCommands(program: Command, run: Run): void {
    program
        .command('credentials')
        .description('what SECRET_KEYS encrypts')
        .command('rotate')
        .description('encrypt long-lived secrets again, with the first key of SECRET_KEYS')
        .action(() => run(rotate));
}

const rotate: Work = async ({ db, secrets, secretKeyId, actor }) => {
    if (secretKeyId === undefined) {
        throw new AdminFault('VALIDATION_ERROR', 'SECRET_KEYS is not set: there is no key to encrypt with. Set it as for the services.');
    }
    const tables = await rewrapAll(db, secrets);
    // Not in one transaction with the change: it would lock every row, so that nobody could sign in with a code meanwhile.
    const change = { before: null, after: { tables: tables.map((counts) => ({ ...counts })) } };
    await recordChange(db, { actor, command: 'credentials rotate', target: secretKeyId, reason: null, ...change });
    const unreadable = tables.reduce((sum, counts) => sum + counts.unreadable, 0);
    return {
        result: { key: secretKeyId, ...change.after },
        lines: table(
            ['table', 'rewrapped', 'current', 'unreadable'],
            tables.map((counts) => [counts.table, counts.rewrapped, counts.current, counts.unreadable]),
        ),
        ...(unreadable > 0 && {
            note: `admin: no key of SECRET_KEYS opens ${unreadable} of these secrets; add the key that sealed them, and run this again`,
        }),
    };
};
