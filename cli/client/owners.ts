import { data, getRequest, listItems, Resource, writeRequest } from './calls.ts';
import type { Listing } from './listing.ts';
import type { CallOptions } from './transport.ts';
import type { ClaimChecked, ClaimDeleted, ClaimEntry, KeyReport, KeyReportEntry, SitePolicy } from './types.ts';

/** Proving that a registrable domain is yours. */
export class Claims extends Resource {
    /** Claims a domain. The answer says what to publish and where. */
    create(domain: string, options?: CallOptions): Promise<ClaimEntry> {
        // Not repeatable: sent twice, it creates two claims.
        return data(this.transport, { ...writeRequest('POST', claimsPath(domain)), isRepeatable: false }, options);
    }

    /** Your workspace's claims on a domain, oldest first. */
    list(domain: string, query: { limit?: number } = {}, options?: CallOptions): Listing<ClaimEntry> {
        return listItems(this.transport, claimsPath(domain), query, options);
    }

    /** Checks the proof now. This takes up to ten seconds and is allowed once a minute per claim. */
    check(domain: string, claimId: string, options?: CallOptions): Promise<ClaimChecked> {
        return data(this.transport, writeRequest('POST', `${claimPath(domain, claimId)}/check`), options);
    }

    /** Withdraws a claim, even a proved one. */
    delete(domain: string, claimId: string, options?: CallOptions): Promise<ClaimDeleted> {
        return data(this.transport, writeRequest('DELETE', claimPath(domain, claimId)), options);
    }
}

/** The policy of a domain. Only its proved owner can set it. */
export class Policies extends Resource {
    get(domain: string, options?: CallOptions): Promise<SitePolicy> {
        return data(this.transport, getRequest(policyPath(domain)), options);
    }

    /** Replaces the whole policy. Omitted rules no longer apply. */
    set(domain: string, policy: Partial<SitePolicy>, options?: CallOptions): Promise<SitePolicy> {
        return data(this.transport, { ...writeRequest('PUT', policyPath(domain)), body: policy }, options);
    }
}

/** Reports of leaked API keys. */
export class Keys extends Resource {
    /** Revokes every known key of the report and emails its owner. The complete key is the proof. */
    report(report: KeyReport, options?: CallOptions): Promise<KeyReportEntry[]> {
        return this.transport.call({ ...writeRequest('POST', '/v1/keys/report'), body: report }, options);
    }
}

function claimsPath(domain: string): string {
    return `/v1/sites/${encodeURIComponent(domain)}/claims`;
}

function claimPath(domain: string, claimId: string): string {
    return `${claimsPath(domain)}/${encodeURIComponent(claimId)}`;
}

function policyPath(domain: string): string {
    return `/v1/sites/${encodeURIComponent(domain)}/policy`;
}
