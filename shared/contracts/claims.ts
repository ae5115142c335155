import Joi from 'joi';
import { CLAIM_STATUSES, type ClaimStatus } from '../domain/site/proof.ts';
import { contract } from './contract.ts';
import * as v from './vocabulary.ts';

export type DomainParams = Record<'domain', string>;
export type ClaimParams = Record<'domain' | 'claim_id', string>;

export interface ClaimEntry {
    claim_id: string;
    /** The registrable domain. */
    domain: string;
    status: ClaimStatus;
    reason: string | null;
    /** The text of the TXT record and of the line in the file. */
    value: string;
    methods: [{ dns: string }, { url: string }];
    created_at: string;
    checked_at: string | null;
    proven_at: string | null;
    /** Null once the claim is proven. */
    expires_at: string | null;
}

export type ClaimChecked = Pick<ClaimEntry, 'status' | 'reason'>;

export type ClaimDeleted = v.Deleted<'claim_id'>;

const status = () => v.oneOf(CLAIM_STATUSES).description('failed: the last check found no proof. Publish the proof and check again');
const reason = () => Joi.string().allow(null).description('Why the last check found no proof');

const entry = () =>
    v.complete<ClaimEntry>({
        claim_id: v.id('clm'),
        domain: v.siteName(),
        status: status(),
        reason: reason(),
        value: Joi.string().description("The TXT record's text, and the line of the file"),
        methods: Joi.array()
            .ordered(
                v.complete<{ dns: string }>({ dns: Joi.string().description('The TXT record, name and text') }),
                v.complete<{ url: string }>({
                    url: Joi.string().description('A text file of at most 1 KiB; one line is the value'),
                }),
            )
            .description('Either proves the claim; for a public suffix only the file does'),
        created_at: v.time(),
        checked_at: v.nullableTime(),
        proven_at: v.nullableTime(),
        expires_at: v.nullableTime().description('When an unproven claim is deleted; null once proved'),
    });

const COMMON = { tag: 'Owners', scope: 'maintain', actsOnDomain: true } as const;

export const postClaim = contract('postClaim', 'POST /v1/sites/{domain}/claims', {
    ...COMMON,
    summary: 'Claim a domain',
    window: 'changes',
    description:
        'No body. Claims the registrable domain: `shop.example.co.uk` means `example.co.uk`. Publish the value as a TXT record or as a line of the file, then check the claim. An account can have up to 10 unproven claims; each expires after 7 days. A proved domain needs no published schema.',
    answer: { status: 201, schema: () => entry() },
});

export const getClaims = contract('getClaims', 'GET /v1/sites/{domain}/claims', {
    ...COMMON,
    summary: "List your workspace's claims on a domain",
    description: 'Oldest first. Claims of other workspaces are never shown.',
    query: v.pageQuery(),
    answer: { shape: 'list', schema: () => v.listOf(entry()) },
});

export const postClaimCheck = contract('postClaimCheck', 'POST /v1/sites/{domain}/claims/{claim_id}/check', {
    ...COMMON,
    summary: 'Check the proof of a claim',
    description:
        'No body. A worker looks up the TXT record and reads the file over https; a redirect may only lead to `www.` of the domain. Answers within 10 seconds, with `pending` if the lookup has not ended by then. One check a minute per claim, 20 an hour per account. The proof makes the workspace the owner and a maintainer. It is checked again every month and lost after three failures a day apart.',
    answer: { schema: () => v.complete<ClaimChecked>({ status: status(), reason: reason() }) },
});

export const deleteClaim = contract('deleteClaim', 'DELETE /v1/sites/{domain}/claims/{claim_id}', {
    ...COMMON,
    summary: 'Withdraw a claim',
    window: 'changes',
    description: 'Works for proved claims too: the workspace stops being an owner and remains a maintainer.',
    answer: { schema: () => v.deleted('claim_id') },
});
