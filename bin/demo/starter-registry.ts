import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { App } from '../../shared/app.ts';
import { isPortAllowed } from '../../shared/domain/egress-allow.ts';
import { checkPackage } from '../../shared/domain/package-rules.ts';
import { adoptDomain } from '../../shared/store/maintainers.ts';
import * as schemas from '../../shared/store/schemas.ts';
import { demoPackage } from './package.ts';
import { DEMO_SITE } from './site.ts';

const FOLDER = fileURLToPath(new URL('../../schemas', import.meta.url));

/** Publishes every package of `schemas/`, unverified; nothing of it is called by itself. Unchanged ones cost a look-up. */
export async function loadStarterRegistry(app: App): Promise<void> {
    for (const file of readdirSync(FOLDER).filter((name) => name.endsWith('.json'))) {
        await publishAsStarter(app, JSON.parse(readFileSync(`${FOLDER}/${file}`, 'utf8')));
    }
}

/**
 * Publishes the demo shop's package for the demo account's workspace. It names the port, and may get one again that it had before.
 */
export async function publishDemo(app: App, port: number, workspaceId: string): Promise<void> {
    await adoptDomain(app.db, DEMO_SITE, workspaceId);
    await publishAsStarter(app, demoPackage(port), { mayReturn: true, loadedFor: workspaceId });
}

/**
 * Publishes a package of our own, by the rules that hold for everybody. A site that somebody else maintains by now is
 * left alone.
 */
export async function publishAsStarter(
    app: App,
    document: unknown,
    options: { mayReturn?: boolean; loadedFor?: string } = {},
): Promise<void> {
    const checked = checkPackage(document, { isPortAllowed: (port: number) => isPortAllowed(app.config.egressAllow, port) });
    if (!checked.ok) throw new Error(`a package of the starter registry breaks the rules: ${JSON.stringify(checked.problems)}`);
    await schemas.publishStarter(app.db, checked.document, options);
}
