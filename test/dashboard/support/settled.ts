import { readEmail } from '../../../shared/domain/accounts/email.ts';
import { contentOf } from '../../../shared/domain/package/content.ts';
import { versionHash } from '../../../shared/domain/package/version-hash.ts';
import { registrableDomain } from '../../../shared/domain/site/site-name.ts';
import { newId } from '../../../shared/domain/text/ids.ts';
import { stopToken } from '../../../shared/mail/news.ts';
import { withoutTurns } from '../../../shared/platform/in-turn.ts';
import { createKey, revokeKey } from '../../../shared/store/accounts/api-keys.ts';
import { inviteToWorkspace, listInvitations } from '../../../shared/store/accounts/invitations.ts';
import { type LinkPurpose, makeLink, tokenOfLink } from '../../../shared/store/accounts/mail-links.ts';
import { beginSession, findSignedIn } from '../../../shared/store/accounts/user-sessions.ts';
import { addMember, createWorkspace, renameWorkspace } from '../../../shared/store/accounts/workspaces.ts';
import { testWebhook } from '../../../shared/store/events/deliveries.ts';
import { createWebhook } from '../../../shared/store/events/webhooks.ts';
import { createClaim } from '../../../shared/store/registry/claims.ts';
import { addMaintainer } from '../../../shared/store/registry/maintainers.ts';
import { publishPackage } from '../../../shared/store/registry/publish.ts';
import { create as createRequest } from '../../../shared/store/registry/schema-requests.ts';
import { withKey } from '../../support/people.ts';
import { dataOf, makeOwner } from '../../support/routes.ts';
import { anEndpoint, aPackage } from '../../support/schemas.ts';
import type { World } from '../../support/world.ts';
import { givePasskey } from './factor.ts';
import type { Values } from './places.ts';
import { freshAddress, signUp, type Visitor } from './visitor.ts';

/** A person with data on every page, and a value for every placeholder. */
export interface Settled extends Visitor {
    email: string;
    userId: string;
    workspaceId: string;
    apiKey: string;
    values: Values;
    /** Tokens of mailed links of a person who is not confirmed yet. */
    links: { verify: string; reset: string };
    /** Token of the link that stops the removal of the second workspace from the site. */
    stop: string;
    /** Values that nobody else may see. */
    secrets: string[];
}

