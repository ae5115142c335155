import type { RouteScope, Scopes } from '../../shared/domain/accounts/scopes.ts';

/** What each command that needs a scope needs. */
const NEEDS: Readonly<Record<string, RouteScope>> = {
    catalog: 'catalog',
    fetch: 'fetch',
    push: 'publish',
    yank: 'maintain',
    claim: 'maintain',
    policy: 'maintain',
};

/** Commands that a key cannot run, each with the scope that it lacks: `push (publish)`. */
export function lackingCommands({ routes }: Scopes): string[] {
    return Object.entries(NEEDS)
        .filter(([, scope]) => !routes.includes(scope))
        .map(([command, scope]) => `${command} (${scope})`);
}
