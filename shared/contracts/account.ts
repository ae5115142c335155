import Joi from 'joi';
import { PLAN_NAMES, type Plan, type RateWindow } from '../domain/accounts/plans.ts';
import { EFFECTS, ROUTE_SCOPES, type Scopes } from '../domain/accounts/scopes.ts';
import { contract } from './contract.ts';
import * as v from './vocabulary.ts';

const names = () => v.texts().allow(null);

const scopes = () =>
    v.complete({
        effects: v.listOf(v.oneOf(EFFECTS)),
        sites: names().description('Exact names; null: all'),
        endpoints: names().description('Names of endpoints; null: all'),
        connections: names().description('Ids; null: all; empty: none'),
        routes: v.listOf(v.oneOf(ROUTE_SCOPES)),
        ip_allow: names().description('Addresses and CIDR ranges that may use the key; null: all'),
    });

export interface AccountAnswer {
    user_id: string;
    workspace_id: string;
    plan: Plan;
    credits: {
        balance: number;
        allowance: { limit: number; remaining: number };
        bonus: number;
        held: number;
        resets_at: string;
    };
    limits: { window: RateWindow['name']; limit: number; remaining: number; resets_in: number }[];
    concurrency: { limit: number; in_flight: number };
    key: { id: string; name: string; prefix: string; expires_at: string | null; scopes: Scopes };
}

export const getAccount = contract('getAccount', 'GET /v1/account', {
    tag: 'Account',
    summary: 'Read plan, credits and limits of the account',
    scope: 'none',
    answer: {
        schema: () =>
            v.complete<AccountAnswer>({
                user_id: Joi.string(),
                workspace_id: Joi.string(),
                plan: v.oneOf(PLAN_NAMES),
                credits: {
                    balance: v.count(),
                    allowance: { limit: v.count(), remaining: v.count() },
                    bonus: v.count(),
                    held: v.count(),
                    resets_at: v.time(),
                },
                limits: v.objects({
                    window: v.oneOf(['minute', 'hour', 'day']),
                    limit: v.count(),
                    remaining: v.count(),
                    resets_in: v.count().description('Seconds'),
                }),
                concurrency: { limit: v.count(), in_flight: v.count() },
                key: {
                    id: Joi.string(),
                    name: Joi.string().allow(''),
                    prefix: Joi.string(),
                    expires_at: v.nullableTime(),
                    scopes: scopes(),
                },
            }),
    },
});
