import { EFFECTS, type RouteScope, type Scopes } from '../../shared/domain/accounts/scopes.ts';

const NEEDS: Readonly<Record<string, RouteScope>> = {
    catalog: 'catalog',
    fetch: 'fetch',
    batch: 'jobs',
    job: 'jobs',
    monitor: 'jobs',
    push: 'publish',
    yank: 'maintain',
    claim: 'maintain',
    policy: 'maintain',
};

/** Lists the commands that a key cannot run, with the missing scope: `push (publish)`. */
export function missingCommands(scopes: Scopes): string[] {
    const lacking = Object.entries(NEEDS)
        .filter(([, scope]) => !scopes.routes.includes(scope))
        .map(([command, scope]) => `${command} (${scope})`);
    const missing = missingForWebhooks(scopes);
    return missing.length === 0 ? lacking : [...lacking, `webhook (${missing.join(', ')})`];
}

/** Webhooks get events of the whole workspace, so their commands need a key without limits. */
function missingForWebhooks({ routes, effects, sites, endpoints, connections }: Scopes): string[] {
    const scopes: readonly RouteScope[] = ['account', 'jobs'];
    return [
        ...scopes.filter((scope) => !routes.includes(scope)),
        ...EFFECTS.filter((effect) => !effects.includes(effect)),
        ...(sites === null ? [] : ['all sites']),
        ...(endpoints === null ? [] : ['all endpoints']),
        ...(connections === null ? [] : ['all connections']),
    ];
}