/** A confirmed owner of two workspaces with a colleague, keys of every state, open invitations and calls. */
export async function settle(world: World): Promise<Settled> {
    const { db } = world.app;
    const email = freshAddress();
    const owner = await signUp(world, email);
    const me = await findSignedIn(db, owner.cookies.get('routebook_session') ?? '');
    if (me?.current === undefined) throw new Error('anyone who signed up is signed in, in a workspace');
    const { userId } = me;
    const { workspaceId } = me.current;
    await db.raw('update users set verified_at = app_now() where id = ?', [userId]);
    const name = `Harbour ${userId.slice(-6)}`;
    await renameWorkspace(db, workspaceId, name);
    const workspace = (await createWorkspace(db, userId, `Side project ${userId.slice(-4)}`)) ?? '';

    const colleagueEmail = freshAddress();
    await signUp(world, colleagueEmail);
    const colleague = await userOf(world, colleagueEmail);
    await addMember(db, { workspaceId, userId: colleague, role: 'member' });

    const laptop = await createKey(db, { workspaceId, userId, name: 'laptop' });
    await createKey(db, { workspaceId, userId, name: 'nightly run', expiresIn: 40 * 86_400 });
    await createKey(db, { workspaceId, userId: colleague, name: 'shared notebook' });
    const old = await createKey(db, { workspaceId, userId, name: 'old phone' });
    await revokeKey(db, old.keyId);

    const guest = readEmail(freshAddress());
    if (!guest.ok) throw new Error(guest.message);
    const invited = await inviteToWorkspace(db, { workspaceId, role: 'admin', email: guest, by: userId });
    const token = await tokenOfLink(world.app.secrets, invited.ok ? invited.linkId : '');
    await inviteToWorkspace(db, { workspaceId, role: 'member', email: undefined, by: userId });
    const [invitation] = (await listInvitations(db, workspaceId)).filter(({ address }) => address !== null);

    for (const [endpoint, outcome, credits] of [
        ['search', 'success', 1],
        ['product', 'UPSTREAM_TIMEOUT', 0],
        [undefined, 'success', 0],
    ] as const) {
        world.app.usage.record({
            kind: endpoint === undefined ? 'catalog' : 'fetch',
            operation: `op_${userId.slice(4)}`,
            accountId: userId,
            workspaceId,
            userId,
            keyId: laptop.keyId,
            site: 'books.example',
            registrable: 'books.example',
            endpoint,
            outcome,
            credits,
            durationMs: 143,
        });
    }
    await world.app.usage.flush();

    const waiting = freshAddress();
    await signUp(world, waiting);
    const waitingId = await userOf(world, waiting);
    const linkOf = async (purpose: LinkPurpose) =>
        tokenOfLink(world.app.secrets, await makeLink(db, { purpose, userId: waitingId, address: waiting }));
    const links = {
        verify: await linkOf('verify'),
        reset: await linkOf('reset'),
    };
    const contributed = await contribute(world, { workspaceId, userId });
    const hooked = await addHook(world, { workspaceId, userId });
    const ordered = await orderCalls(world, laptop.apiKey, contributed);
    const claimed = await claim(world, { domain: contributed.site, workspaceId, userId });
    return {
        ...owner,
        email,
        userId,
        workspaceId,
        apiKey: laptop.apiKey,
        values: {
            key_id: laptop.keyId,
            passkey_id: await givePasskey(world, userId),
            session_id: await otherSession(world, userId),
            user_id: colleague,
            invitation_id: invitation?.invitationId ?? '',
            token,
            workspace,
            ...contributed,
            domain: contributed.site,
            claim_id: claimed.claimId,
            connection_id: await connectionOf(db, { workspaceId, userId, site: contributed.site }),
            ...hooked,
            ...ordered,
            chapter: 'registry',
            section: 'alerts',
        },
        links,
        stop: await beginRemoval(world, { site: contributed.site, workspaceId: workspace, by: workspaceId }),
        secrets: [
            email,
            userId,
            workspaceId,
            name,
            laptop.keyId,
            laptop.apiKey.slice(0, 12),
            colleague,
            colleagueEmail,
            guest.address,
            workspace,
            hooked.webhook_id,
            hooked.delivery_id,
            ordered.job_id,
            ordered.batch_id,
            ordered.monitor_id,
            `harbour-${userId}`,
            claimed.claimId,
            claimed.token,
        ],
    };
}

/** A webhook, and a test event that was sent to it. */
async function addHook({ app: { db, secrets } }: World, { workspaceId, userId }: { workspaceId: string; userId: string }) {
    const receiver = { url: `https://127.0.0.1/harbour-${userId}`, host: '127.0.0.1', registrable: undefined };
    const order = {
        workspaceId,
        userId,
        receiver,
        events: ['job.*'],
        description: 'Berths',
        isEnabled: true,
        by: { actor: 'system' as const },
    };
    const webhookId = (await createWebhook(db, secrets, order))?.webhook.webhookId ?? '';
    const delivery = await testWebhook(db, { webhookId, workspaceId }, withoutTurns);
    return { webhook_id: webhookId, delivery_id: delivery?.deliveryId ?? '' };
}

/** A job, a batch of two items, and a monitor. */
async function orderCalls(world: World, apiKey: string, { site, endpoint }: { site: string; endpoint: string }) {
    // A worker would call the site, which does not exist.
    if (world.workers.length > 0) return { job_id: newId('job'), batch_id: newId('bat'), monitor_id: newId('mon') };
    const caller = withKey(world, apiKey);
    const call = { site, endpoint, params: { id: 7 } };
    const job = dataOf<{ job_id: string }>(await caller.call('POST', '/v1/jobs', { body: call }));
    const items = [1, 2].map((id) => ({ params: { id }, custom_id: `berth-${id}` }));
    const order = { name: 'Berths of the week', defaults: { site, endpoint }, items };
    const batch = dataOf<{ batch_id: string }>(await caller.call('POST', '/v1/batches', { body: order }));
    const watched = { name: 'Free berths', ...call, every: '1h' };
    const monitor = dataOf<{ monitor_id: string }>(await caller.call('POST', '/v1/monitors', { body: watched }));
    return { job_id: job.job_id, batch_id: batch.batch_id, monitor_id: monitor.monitor_id };
}

