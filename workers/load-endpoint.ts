import type { App } from '../shared/app.ts';
import { registrableDomain } from '../shared/domain/site/site-name.ts';
import type { Endpoint } from '../shared/domain/types.ts';

/** Loads the endpoint of a job, and the domain that its requests stay on; undefined if the version is gone. */
export async function loadEndpoint(
    { versions }: App,
    versionId: number,
    name: string,
): Promise<{ endpoint: Endpoint; registrable: string } | undefined> {
    const version = await versions.load(versionId);
    const endpoint = version?.endpoints.get(name);
    const registrable = version === undefined ? undefined : registrableDomain(version.site);
    return endpoint === undefined || registrable === undefined ? undefined : { endpoint, registrable };
}
