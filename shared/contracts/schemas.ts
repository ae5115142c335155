import Joi from 'joi';
import type { BrunoCollection } from '../domain/package/bruno-export.ts';
import type { Change, PackageChanges } from '../domain/package/diff.ts';
import type { PostmanCollection } from '../domain/package/postman-export.ts';
import { DOWNLOAD_FORMATS, type DownloadFormat } from '../domain/package/registry-choices.ts';
import { LIMITS_IN_WORDS } from '../domain/package/rules/limits.ts';
import type { ToolDefinition } from '../domain/package/tool-export.ts';
import type { SourceFile } from '../domain/package/typescript-export.ts';
import type { Claim } from '../domain/site/claim.ts';
import type { JsonObject, Kind, Method, PackageDocument } from '../domain/types.ts';
import { PACKAGE_BYTES } from './body-bytes.ts';
import { contract } from './contract.ts';
import * as v from './vocabulary.ts';

export type Changes = PackageChanges;

export interface PublishAnswer extends Pick<Card, 'site' | 'version' | 'version_hash' | 'verified'> {
    created: boolean;
    change: Change;
    changes: Changes;
    /** Null for a dry run. */
    published_at: string | null;
    warnings: { code: string; path?: string; message: string }[];
    credits_earned: number;
}

export interface Card {
    site: string;
    title: string;
    description: string;
    intent_category: string;
    verified: boolean;
    verified_at: string | null;
    version: number;
    version_hash: string;
    published_at: string;
    endpoints: { name: string; kind: Kind; method: Method; description: string; hosted: boolean; credits: number }[];
    maintainer: string;
    maintainer_id: string;
    claim: Claim;
    hosts: string[];
    fetches_7d: number;
    health: v.Health;
}

export type DownloadedPackage = PackageDocument & { version: number; version_hash: string; published_at: string };

export type SiteParams = Record<'site', string>;

/** Routes that anybody may read, and those that change what a workspace maintains. */
export const BROWSED = { tag: 'Registry', auth: 'optional', scope: 'none', cacheSeconds: 30 } as const;
export const MAINTAINED = { tag: 'Registry', scope: 'maintain', window: 'changes' } as const;

export const changes = () =>
    v.complete<Changes>({
        added: v.texts(),
        removed: v.texts(),
        changed: v.texts(),
        hosts_added: v.texts().description('Hosts that the previous version did not call'),
    });

export const postSchema = contract('postSchema', 'POST /v1/schemas', {
    tag: 'Registry',
    summary: 'Publish a schema package',
    description: `The body is a package of the format routebook/1: \`/docs/packages\` explains it, \`/schemas/routebook-1.json\` is its JSON Schema. ${LIMITS_IN_WORDS} If the content equals the latest version, the answer is 200 with created false. An account can publish 60 new versions an hour and 20 new sites a day, and send 3,600 packages an hour, including dry runs and rejected ones (enterprise accounts have no such limits). One write of an account runs at a time and four can wait; a further one gets 429, window publishing, Retry-After 1.`,
    scope: 'publish',
    query: Joi.object<{ dry_run?: boolean }, true>({ dry_run: Joi.boolean().description('Report everything, store nothing') }),
    body: { schema: Joi.object<JsonObject>().unknown(true).required(), maxBytes: PACKAGE_BYTES, guard: false, describedBy: 'Package' },
    headers: { 'If-Match': { description: 'Hash of the version that this one replaces; prevents lost updates' } },
    answer: {
        status: 201,
        alsoStatus: [200],
        schema: () =>
            v.complete<PublishAnswer>({
                site: v.siteName(),
                version: v.versionNumber(),
                version_hash: v.versionHash(),
                created: Joi.boolean(),
                change: Joi.string().valid('major', 'minor', 'patch'),
                changes: changes(),
                published_at: v.nullableTime(),
                verified: Joi.boolean(),
                warnings: v.objects({ code: Joi.string(), path: Joi.string().allow('').optional(), message: Joi.string() }),
                credits_earned: v.count(),
            }),
    },
    refusals: ['EMAIL_NOT_VERIFIED', 'NOT_MAINTAINER', 'CLAIM_REQUIRED', 'SITE_BLOCKED', 'VERSION_CONFLICT', 'SCHEMA_INVALID'],
});

