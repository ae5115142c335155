import type { DomainParams } from '../../shared/contracts/claims.ts';
import { checkPolicy } from '../../shared/domain/site/policy-rules.ts';
import { readSite } from '../../shared/domain/site/read-site.ts';
import { NO_POLICY, type SitePolicy } from '../../shared/domain/site/site-policy.ts';
import { invalidFields, Refusal } from '../../shared/refusals.ts';
import * as claims from '../../shared/store/registry/ownership.ts';
import * as policies from '../../shared/store/registry/site-policies.ts';
import { writeInTurn } from '../admission/writes.ts';
import { byCall } from '../auth/caller.ts';
import type { Call, Reply } from '../call.ts';

/** GET /v1/sites/{domain}/policy */
export async function showPolicy({ app, params, caller }: Call<DomainParams, object, undefined>): Promise<Reply<SitePolicy>> {
    const { registrable } = readSite(params.domain, '/domain');
    const { workspaceId } = caller;
    if (!(await claims.isOwner(app.db, registrable, workspaceId))) throw notOwned(registrable);
    return { answer: await policies.readPolicy(app.db, registrable) };
}

/** PUT /v1/sites/{domain}/policy */
export async function changePolicy(call: Call<DomainParams, object, SitePolicy>): Promise<Reply<SitePolicy>> {
    const { app, params } = call;
    const { registrable } = readSite(params.domain, '/domain');
    const { workspaceId } = call.caller;
    const policy = readPolicy(call.body, registrable);
    const order = { registrable, workspaceId, policy, by: byCall(call) };
    const isSet = await writeInTurn(call, registrable, () => policies.setPolicyAsOwner(app.db, order));
    if (!isSet) throw notOwned(registrable);
    return { answer: policy };
}

function readPolicy(body: SitePolicy, registrable: string): SitePolicy {
    const checked = checkPolicy({ ...NO_POLICY, ...body }, registrable);
    if (checked.ok) return checked.policy;
    throw invalidFields(checked.details);
}

function notOwned(registrable: string): Refusal {
    const message = `Your workspace is not a proved owner of ${registrable}. Claim it with POST /v1/sites/${registrable}/claims.`;
    return new Refusal('CLAIM_REQUIRED', message);
}
