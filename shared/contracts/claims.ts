import Joi from 'joi';
import { CLAIM_STATUSES, type ClaimStatus } from '../domain/site/proof.ts';
import { contract } from './contract.ts';
import * as v from './vocabulary.ts';

export interface DomainParams {
    domain: string;
}

export interface ClaimParams extends DomainParams {
    claim_id: string;
}

export interface ClaimEntry {
    claim_id: string;
    /** The registrable domain: the only name that is proved. */
    domain: string;
    status: ClaimStatus;
    reason: string | null;
    /** The TXT record's text, and the line of the file. */
    value: string;
    methods: [{ dns: string }, { url: string }];
    created_at: string;
    checked_at: string | null;
    proven_at: string | null;
    /** null once proved. */
    expires_at: string | null;
}

export interface ClaimChecked {
    status: ClaimStatus;
    reason: string | null;
}

export interface ClaimDeleted {
    claim_id: string;
    deleted: true;
}

const domainParams = () => Joi.object<DomainParams, true>({ domain: v.siteInput().required() });
const claimParams = () =>
    Joi.object<ClaimParams, true>({ domain: v.siteInput().required(), claim_id: Joi.string().required().description('clm_…') });

const status = () =>
    Joi.string()
        .valid(...CLAIM_STATUSES)
        .description('failed: the last check found no proof; check again once it is in place');
const reason = () => Joi.string().allow(null).description('Why the last check found no proof');

const entry = () =>
    Joi.object<ClaimEntry, true>({
        claim_id: Joi.string().required().description('clm_…'),
        domain: v.siteName().required(),
        status: status().required(),
        reason: reason().required(),
        value: Joi.string().required().description("The TXT record's text, and the line of the file"),
        methods: Joi.array()
            .ordered(
                Joi.object<{ dns: string }, true>({ dns: Joi.string().required().description('The TXT record, name and text') }),
                Joi.object<{ url: string }, true>({
                    url: Joi.string().required().description('A text file of 1 KiB at most with the value as one of its lines'),
                }),
            )
            .required()
            .description('Either of them proves the claim; of a public suffix only the file'),
        created_at: v.time().required(),
        checked_at: v.nullableTime().required(),
        proven_at: v.nullableTime().required(),
        expires_at: v.nullableTime().required().description('An unproven claim is gone then; null once proved'),
    });

/** POST /v1/sites/{domain}/claims: says that a domain is one's own, and learns how to prove it. */
export const postClaim = contract<DomainParams, object, undefined, ClaimEntry>({
    name: 'postClaim',
    method: 'POST',
    path: '/v1/sites/{domain}/claims',
    tag: 'Owners',
    summary: 'Claim a domain',
    description:
        'Takes no body. Of the domain the registrable part is claimed: `shop.example.co.uk` means `example.co.uk`. Publish the value as a TXT record or as a line of the file, then check the claim. An account has 10 unproven claims at most, each for 7 days. A proved domain needs no published schema.',
    auth: 'required',
    scope: 'maintain',
    actsOnDomain: true,
    counted: false,
    params: domainParams(),
    answer: { shape: 'data', status: 201, schema: entry() },
    refusals: ['INVALID_DOMAIN', 'API_KEY_REQUIRED', 'INVALID_API_KEY', 'FORBIDDEN', 'RATE_LIMITED'],
});

/** GET /v1/sites/{domain}/claims: one's own claims on a domain. */
export const getClaims = contract<DomainParams, v.PageQuery, undefined, ClaimEntry[]>({
    name: 'getClaims',
    method: 'GET',
    path: '/v1/sites/{domain}/claims',
    tag: 'Owners',
    summary: "List your workspace's claims on a domain",
    description: 'The oldest first. Claims of other workspaces are never shown.',
    auth: 'required',
    scope: 'maintain',
    actsOnDomain: true,
    counted: false,
    params: domainParams(),
    query: v.pageQuery(),
    answer: { shape: 'list', status: 200, schema: Joi.array().items(entry()) },
    refusals: ['INVALID_CURSOR', 'INVALID_DOMAIN', 'API_KEY_REQUIRED', 'INVALID_API_KEY', 'FORBIDDEN'],
});

/** POST …/check: looks the proof up now. */
export const postClaimCheck = contract<ClaimParams, object, undefined, ClaimChecked>({
    name: 'postClaimCheck',
    method: 'POST',
    path: '/v1/sites/{domain}/claims/{claim_id}/check',
    tag: 'Owners',
    summary: 'Look for the proof of a claim',
    description:
        'Takes no body. A worker asks the name servers for the TXT record and reads the file over https, where a redirect may lead to `www.` of the domain alone. Answers within 10 seconds; `pending` where the lookup has not ended by then. One check a minute for a claim, 20 an hour for an account. The proof makes the workspace the owner and a maintainer; it is looked up again every month, and lost after three failures a day apart.',
    auth: 'required',
    scope: 'maintain',
    actsOnDomain: true,
    counted: false,
    params: claimParams(),
    answer: {
        shape: 'data',
        status: 200,
        schema: Joi.object<ClaimChecked, true>({ status: status().required(), reason: reason().required() }),
    },
    refusals: ['INVALID_DOMAIN', 'API_KEY_REQUIRED', 'INVALID_API_KEY', 'FORBIDDEN', 'CLAIM_NOT_FOUND', 'RATE_LIMITED'],
});

/** DELETE …/claims/{claim_id}: takes a claim back. */
export const deleteClaim = contract<ClaimParams, object, undefined, ClaimDeleted>({
    name: 'deleteClaim',
    method: 'DELETE',
    path: '/v1/sites/{domain}/claims/{claim_id}',
    tag: 'Owners',
    summary: 'Take a claim back',
    description: 'A proved one too: the workspace then is no owner any more, and still a maintainer.',
    auth: 'required',
    scope: 'maintain',
    actsOnDomain: true,
    counted: false,
    params: claimParams(),
    answer: {
        shape: 'data',
        status: 200,
        schema: Joi.object<ClaimDeleted, true>({ claim_id: Joi.string().required(), deleted: Joi.boolean().valid(true).required() }),
    },
    refusals: ['INVALID_DOMAIN', 'API_KEY_REQUIRED', 'INVALID_API_KEY', 'FORBIDDEN', 'CLAIM_NOT_FOUND'],
});
