import Joi from 'joi';
import { contract } from './contract.ts';
import { BROWSED, MAINTAINED } from './schemas.ts';
import * as v from './vocabulary.ts';

export interface MaintainerEntry {
    workspace_id: string;
    name: string;
    /** When its removal takes effect; present while a removal is pending. */
    removal_at?: string;
}

export type MaintainerParams = Record<'site' | 'workspace_id', string>;

const list = () => ({
    shape: 'list' as const,
    schema: () =>
        v.objects<MaintainerEntry>({
            workspace_id: Joi.string(),
            name: Joi.string(),
            removal_at: v.time().description('When its removal takes effect; present while a removal is pending').optional(),
        }),
});

export const getMaintainers = contract('getMaintainers', 'GET /v1/schemas/{site}/maintainers', {
    ...BROWSED,
    summary: 'List the workspaces that maintain a site',
    description: 'They maintain every site of the registrable domain. The longest-standing one is first.',
    query: v.pageQuery(),
    answer: list(),
    refusals: ['SITE_NOT_FOUND'],
});

export const putMaintainer = contract('putMaintainer', 'PUT /v1/schemas/{site}/maintainers/{workspace_id}', {
    ...MAINTAINED,
    summary: 'Let a workspace maintain a site',
    description:
        'No body. A workspace that already maintains the domain is unchanged, and so is its pending removal. A workspace whose removal is pending cannot add or remove others: FORBIDDEN. Returns the first page of the updated list, like GET.',
    actsOnDomain: true,
    answer: list(),
    refusals: ['NOT_MAINTAINER', 'SITE_NOT_FOUND', 'NOT_FOUND'],
});

export const deleteMaintainer = contract('deleteMaintainer', 'DELETE /v1/schemas/{site}/maintainers/{workspace_id}', {
    ...MAINTAINED,
    summary: 'Remove a workspace from the maintainers of a site',
    description:
        'A workspace can remove itself at once, unless it is the last one: LAST_MAINTAINER. A proved owner removes others at once. Any other removal takes effect after 24 hours, at `removal_at`, unless the owners of that workspace stop it; then only an operator or a proved owner can remove it within the next 30 days. Only an operator can remove a proved owner. Removing a workspace that does not maintain the domain changes nothing. Returns the first page of the updated list, like GET.',
    actsOnDomain: true,
    answer: list(),
    refusals: ['NOT_MAINTAINER', 'SITE_NOT_FOUND', 'NOT_FOUND', 'LAST_MAINTAINER'],
});
