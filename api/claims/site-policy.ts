import { domainToASCII } from 'node:url';
import type { DomainParams } from '../../shared/contracts/claims.ts';
import { normaliseSite } from '../../shared/domain/site-name.ts';
import { NO_POLICY, type SitePolicy } from '../../shared/domain/site-policy.ts';
import { type Detail, Refusal } from '../../shared/refusals.ts';
import * as claims from '../../shared/store/claims.ts';
import type { Caller } from '../../shared/store/keys.ts';
import * as policies from '../../shared/store/site-policies.ts';
import { byCall } from '../by-call.ts';
import type { Call, Reply } from '../serve.ts';
import { readSite } from '../site.ts';

const NOT_OWNED = 'Your workspace has not proved that this domain is its own: claim it with POST /v1/sites/{domain}/claims.';

/** GET /v1/sites/{domain}/policy */
export async function showPolicy({ app, params, caller }: Call<DomainParams, object, undefined>): Promise<Reply<SitePolicy>> {
    const { registrable } = readSite(params.domain, '/domain');
    const { workspaceId } = caller as Caller;
    if (!(await claims.isOwner(app.db, registrable, workspaceId))) throw new Refusal('CLAIM_REQUIRED', NOT_OWNED);
    return { answer: await policies.readPolicy(app.db, registrable) };
}

/** PUT /v1/sites/{domain}/policy */
export async function changePolicy(call: Call<DomainParams, object, SitePolicy>): Promise<Reply<SitePolicy>> {
    const { app, params } = call;
    const { registrable } = readSite(params.domain, '/domain');
    const { workspaceId } = call.caller as Caller;
    const policy = readPolicy(call.body, registrable);
    const isSet = await policies.setPolicyAsOwner(app.db, { registrable, workspaceId, policy, by: byCall(call) });
    if (!isSet) throw new Refusal('CLAIM_REQUIRED', NOT_OWNED);
    return { answer: policy };
}

/** @throws Refusal VALIDATION_ERROR */
function readPolicy(body: SitePolicy, registrable: string): SitePolicy {
    const policy = { ...NO_POLICY, ...body };
    const details: Detail[] = [];
    const wrong = (path: string, message: string) => details.push({ path, code: 'INVALID_VALUE', message });
    const blocked_paths = policy.blocked_paths.map(({ host: written, path_prefix }, place) => {
        const name = normaliseSite(written);
        // As URLs have it: normalising takes `www.` away, which is a host of its own here.
        const host = domainToASCII(written.trim()).replace(/\.$/, '');
        if (!name.ok || name.registrable !== registrable) wrong(`/blocked_paths/${place}/host`, `This is no host of ${registrable}.`);
        return { host, path_prefix };
    });
    if (policy.hours !== null && policy.hours.from === policy.hours.to) wrong('/hours/to', 'from and to are the same.');
    if (details.length > 0) throw new Refusal('VALIDATION_ERROR', undefined, { details });
    return { ...policy, blocked_paths };
}
