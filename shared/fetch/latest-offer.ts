import type { App } from '../app.ts';
import type { AuthOffer } from '../domain/package/auth.ts';
import { mayRun } from '../store/registry/history.ts';

/** How the latest version of a site sends credentials; undefined if no version is callable. */
export async function findLatestOffer(
    app: App,
    { site, registrable }: { site: string; registrable: string },
): Promise<AuthOffer | undefined> {
    const { isBlocked, version } = await app.latest.find({ site, registrable });
    return isBlocked || version === undefined || !mayRun(version) ? undefined : app.versions.load(version.versionId);
}