export const card = () =>
    v.complete<Card>({
        site: v.siteName(),
        title: Joi.string(),
        description: Joi.string().allow(''),
        intent_category: Joi.string(),
        verified: Joi.boolean(),
        verified_at: v.nullableTime(),
        version: v.versionNumber(),
        version_hash: v.versionHash(),
        published_at: v.time(),
        endpoints: v.objects({
            name: Joi.string(),
            kind: v.kind(),
            method: v.method(),
            description: Joi.string().allow(''),
            hosted: Joi.boolean(),
            credits: v.count(),
        }),
        maintainer: Joi.string().description('Name of the longest-standing maintainer of the domain'),
        maintainer_id: Joi.string(),
        claim: v.claim(),
        hosts: v.hosts(),
        fetches_7d: v.count(),
        health: v.health(),
    });

export const getSchema = contract('getSchema', 'GET /v1/schemas/{site}', {
    ...BROWSED,
    summary: "Read the card of a site's latest schema",
    answer: { schema: () => card() },
    refusals: ['SITE_NOT_FOUND'],
});

export interface PackageQuery {
    version?: string;
    format?: DownloadFormat;
}

/** Depends on `format`: the package, tool definitions, source code, an OpenAPI document or a collection for Postman or Bruno. */
type PackageAnswer =
    | { success: true; data: DownloadedPackage }
    | { success: true; data: ToolDefinition[] }
    | { success: true; data: SourceFile }
    | OpenApiExport
    | PostmanCollection
    | BrunoCollection;

interface OpenApiExport extends JsonObject {
    openapi: '3.1.0';
    info: JsonObject;
    paths: JsonObject;
}

const success = () => Joi.boolean().valid(true);

export const getPackage = contract('getPackage', 'GET /v1/schemas/{site}/package', {
    ...BROWSED,
    summary: 'Download a schema package',
    description:
        'The formats: `routebook`, the package as published; `openapi`, an OpenAPI 3.1 document of the site itself, without an envelope; `tools`, tool definitions whose name and input are the `endpoint` and `params` of a hosted fetch; `postman` and `bruno`, collections of hosted fetches, without an envelope; `typescript` and `python`, a file of typed functions that use `routebook/client` or the Python package `routebook`.',
    query: Joi.object<PackageQuery, true>({
        version: Joi.string()
            .pattern(/^([1-9]\d{0,14}|[0-9a-f]{64})$/, 'the number of a version, such as 3, or its hash')
            .description('Number or hash of a version; the latest by default'),
        format: v.oneOf(DOWNLOAD_FORMATS).default('routebook'),
    }),
    answer: {
        shape: 'whole',
        schema: () =>
            Joi.alternatives<PackageAnswer>(
                v.complete({
                    success: success(),
                    data: v
                        .complete({
                            format: Joi.string().valid('routebook/1'),
                            site: v.siteName(),
                            title: Joi.string(),
                            intent_category: Joi.string(),
                            endpoints: v.listOf(v.jsonObject()),
                            version: v.versionNumber(),
                            version_hash: v.versionHash(),
                            published_at: v.time(),
                        })
                        .unknown(true),
                }),
                v.complete({
                    success: success(),
                    data: v.objects<ToolDefinition>({
                        name: Joi.string().max(64),
                        description: Joi.string().max(1024),
                        input_schema: v.jsonObject().description('JSON Schema 2020-12 of an object'),
                    }),
                }),
                v.complete({ success: success(), data: v.complete<SourceFile>({ file: Joi.string(), source: Joi.string() }) }),
                v.complete({ openapi: Joi.string().valid('3.1.0'), info: v.jsonObject(), paths: v.jsonObject() }).unknown(true),
                v.complete<BrunoCollection>({
                    name: Joi.string(),
                    version: Joi.string().valid('1'),
                    brunoConfig: v.jsonObject(),
                    root: v.jsonObject(),
                    items: v.listOf(v.jsonObject()),
                    environments: v.listOf(v.jsonObject()),
                }),
                v.complete<PostmanCollection>({
                    info: { name: Joi.string(), description: Joi.string().allow(''), schema: Joi.string() },
                    auth: v.jsonObject(),
                    variable: v.objects({ key: Joi.string(), value: Joi.string().allow(''), type: Joi.string() }),
                    item: v.listOf(v.jsonObject()),
                }),
            ),
    },
    answerParts: { '/anyOf/0/properties/data': 'PublishedPackage' },
    refusals: ['SITE_NOT_FOUND', 'VERSION_NOT_FOUND'],
});
