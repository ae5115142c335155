import type { App } from '../../shared/app.ts';
import { adoptDomain } from '../../shared/store/registry/maintainers.ts';
import { publishStarter, type StarterLoad } from '../../shared/store/registry/starter.ts';
import { loadPackages, readPackages, requireValidPackage, STARTER_FOLDER } from '../starter-packages.ts';
import { demoPackage } from './package.ts';
import { DEMO_SITE } from './site.ts';

/** Publishes every package of `schemas/`, unverified. Nothing calls these sites automatically. An unchanged package costs one look-up. */
export async function loadStarterRegistry({ db, config }: App): Promise<void> {
    await loadPackages(db, readPackages(STARTER_FOLDER, config.egressAllow));
}

/**
 * Publishes the demo shop's package for the demo account's workspace. The package contains the port, which may return to an earlier value.
 */
export async function publishDemo(app: App, port: number, workspaceId: string): Promise<void> {
    await adoptDomain(app.db, DEMO_SITE, workspaceId);
    await publishAsStarter(app, demoPackage(port), { mayReturn: true, loadedFor: workspaceId });
}

/** Checks a package by the same rules as for everybody, and publishes it as one of the installation. */
export async function publishAsStarter(
    { db, config }: App,
    document: unknown,
    options: { mayReturn?: boolean; loadedFor?: string } = {},
): Promise<StarterLoad> {
    return publishStarter(db, requireValidPackage(document, 'a package of our own', config.egressAllow), options);
}
