import type { RouteScope, Scopes } from '../../shared/domain/accounts/scopes.ts';

const NEEDS: Readonly<Record<string, RouteScope>> = {
    catalog: 'catalog',
    fetch: 'fetch',
    push: 'publish',
    yank: 'maintain',
    claim: 'maintain',
    policy: 'maintain',
};

/** Lists the commands that a key cannot run, with the missing scope: `push (publish)`. */
export function missingCommands({ routes }: Scopes): string[] {
    return Object.entries(NEEDS)
        .filter(([, scope]) => !routes.includes(scope))
        .map(([command, scope]) => `${command} (${scope})`);
}
