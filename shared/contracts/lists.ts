import Joi from 'joi';
import { contract } from './contract.ts';
import { type Card, card } from './schemas.ts';
import * as v from './vocabulary.ts';

export interface SchemasQuery extends v.PageQuery {
    q?: string;
    category?: string;
    verified?: boolean;
    sort?: 'trending' | 'recently_verified' | 'recent' | 'name';
}

/** GET /v1/schemas: the cards of all sites, or of those that are looked for. */
export const getSchemas = contract<object, SchemasQuery, undefined, Card[]>({
    name: 'getSchemas',
    method: 'GET',
    path: '/v1/schemas',
    tag: 'Registry',
    summary: 'Search and list schemas',
    description:
        'Cards of the latest versions. Words are found by how they begin, in the name of a site and in its title; one that begins none is taken for those that it resembles. Without `sort` the best matches of `q` come first, and without `q` what is used most. The total of a search with more than 5,000 matches may be some seconds old.',
    auth: 'optional',
    scope: 'none',
    counted: false,
    query: Joi.object<SchemasQuery, true>({
        q: Joi.string().allow('').max(256).description('Words of a name or title, or the beginning of one'),
        category: v.category(),
        verified: Joi.boolean().description('true: verified schemas alone; false is the same as leaving it out'),
        sort: Joi.string()
            .valid('trending', 'recently_verified', 'recent', 'name')
            .description('name: by site, in the order of its letters; recent: by the time of publication'),
        limit: v.limit(),
        cursor: v.cursor(),
    }),
    answer: { shape: 'list', status: 200, schema: Joi.array().items(card()) },
    cacheSeconds: 15,
    refusals: ['INVALID_CURSOR', 'INVALID_API_KEY', 'FORBIDDEN'],
});
