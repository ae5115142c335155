import Joi from 'joi';
import { TRENDING_WINDOWS, type TrendingWindow } from '../domain/package/registry-choices.ts';
import { contract } from './contract.ts';
import * as v from './vocabulary.ts';

export interface TrendingAnswer {
    window: TrendingWindow;
    sites: {
        rank: number;
        site: string;
        title: string;
        intent_category: string;
        verified: boolean;
        fetches: number;
        lookups: number;
        score: number;
    }[];
    requested: { domain: string; requests: number }[];
}

const windows = () => v.oneOf(TRENDING_WINDOWS);

export const getTrending = contract('getTrending', 'GET /v1/trending', {
    tag: 'Discovery',
    summary: 'See what is used and requested most',
    description:
        'Updated once an hour. Each further call of one caller on one day counts less. A fetch counts four times as much as a look-up. Calls of a maintainer of the domain do not count.',
    auth: 'optional',
    scope: 'none',
    query: Joi.object<{ window?: TrendingWindow }, true>({ window: windows().default('7d') }),
    answer: {
        schema: () =>
            v.complete<TrendingAnswer>({
                window: windows(),
                sites: v.objects({
                    rank: Joi.number().integer().min(1),
                    site: v.siteName(),
                    title: Joi.string(),
                    intent_category: Joi.string(),
                    verified: Joi.boolean(),
                    fetches: v.count().description('Successful hosted fetches that count'),
                    lookups: v.count().description('Catalog look-ups that count'),
                    score: Joi.number().min(0),
                }),
                requested: v
                    .listOf(v.complete({ domain: v.siteName(), requests: v.count() }))
                    .description('Domains with schema requests, most wanted first'),
            }),
    },
    cacheSeconds: 60,
});
