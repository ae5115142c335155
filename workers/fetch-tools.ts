import type { App } from '../shared/app.ts';
import type { FetchJob } from '../shared/domain/fetch/fetch-job.ts';
import { registrableDomain } from '../shared/domain/site/site-name.ts';
import type { Endpoint } from '../shared/domain/types.ts';
import { userAgent } from '../shared/platform/user-agent.ts';
import { type CallCredential, createCallCredential, type Opened } from './credentials/credential.ts';
import type { Grants } from './credentials/grants.ts';
import { createPaces, type PaceFor } from './pace.ts';
import { every } from './repeat.ts';
import type { FetchTools } from './run-fetch-job.ts';
import type { Reader } from './select/reader.ts';
import { createMemoryBudget } from './upstream/memory-budget.ts';
import type { Upstream } from './upstream.ts';

const NOTICE_MS = 60_000;

/** Creates what the fetch jobs of a worker need of its app. */
export function createFetchTools(
    app: App,
    parts: { upstream: Upstream; reader: Reader; grants: Grants },
): FetchTools & { paceFor: PaceFor } {
    return {
        upstream: parts.upstream,
        reader: parts.reader,
        loadEndpoint: (versionId, name) => loadEndpoint(app, versionId, name),
        markSent: (operation) => app.credits.markSent(operation),
        paceFor: createPaces(app.turns, app.log),
        memoryBudget: createMemoryBudget({ onFull: createFullNotice(app.log) }),
        credentialOf: (job, endpoint) => credentialOf(app, parts.grants, job, endpoint),
        userAgent: () => userAgent(app.publicUrl()),
    };
}

/** Loads the endpoint of a job, and the domain that its requests stay on; undefined if the version is gone. */
async function loadEndpoint(
    { versions }: App,
    versionId: number,
    name: string,
): Promise<{ endpoint: Endpoint; registrable: string } | undefined> {
    const version = await versions.load(versionId);
    const endpoint = version?.endpoints.get(name);
    const registrable = version === undefined ? undefined : registrableDomain(version.site);
    return endpoint === undefined || registrable === undefined ? undefined : { endpoint, registrable };
}

/** The credential of a job. Its value is decrypted only when a request is about to use it. */
async function credentialOf(
    { versions, vault, config }: App,
    grants: Grants,
    { connection, connectionRevision = 1, versionId }: FetchJob,
    endpoint: Endpoint,
): Promise<CallCredential | undefined> {
    const offer = connection === undefined ? undefined : await versions.load(versionId);
    if (connection === undefined || offer === undefined) return undefined;
    const open = async (): Promise<Opened | undefined> => {
        const found = await vault.open(connection, connectionRevision);
        if (found === undefined) return undefined;
        const { connection: kept, secret } = found;
        if (!('grant' in secret)) return { connection: kept, secret };
        const { accessToken = '', refreshToken, clientSecret } = await grants.fresh(kept, secret.grant);
        const also = [refreshToken, clientSecret].filter((text) => text !== undefined);
        return { connection: kept, secret: { value: accessToken }, also };
    };
    return createCallCredential({ open, offer, endpoint, rules: { hosts: config.egressHosts } });
}

/** Logs that large answers are waiting, at most once a minute. */
function createFullNotice(log: App['log']): () => void {
    const isNoticeDue = every(NOTICE_MS);
    return () => {
        if (isNoticeDue()) log.warn({ part: 'worker' }, 'large answers wait: the memory budget of this worker is full');
    };
}
