import Joi from 'joi';
import { ACT_NAMES } from '../domain/accounts/acts.ts';
import type { JsonObject } from '../domain/types.ts';
import { contract } from './contract.ts';
import * as v from './vocabulary.ts';

export interface AuditQuery extends v.PageQuery {
    actor?: string;
    action?: string;
    since?: string;
}

export interface AuditEntry {
    at: string;
    actor: string;
    action: string;
    target: string;
    ip: string | null;
    details: JsonObject;
}

export const getAudit = contract('getAudit', 'GET /v1/audit', {
    tag: 'Account',
    summary: 'List the audit log of the workspace',
    description:
        'Entries of the last 400 days, newest first. Only for owners and admins of the workspace. Addresses are shown for 90 days.',
    scope: 'account',
    ofAllSites: true,
    managersOnly: true,
    query: Joi.object<AuditQuery, true>({
        actor: Joi.string().min(1).max(64).description('Who acted: usr_…, key_…, wsp_…, operator or system'),
        action: v.oneOf(ACT_NAMES),
        since: Joi.string()
            .pattern(/^\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d(\.\d{1,6})?(Z|[+-]\d\d:\d\d))?$/)
            .custom((text: string, { error }) => (Number.isNaN(Date.parse(text)) ? error('string.pattern.base') : text))
            .messages({ 'string.pattern.base': '{{#label}} must be a day or time in UTC, such as 2026-11-02 or 2026-11-02T09:30:00Z' })
            .description('Only entries since this day or time in UTC, such as 2026-11-02 or 2026-11-02T09:30:00Z'),
        limit: v.limit(),
        cursor: v.cursor(),
    }),
    answer: {
        shape: 'list',
        schema: () =>
            v.objects<AuditEntry>({
                at: v.time(),
                actor: Joi.string().description('usr_…, key_…, wsp_… for another workspace, operator, or system for Routebook itself'),
                action: v.oneOf(ACT_NAMES),
                target: Joi.string().allow('').description('An id, a member, a site, or site@version'),
                ip: Joi.string().allow(null).description('Address of the client'),
                details: v.jsonObject().description('What changed'),
            }),
    },
});
