import type { Command } from 'commander';
import { listChanges } from '../../shared/store/accounts/audit.ts';
import { type Run, table, type Work, wholeNumber } from './command.ts';

/** `audit list`. */
export function addAuditCommands(program: Command, run: Run): void {
    program
        .command('audit')
        .description('what operators did')
        .command('list')
        .description('list it, newest first')
        .option('--limit <n>', 'entries at most', wholeNumber(1, 100_000), 100)
        .action(({ limit }: { limit: number }) => run(list(limit)));
}

function list(limit: number): Work {
    return async ({ db }) => {
        const entries = await listChanges(db, limit);
        return {
            result: entries.map((entry) => ({ ...entry, at: entry.at.toISOString() })),
            lines: table(
                ['at', 'actor', 'command', 'target', 'reason'],
                entries.map((entry) => [entry.at.toISOString(), entry.actor, entry.command, entry.target, entry.reason]),
            ),
        };
    };
}
