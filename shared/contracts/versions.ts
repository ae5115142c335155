import Joi from 'joi';
import { YANK_REASONS, type YankReason } from '../domain/package/registry-choices.ts';
import { contract } from './contract.ts';
import { BROWSED, changes, MAINTAINED, type PublishAnswer } from './schemas.ts';
import * as v from './vocabulary.ts';

export interface VersionEntry extends Pick<PublishAnswer, 'version' | 'version_hash' | 'verified' | 'change' | 'changes'> {
    published_at: string;
    published_by: string;
    yanked: boolean;
}

export type VersionParams = Record<'site' | 'version', string>;

export interface YankOrder {
    reason: YankReason;
}

const entry = () =>
    v.complete<VersionEntry>({
        version: v.versionNumber(),
        version_hash: v.versionHash(),
        published_at: v.time(),
        published_by: Joi.string().description('Name of the workspace'),
        verified: Joi.boolean(),
        yanked: Joi.boolean().description('A yanked version is never the latest'),
        change: Joi.string().valid('major', 'minor', 'patch'),
        changes: changes(),
    });

export const getVersions = contract('getVersions', 'GET /v1/schemas/{site}/versions', {
    ...BROWSED,
    summary: "List the versions of a site's schema",
    description: 'Newest first, including yanked versions.',
    query: v.pageQuery(),
    answer: { shape: 'list', schema: () => v.listOf(entry()) },
    refusals: ['SITE_NOT_FOUND'],
});

export const postYank = contract('postYank', 'POST /v1/schemas/{site}/versions/{version}/yank', {
    ...MAINTAINED,
    summary: 'Yank a version',
    description:
        'The highest remaining version becomes the latest at once. A version yanked as `broken` still runs if a call names it; one yanked for `security` or `legal` reasons never runs, and the package of a `legal` one is removed. Yanking it again only changes the reason.',
    body: { schema: Joi.object<YankOrder, true>({ reason: v.oneOf(YANK_REASONS).required() }) },
    answer: { schema: () => entry() },
    refusals: ['NOT_MAINTAINER', 'SITE_NOT_FOUND', 'VERSION_NOT_FOUND'],
});

export const deleteYank = contract('deleteYank', 'DELETE /v1/schemas/{site}/versions/{version}/yank', {
    ...MAINTAINED,
    summary: 'Restore a yanked version',
    description:
        'Does nothing to a version that is in use. What an operator took out of use for `security` or `legal` reasons only an operator puts back: FORBIDDEN.',
    answer: { schema: () => entry() },
    refusals: ['NOT_MAINTAINER', 'SITE_NOT_FOUND', 'VERSION_NOT_FOUND'],
});
