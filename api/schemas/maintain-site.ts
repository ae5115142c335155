import { getMaintainers, type MaintainerEntry, type MaintainerParams } from '../../shared/contracts/maintainers.ts';
import type { SiteParams } from '../../shared/contracts/schemas.ts';
import type { PageQuery } from '../../shared/contracts/vocabulary.ts';
import { notMaintainer, readSite, siteNotFound } from '../../shared/domain/site/read-site.ts';
import type { Db } from '../../shared/platform/db.ts';
import type { RowPage } from '../../shared/platform/row-page.ts';
import { Refusal, type RefusalCode } from '../../shared/refusals.ts';
import { ATTEMPTS, takeAttempts } from '../../shared/store/accounts/attempts.ts';
import { addAsMaintainer, type MaintainerRefusal, removeAsMaintainer } from '../../shared/store/registry/maintainer-orders.ts';
import { pageOfMaintainers } from '../../shared/store/registry/maintainers.ts';
import { limitIdentity } from '../admission/client-address.ts';
import { writeInTurn } from '../admission/writes.ts';
import { answerPage } from '../answers/paging.ts';
import { byCall } from '../auth/caller.ts';
import type { Call, OpenCall, Reply } from '../call.ts';

type MaintainerList = Promise<Reply<MaintainerEntry[]>>;

/** GET /v1/schemas/{site}/maintainers */
export async function listMaintainers(call: OpenCall<SiteParams, PageQuery, undefined>): MaintainerList {
    return answerList(call, await findDomain(call), call.app.browse);
}

/** PUT /v1/schemas/{site}/maintainers/{workspace_id} */
export async function addMaintainer(call: Call<MaintainerParams, object, undefined>): MaintainerList {
    return change(call, (db, order) => addAsMaintainer(db, order, (trx) => countMail(call, trx)));
}

/** DELETE /v1/schemas/{site}/maintainers/{workspace_id} */
export async function removeMaintainer(call: Call<MaintainerParams, object, undefined>): MaintainerList {
    return change(call, removeAsMaintainer);
}

/**
 * Counts the mail to the owners of the added workspace in the rate limits for mails to strangers, per user and per client. Removing the
 * workspace does not give it back.
 * @throws Refusal RATE_LIMITED
 */
async function countMail({ app, caller, clientAddress }: Call<MaintainerParams, object, undefined>, trx: Db): Promise<void> {
    const { userId, plan } = caller;
    const wait = await takeAttempts(trx, [
        ['foreign mail by user', userId],
        ['foreign mail by client', limitIdentity(clientAddress)],
    ]);
    if (wait === 0) return;
    app.metrics.rateLimited.inc({ plan, window: 'mails' });
    const message = `Its owners get an email, and a user can cause ${ATTEMPTS['foreign mail by user'].max} emails to strangers an hour, a client address ${ATTEMPTS['foreign mail by client'].max}.`;
    throw new Refusal('RATE_LIMITED', message, { retryAfter: wait });
}

async function change(call: Call<MaintainerParams, object, undefined>, apply: typeof removeAsMaintainer): MaintainerList {
    const { app, params } = call;
    const registrable = await findDomain(call);
    const { workspaceId: by } = call.caller;
    const order = { registrable, by, workspaceId: params.workspace_id, actor: byCall(call) };
    const refusal = await writeInTurn(call, registrable, () => apply(app.db, order));
    if (refusal === 'not-maintainer') throw notMaintainer(registrable);
    if (refusal !== undefined) throw new Refusal(...REFUSALS[refusal]);
    // The cursor of the answer continues the list of all maintainers.
    return answerList({ ...call, route: getMaintainers.name, query: {} }, registrable, app.db);
}

const REFUSALS: Readonly<Record<Exclude<MaintainerRefusal, 'not-maintainer'>, [code: RefusalCode, message?: string]>> = {
    'no-workspace': ['NOT_FOUND', 'There is no such workspace.'],
    routebook: ['FORBIDDEN', 'Only an operator can add or remove Routebook.'],
    owner: ['FORBIDDEN', 'That workspace is a proved owner of the domain. Only an operator can remove it.'],
    'being-removed': [
        'FORBIDDEN',
        'Your workspace is being removed from this domain. It may leave, but cannot change maintainers unless its owners stop the removal.',
    ],
    'was-stopped': [
        'FORBIDDEN',
        'That workspace stopped its removal within the last 30 days. In these, only an operator of this service or a proved owner of the domain can remove it.',
    ],
    last: ['LAST_MAINTAINER'],
};

/** The registrable domain of the site in the path. @throws Refusal INVALID_DOMAIN, SITE_NOT_FOUND */
async function findDomain({ app, params }: OpenCall<SiteParams, unknown, unknown>): Promise<string> {
    const { site, registrable } = readSite(params.site, '/site');
    if (!(await app.latest.find({ site, registrable })).isKnown) throw siteNotFound(site);
    return registrable;
}

async function answerList(call: OpenCall<unknown, PageQuery, unknown>, registrable: string, db: Db): MaintainerList {
    const list = (page: RowPage) => pageOfMaintainers(db, registrable, page);
    return answerPage(call, registrable, list, (rows) =>
        rows.map(({ workspaceId, name, removalAt }) => ({
            workspace_id: workspaceId,
            name,
            ...(removalAt !== null && { removal_at: removalAt.toISOString() }),
        })),
    );
}
