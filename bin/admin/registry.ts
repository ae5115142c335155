import type { RequestStatus } from '../../shared/domain/site/schema-request.ts';
import { recordChange } from '../../shared/store/accounts/audit.ts';
import { listShared } from '../../shared/store/registry/maintainers.ts';
import * as schemaRequests from '../../shared/store/registry/schema-requests.ts';
import { type LoadedPackage, LoadFault, loadPackages, readPackages, STARTER_FOLDER } from '../starter-packages.ts';
import { type Done, done, table } from './command.ts';
import { AdminFault, audited, type Operator } from './operator.ts';

/** `registry load` */
export async function load({ db, actor, command, egressAllow }: Operator, path = STARTER_FOLDER): Promise<Done> {
    const loaded = await loadPackages(db, documentsAt(path, egressAllow), (trx, site, version) =>
        recordChange(trx, {
            actor,
            command,
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

/** `registry status`: domains that others maintain beside Routebook. */
export async function status({ db }: Operator): Promise<Done> {
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
}

/** `request set` */
export async function moveRequest(operator: Operator, id: string, { status: wanted }: { status: RequestStatus }): Promise<Done> {
    await audited(operator, async (trx) => {
        const moved = await schemaRequests.move(trx, id, wanted);
        if (moved.outcome === 'absent') throw new AdminFault('REQUEST_NOT_FOUND', `There is no schema request ${id}.`);
        if (moved.outcome === 'refused')
            throw new AdminFault('VALIDATION_ERROR', `${id} is ${moved.before}, and a request only moves forward.`);
        return { target: id, before: { status: moved.before }, after: { status: wanted }, result: undefined };
    });
    return done({ request_id: id, status: wanted });
}
