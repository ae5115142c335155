import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { App } from '../../shared/app.ts';
import { isPortAllowed } from '../../shared/domain/egress-allow.ts';
import { checkPackage } from '../../shared/domain/package-rules.ts';
import * as schemas from '../../shared/store/schemas.ts';
import { demoPackage } from './package.ts';

const FOLDER = fileURLToPath(new URL('../../schemas', import.meta.url));

/** Publishes every package of `schemas/`, unverified; nothing of it is called by itself. Unchanged ones cost a look-up. */
export async function loadStarterRegistry(app: App): Promise<void> {
    for (const file of readdirSync(FOLDER).filter((name) => name.endsWith('.json'))) {
        await publishAsStarter(app, JSON.parse(readFileSync(`${FOLDER}/${file}`, 'utf8')));
    }
}

/** Publishes the demo shop's package. It names the port, and may get one again that it had before. */
export async function publishDemo(app: App, port: number): Promise<void> {
    await publishAsStarter(app, demoPackage(port), { mayReturn: true });
}

/**
 * Publishes a package of our own, by the rules that hold for everybody. A site that a contributor maintains by now is
 * left alone.
 */
export async function publishAsStarter(app: App, document: unknown, options: { mayReturn?: boolean } = {}): Promise<void> {
    const checked = checkPackage(document, { isPortAllowed: (port: number) => isPortAllowed(app.config.egressAllow, port) });
    if (!checked.ok) throw new Error(`a package of the starter registry breaks the rules: ${JSON.stringify(checked.problems)}`);
    await schemas.publishStarter(app.db, checked.document, options);
}
