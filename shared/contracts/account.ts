import Joi from 'joi';
import { EFFECTS, ROUTE_SCOPES, type Scopes } from '../domain/accounts/scopes.ts';
import { contract } from './contract.ts';
import * as v from './vocabulary.ts';

const names = () => Joi.array().items(Joi.string()).allow(null);

const scopes = () =>
    Joi.object({
        effects: Joi.array().items(v.oneOf(EFFECTS)).required(),
        sites: names().required().description('Exact names; null: all'),
        endpoints: names().required().description('Names of endpoints; null: all'),
        connections: names().required().description('Ids; null: all; empty: none'),
        routes: Joi.array().items(v.oneOf(ROUTE_SCOPES)).required(),
        ip_allow: names().required().description('Addresses and CIDR ranges that may use the key; null: all'),
    });

export interface AccountAnswer {
    user_id: string;
    workspace_id: string;
    plan: 'free' | 'starter' | 'pro' | 'enterprise';
    credits: {
        balance: number;
        allowance: { limit: number; remaining: number };
        bonus: number;
        held: number;
        resets_at: string;
    };
    limits: { window: 'minute' | 'hour' | 'day'; limit: number; remaining: number; resets_in: number }[];
    concurrency: { limit: number; in_flight: number };
    key: { id: string; name: string; prefix: string; expires_at: string | null; scopes: Scopes };
}

export const getAccount = contract({
    name: 'getAccount',
    route: 'GET /v1/account',
    tag: 'Account',
    summary: 'Read plan, credits and limits of the account',
    scope: 'none',
    answer: {
        schema: () =>
            Joi.object<AccountAnswer, true>({
                user_id: Joi.string().required(),
                workspace_id: Joi.string().required(),
                plan: Joi.string().valid('free', 'starter', 'pro', 'enterprise').required(),
                credits: Joi.object({
                    balance: v.count().required(),
                    allowance: Joi.object({ limit: v.count().required(), remaining: v.count().required() }).required(),
                    bonus: v.count().required(),
                    held: v.count().required(),
                    resets_at: v.time().required(),
                }).required(),
                limits: Joi.array()
                    .items(
                        Joi.object({
                            window: Joi.string().valid('minute', 'hour', 'day').required(),
                            limit: v.count().required(),
                            remaining: v.count().required(),
                            resets_in: v.count().required().description('Seconds'),
                        }),
                    )
                    .required(),
                concurrency: Joi.object({ limit: v.count().required(), in_flight: v.count().required() }).required(),
                key: Joi.object({
                    id: Joi.string().required(),
                    name: Joi.string().allow('').required(),
                    prefix: Joi.string().required(),
                    expires_at: v.nullableTime().required(),
                    scopes: scopes().required(),
                }).required(),
            }),
    },
});
