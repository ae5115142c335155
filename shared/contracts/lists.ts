import Joi from 'joi';
import { LIST_SORTS, type ListSort } from '../domain/package/registry-choices.ts';
import { contract } from './contract.ts';
import { card } from './schemas.ts';
import * as v from './vocabulary.ts';

export interface SchemasQuery extends v.PageQuery {
    q?: string;
    category?: string;
    verified?: boolean;
    sort?: ListSort;
}

export const getSchemas = contract('getSchemas', 'GET /v1/schemas', {
    tag: 'Registry',
    summary: 'Search and list schemas',
    description:
        'Cards of the latest versions. The words of `q` match the beginnings of words in site names and titles; a word without a match is corrected to similar words. Without `sort`, the best matches of `q` come first; without `q`, the most used sites. The total of a search with more than 5,000 matches may be some seconds old.',
    auth: 'optional',
    scope: 'none',
    query: Joi.object<SchemasQuery, true>({
        q: Joi.string().allow('').max(256).description('Words of a name or title, or beginnings of words'),
        category: v.category(),
        verified: Joi.boolean().description('true: only verified schemas; false has no effect'),
        sort: v.oneOf(LIST_SORTS).description('name: alphabetically by site; recent: by publication time'),
        limit: v.limit(),
        cursor: v.cursor(),
    }),
    answer: { shape: 'list', schema: () => v.listOf(card()) },
    cacheSeconds: 15,
});