/** A session of the same person in another browser. */
async function otherSession({ app }: World, userId: string): Promise<string> {
    const token = await beginSession(app.db, { userId, browser: 'Mozilla/5.0 (iPhone) Safari/604.1', address: '198.51.100.7' });
    return (await findSignedIn(app.db, token))?.sessionId ?? '';
}

/** Makes another workspace a maintainer of a site and requests its removal. Resolves with the token that stops it. */
async function beginRemoval(world: World, { site, workspaceId, by }: { site: string; workspaceId: string; by: string }): Promise<string> {
    const { db, secrets } = world.app;
    const registrable = registrableDomain(site) ?? '';
    const removalId = newId('rmv');
    await addMaintainer(db, registrable, workspaceId);
    await db.raw(
        `update maintainers set removal_id = ?, removal_by = ?, removal_at = app_now() + interval '1 day'
         where registrable = ? and workspace_id = ?`,
        [removalId, by, registrable, workspaceId],
    );
    return stopToken(secrets, removalId);
}

/** A proved claim of a workspace on a domain, and an open one on another. */
async function claim({ app: { db } }: World, { domain, workspaceId, userId }: { domain: string; workspaceId: string; userId: string }) {
    const order = { workspaceId, accountId: userId, by: { actor: 'system' as const } };
    const [proven] = [
        await createClaim(db, { ...order, registrable: domain }),
        await createClaim(db, { ...order, registrable: `open-${domain}` }),
    ];
    if (!proven.ok) throw new Error('a first claim is within the bounds');
    await db.raw("update claims set status = 'proven', method = 'dns', proven_at = app_now() where id = ?", [proven.claim.claimId]);
    await makeOwner(db, domain, workspaceId);
    return proven.claim;
}

/** A site with two versions that a workspace maintains, and a request for a schema of another one. */
async function contribute(world: World, by: { workspaceId: string; userId: string }) {
    const { db } = world.app;
    const site = `${by.userId.slice(-8).toLowerCase()}-harbour.example`;
    const endpoints = [anEndpoint(site, { name: 'find_berth' }), anEndpoint(site, { name: 'book_berth', method: 'POST', effect: 'write' })];
    for (const document of [aPackage(site, { endpoints: endpoints.slice(0, 1) }), aPackage(site, { endpoints })]) {
        const publisher = { ...by, accountId: by.userId, isLimited: false };
        const registrable = registrableDomain(site) ?? '';
        const published = await publishPackage(db, {
            document,
            content: contentOf(document),
            versionHash: versionHash(document),
            registrable,
            publisher,
        });
        if (!published.ok) throw new Error(`publishing ${site} was refused: ${published.code}`);
    }
    const request_id = newId('srq');
    const nothing = { readOrWrite: null, authShape: null, outputShape: null, failureMode: null, intentCategory: null };
    const wish = { domain: 'ferries.example', registrable: 'ferries.example', task: 'Read the departures of one harbour every morning.' };
    const request = { ...wish, ...nothing, sourceUrl: null, frequency: 'daily' as const, requesterContact: null };
    await createRequest(db, request, { id: request_id, workspaceId: by.workspaceId });
    return { site, endpoint: 'find_berth', version: '1', request_id };
}

export async function userOf(world: World, email: string): Promise<string> {
    const { rows } = await world.app.db.raw<{ rows: { id: string }[] }>('select id from users where email = ?', [email]);
    return rows[0]?.id ?? '';
}

/** A private connection whose value cannot be decrypted. */
async function connectionOf(
    db: World['app']['db'],
    { workspaceId, userId, site }: { workspaceId: string; userId: string; site: string },
): Promise<string> {
    const id = newId('con');
    const entry = { id: 'key', type: 'header', name: 'X-Api-Key' };
    await db('connections').insert({
        id,
        workspace_id: workspaceId,
        owner_id: userId,
        shared: false,
        site,
        auth_id: entry.id,
        name: 'Mine',
        entry: JSON.stringify(entry),
        hosts: [site],
        sealed: Buffer.alloc(32),
        hint: '…8f2c',
    });
    return id;
}
