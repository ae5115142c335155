import Joi from 'joi';
import { CONNECTION_STATUSES, type ConnectionStatus } from '../domain/connections/connection.ts';
import type { SecretFields } from '../domain/connections/secret.ts';
import { AUTH_TYPES, type AuthType } from '../domain/types.ts';
import { contract } from './contract.ts';
import { UPSTREAM_REFUSALS } from './fetch.ts';
import * as v from './vocabulary.ts';

export type ConnectionParams = Record<'connection_id', string>;

export interface ConnectionOrder {
    site: string;
    auth_id?: string;
    name?: string;
    secret: SecretFields;
    shared?: boolean;
}

export interface NewConnectionQuery {
    test?: boolean;
}

export interface ConnectionPatch {
    name?: string;
    secret?: ConnectionOrder['secret'];
    shared?: boolean;
    verify_with?: boolean;
    agree?: true;
}

export interface ConnectionEntry {
    connection_id: string;
    site: string;
    auth_id: string;
    type: AuthType;
    name: string;
    shared: boolean;
    owner: string | null;
    hosts: string[];
    scopes: string[];
    status: ConnectionStatus;
    verify_with: boolean;
    hint: string;
    created_at: string;
    last_used_at: string | null;
    expires_at: string | null;
}

export type ConnectionDeleted = v.Deleted<'connection_id'>;

export interface ConnectionQuery extends v.PageQuery {
    site?: string;
}

const entry = () =>
    v.complete<ConnectionEntry>({
        connection_id: v.id('con'),
        site: v.siteName(),
        auth_id: Joi.string().description("The entry of the package's auth that it belongs to"),
        type: v.oneOf(AUTH_TYPES),
        name: Joi.string(),
        shared: Joi.boolean().description('Whether every member of the workspace may use it'),
        owner: Joi.string().allow(null).description('usr_…; null if the owner of a shared connection left the workspace'),
        hosts: v.texts().description('The hosts that receive the credential'),
        scopes: v.texts().description('The scopes of an OAuth grant; empty for other credentials'),
        status: v
            .oneOf(CONNECTION_STATUSES)
            .description(
                'Calls use active and untested connections. untested: saved with test=false; rejected: the site answered three calls in a row with 401; expired, revoked: connect again',
            ),
        verify_with: Joi.boolean().description('Whether verification runs of the package may use it'),
        hint: Joi.string().description('The last four characters of the value; empty for values below 12 characters'),
        created_at: v.time(),
        last_used_at: v.nullableTime(),
        expires_at: v.nullableTime().description('When an OAuth grant expires; null otherwise'),
    });

const secretText = () => Joi.string().max(8192);

const secret = () =>
    Joi.object<SecretFields, true>({
        value: secretText(),
        username: secretText(),
        password: secretText(),
        client_id: secretText(),
        client_secret: secretText(),
        scopes: Joi.array().items(Joi.string().max(200)).max(100).unique(),
    }).description(
        '{value}, {username, password} for type basic, or {client_id, client_secret, scopes} for client_credentials of type oauth2; at most 8 KiB. Never returned',
    );

const order = Joi.object<ConnectionOrder, true>({
    site: v.siteInput().required(),
    auth_id: Joi.string().max(64).description("The entry of the package's auth; required if there are several"),
    name: v.publicText(1, 100).description('Your name for it; the site by default'),
    secret: secret().required(),
    shared: Joi.boolean().description('true: every member of the workspace may use it; false (the default): only you'),
});

const PATCH_FIELDS: Joi.StrictSchemaMap<ConnectionPatch> = {
    name: v.publicText(1, 100),
    secret: secret().description('A new credential; clears a rejection. Calls send it as the latest version of the schema defines'),
    shared: Joi.boolean(),
    verify_with: Joi.boolean().description(
        'Lend it to verification runs of the package, for endpoints that read. Only for its owner, in a workspace that maintains the site',
    ),
    agree: Joi.boolean().valid(true).description('Accept how the latest version of the schema uses the connection'),
};

const patch = Joi.object<ConnectionPatch, true>(PATCH_FIELDS)
    .min(1)
    .messages({ 'object.min': `Give at least one of ${Object.keys(PATCH_FIELDS).join(', ')}` });

const TESTED = [
    'ENDPOINT_NOT_FOUND',
    'ENDPOINT_NOT_HOSTED',
    'CONNECTION_REQUIRED',
    'CONNECTION_REJECTED',
    'OVERLOADED',
    ...UPSTREAM_REFUSALS,
] as const;

const COMMON = { tag: 'Connections', scope: 'account' } as const;
const USED = { tag: 'Connections', scope: 'fetch' } as const;

export const postConnection = contract('postConnection', 'POST /v1/connections', {
    ...COMMON,
    summary: 'Connect a site',
    window: 'changes',
    description:
        'The value is stored encrypted; only a worker decrypts it, for each call. It is sent over https to the hosts in the answer and nowhere else. If the schema names a test, the value is tested first: if the site answers 401 or 403, the answer is CONNECTION_REJECTED and nothing is stored. A workspace can have up to 500 connections.',
    query: Joi.object<NewConnectionQuery, true>({
        test: Joi.boolean().description('false: save it without the test, as untested'),
    }),
    body: { schema: order },
    answer: { status: 201, schema: () => entry() },
    refusals: ['INVALID_DOMAIN', 'SITE_BLOCKED', 'SITE_NOT_FOUND', ...TESTED],
});

export const patchConnection = contract('patchConnection', 'PATCH /v1/connections/{connection_id}', {
    ...COMMON,
    summary: 'Change a connection',
    window: 'changes',
    description:
        'Its owner changes a private connection, owners and admins of the workspace a shared one. A new secret is tested first, like a new connection; if the site rejects it, the previous secret is kept.',
    query: Joi.object<NewConnectionQuery, true>({ test: Joi.boolean().description('false: save a new secret without the test') }),
    body: { schema: patch },
    answer: { schema: () => entry() },
    refusals: ['SITE_BLOCKED', 'SITE_NOT_FOUND', 'NOT_MAINTAINER', 'CONNECTION_NOT_FOUND', ...TESTED],
});

export const testConnection = contract('testConnection', 'POST /v1/connections/{connection_id}/test', {
    ...COMMON,
    summary: 'Test a connection',
    description:
        'Calls the test endpoint of the schema. The call counts like a fetch and is free. A passed test clears a rejection. An account can run 30 tests an hour; after 5 rejected tests of a site within an hour, no more of that site.',
    answer: { schema: () => entry() },
    refusals: ['SITE_BLOCKED', 'SITE_NOT_FOUND', 'CONNECTION_NOT_FOUND', ...TESTED],
});

export const getConnections = contract('getConnections', 'GET /v1/connections', {
    ...USED,
    summary: 'List your connections',
    description: "Your own and the workspace's shared connections, newest first. Values are never shown.",
    query: Joi.object<ConnectionQuery, true>({ site: v.siteInput(), limit: v.limit(), cursor: v.cursor() }),
    answer: { shape: 'list', schema: () => v.listOf(entry()) },
    refusals: ['INVALID_DOMAIN'],
});

export const getConnection = contract('getConnection', 'GET /v1/connections/{connection_id}', {
    ...USED,
    summary: 'Read one connection',
    answer: { schema: () => entry() },
});

export const deleteConnection = contract('deleteConnection', 'DELETE /v1/connections/{connection_id}', {
    ...COMMON,
    summary: 'Delete a connection and its value',
    window: 'changes',
    description: 'Every process drops the value within a second. Owners and admins of the workspace can also delete shared connections.',
    answer: { schema: () => v.deleted('connection_id') },
});
