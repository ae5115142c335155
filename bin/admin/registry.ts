import type { Command } from 'commander';
import { recordChange } from '../../shared/store/accounts/audit.ts';
import { listShared } from '../../shared/store/registry/maintainers.ts';
import { type LoadedPackage, LoadFault, loadPackages, readPackages, STARTER_FOLDER } from '../starter-packages.ts';
import { type Run, table, type Work } from './command.ts';
import { AdminFault } from './operator.ts';

/** `registry load`: the starter packages; `registry status`: domains that others maintain beside Routebook. */
export function addRegistryCommands(program: Command, run: Run): void {
    const registry = program.command('registry').description('what Routebook itself maintains');
    registry
        .command('load')
        .description('publish the starter packages for Routebook, or those of a folder or file; what others own or maintain is left alone')
        .argument('[path]', 'a folder of packages, or one package; the shipped ones by default')
        .action((path: string | undefined) => run(load(path ?? STARTER_FOLDER)));
    registry
        .command('status')
        .description('list the domains where others are maintainers beside Routebook, for site transfer')
        .action(() => run(status));
}

function load(path: string): Work {
    return async ({ db, actor, egressAllow }) => {
        const loaded = await loadPackages(db, documentsAt(path, egressAllow), (trx, site, version) =>
            recordChange(trx, {
                actor,
                command: 'registry load',
                target: `${site} ${version}`,
                reason: null,
                before: { version: version === 1 ? null : version - 1 },
                after: { version },
            }),
        );
        return {
            result: loaded.map((one) => ({ site: one.site, outcome: one.outcome, version: versionOf(one) })),
            lines: table(
                ['site', 'outcome', 'version'],
                loaded.map((one) => [one.site, WORDS[one.outcome], versionOf(one)]),
            ),
        };
    };
}

const WORDS: Readonly<Record<LoadedPackage['outcome'], string>> = {
    published: 'published',
    unchanged: 'published before',
    owned: 'left alone: an owner has proved the domain',
    maintained: 'left alone: others maintain the domain',
    blocked: 'left alone: the domain is blocked',
};

function versionOf(loaded: LoadedPackage): number | null {
    return loaded.outcome === 'published' ? loaded.version : null;
}

function documentsAt(...order: Parameters<typeof readPackages>): ReturnType<typeof readPackages> {
    try {
        return readPackages(...order);
    } catch (error) {
        if (error instanceof LoadFault) throw new AdminFault(error.code, error.message);
        throw error;
    }
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
