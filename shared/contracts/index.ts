import { getAccount } from './account.ts';
import { getCatalog } from './catalog.ts';
import type { AnyContract } from './contract.ts';
import { getCategories, getErrors, getHealth, getOpenApi } from './discovery.ts';
import { postFetch } from './fetch.ts';
import { getPackage, getSchema, postSchema } from './schemas.ts';

/** The API's table of contents: every route under /v1, in the order of the documents. */
export const CONTRACTS = [
    getCatalog,
    postFetch,
    postSchema,
    getSchema,
    getPackage,
    getAccount,
    getCategories,
    getErrors,
    getHealth,
    getOpenApi,
] as unknown as readonly AnyContract[];
