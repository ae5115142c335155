import type { MaintainerEntry, MaintainerParams } from '../../shared/contracts/maintainers.ts';
import type { SiteParams } from '../../shared/contracts/schemas.ts';
import type { PageQuery } from '../../shared/contracts/vocabulary.ts';
import type { Db } from '../../shared/db.ts';
import type { Json } from '../../shared/domain/types.ts';
import { Refusal } from '../../shared/refusals.ts';
import type { Caller } from '../../shared/store/keys.ts';
import * as maintainers from '../../shared/store/maintainers.ts';
import { byCall } from '../by-call.ts';
import { readPage } from '../page.ts';
import type { Call, Reply } from '../serve.ts';
import { readSite, siteNotFound } from '../site.ts';
import { writeInTurn } from '../write-queue.ts';

type MaintainerList = Promise<Reply<MaintainerEntry[]>>;

/** GET /v1/schemas/{site}/maintainers */
export async function listMaintainers(call: Call<SiteParams, PageQuery, undefined>): MaintainerList {
    return answerList(call, await findDomain(call), call.app.browse);
}

/** PUT /v1/schemas/{site}/maintainers/{workspace_id} */
export async function addMaintainer(call: Call<MaintainerParams, object, undefined>): MaintainerList {
    return change(call, maintainers.addAsMaintainer);
}

/** DELETE /v1/schemas/{site}/maintainers/{workspace_id} */
export async function removeMaintainer(call: Call<MaintainerParams, object, undefined>): MaintainerList {
    return change(call, maintainers.removeAsMaintainer);
}

async function change(call: Call<MaintainerParams, object, undefined>, apply: typeof maintainers.addAsMaintainer): MaintainerList {
    const { app, params } = call;
    const registrable = await findDomain(call);
    const { workspaceId: by } = call.caller as Caller;
    const order = { registrable, by, workspaceId: params.workspace_id, actor: byCall(call) };
    const refusal = await writeInTurn(call, registrable, () => apply(app.db, order));
    if (refusal === 'NOT_FOUND') throw new Refusal('NOT_FOUND', 'There is no such workspace.');
    if (refusal === 'FORBIDDEN') throw new Refusal('FORBIDDEN', 'Only an operator adds or removes Routebook, or removes a proved owner.');
    if (refusal !== undefined) throw new Refusal(refusal);
    return answerList({ ...call, query: {} }, registrable, app.db);
}

/** @throws Refusal INVALID_DOMAIN, SITE_NOT_FOUND */
async function findDomain({ app, params }: Call<SiteParams, unknown, unknown>): Promise<string> {
    const { site, registrable } = readSite(params.site, '/site');
    if (!(await app.latest.find({ site, registrable })).isKnown) throw siteNotFound();
    return registrable;
}

async function answerList(call: Call<unknown, PageQuery, unknown>, registrable: string, db: Db): MaintainerList {
    const page = await readPage(call, 'getMaintainers', registrable);
    const after = page.from as maintainers.MaintainerPlace | undefined;
    const listed = await maintainers.pageOfMaintainers(db, registrable, { limit: page.limit, after });
    return {
        answer: listed.maintainers.map(({ workspaceId, name }) => ({ workspace_id: workspaceId, name })),
        pagination: await page.end(listed.next as Json | undefined, listed.total),
    };
}
