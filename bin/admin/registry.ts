import type { Command } from 'commander';
import { listShared } from '../../shared/store/maintainers.ts';
import { type Run, table, type Work } from './command.ts';

/** `registry status`: domains that others maintain beside Routebook. */
export function addRegistryCommands(program: Command, run: Run): void {
    program
        .command('registry')
        .description('what Routebook itself maintains')
        .command('status')
        .description('list the domains where others are maintainers beside Routebook, for site transfer')
        .action(() => run(status));
}

const status: Work = async ({ db }) => {
    const shared = await listShared(db);
    return {
        result: shared.map(({ registrable, others }) => ({
            domain: registrable,
            others: others.map(({ workspaceId, name }) => ({ workspace_id: workspaceId, name })),
        })),
        lines: table(
            ['domain', 'maintainer', 'name'],
            shared.flatMap(({ registrable, others }) => others.map(({ workspaceId, name }) => [registrable, workspaceId, name])),
        ),
    };
};
