import Joi from 'joi';
import { AUTH_TYPES, type AuthType } from '../domain/types.ts';
import { BODY_BYTES, contract } from './contract.ts';
import * as v from './vocabulary.ts';

export interface ConnectionParams {
    connection_id: string;
}

export interface ConnectionOrder {
    site: string;
    auth_id?: string;
    name?: string;
    secret: { value?: string; username?: string; password?: string };
    shared?: boolean;
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
    hint: string;
    created_at: string;
    last_used_at: string | null;
}

export interface ConnectionDeleted {
    connection_id: string;
    deleted: true;
}

export interface ConnectionQuery extends v.PageQuery {
    site?: string;
}

const params = () => Joi.object<ConnectionParams, true>({ connection_id: Joi.string().required().description('con_…') });

const entry = () =>
    Joi.object<ConnectionEntry, true>({
        connection_id: Joi.string().required().description('con_…'),
        site: v.siteName().required(),
        auth_id: Joi.string().required().description("The entry of the package's auth that it is made for"),
        type: Joi.string()
            .valid(...AUTH_TYPES)
            .required(),
        name: Joi.string().required(),
        shared: Joi.boolean().required().description('Whether every member of the workspace may use it'),
        owner: Joi.string().allow(null).required().description('usr_…; null where a shared one outlived its owner in the workspace'),
        hosts: Joi.array().items(Joi.string()).required().description('The hosts that get the credential'),
        hint: Joi.string().required().description('The last four characters; of a value below 12 characters none'),
        created_at: v.time().required(),
        last_used_at: v.nullableTime().required(),
    });

const secretText = () => Joi.string().max(8192);

const order = Joi.object<ConnectionOrder, true>({
    site: v.siteInput().required(),
    auth_id: Joi.string().max(64).description("Which entry of the package's auth; needed where there are several"),
    name: v.publicText(1, 100).description('What you call it; the site by default'),
    secret: Joi.object({ value: secretText(), username: secretText(), password: secretText() })
        .required()
        .description('{value}, or {username, password} for type basic; 8 KiB at most. No answer ever repeats it'),
    shared: Joi.boolean().description('For every member of the workspace; false by default: for you alone'),
});

/** POST /v1/connections: keeps a credential of the caller's own for a site. */
export const postConnection = contract<object, object, ConnectionOrder, ConnectionEntry>({
    name: 'postConnection',
    method: 'POST',
    path: '/v1/connections',
    tag: 'Connections',
    summary: 'Connect a site',
    description:
        'The value is encrypted, and opened by a worker alone, in the moment of a call. It goes over https to the hosts in the answer and nowhere else. A workspace has 500 connections at most.',
    auth: 'required',
    scope: 'account',
    counted: false,
    body: { schema: order, maxBytes: BODY_BYTES, guard: true },
    answer: { shape: 'data', status: 201, schema: entry() },
    refusals: [
        'INVALID_JSON',
        'INVALID_DOMAIN',
        'API_KEY_REQUIRED',
        'INVALID_API_KEY',
        'FORBIDDEN',
        'SITE_BLOCKED',
        'SITE_NOT_FOUND',
        'PAYLOAD_TOO_LARGE',
        'UNSUPPORTED_MEDIA_TYPE',
    ],
});

/** GET /v1/connections: what the caller may use. */
export const getConnections = contract<object, ConnectionQuery, undefined, ConnectionEntry[]>({
    name: 'getConnections',
    method: 'GET',
    path: '/v1/connections',
    tag: 'Connections',
    summary: 'List your connections',
    description: 'Yours and the shared ones of the workspace, the newest first. Values are never shown.',
    auth: 'required',
    scope: 'fetch',
    counted: false,
    query: Joi.object<ConnectionQuery, true>({ site: v.siteInput(), limit: v.limit(), cursor: v.cursor() }),
    answer: { shape: 'list', status: 200, schema: Joi.array().items(entry()) },
    refusals: ['INVALID_CURSOR', 'INVALID_DOMAIN', 'API_KEY_REQUIRED', 'INVALID_API_KEY', 'FORBIDDEN'],
});

/** GET /v1/connections/{connection_id} */
export const getConnection = contract<ConnectionParams, object, undefined, ConnectionEntry>({
    name: 'getConnection',
    method: 'GET',
    path: '/v1/connections/{connection_id}',
    tag: 'Connections',
    summary: 'Read one connection',
    auth: 'required',
    scope: 'fetch',
    counted: false,
    params: params(),
    answer: { shape: 'data', status: 200, schema: entry() },
    refusals: ['API_KEY_REQUIRED', 'INVALID_API_KEY', 'FORBIDDEN', 'CONNECTION_NOT_FOUND'],
});

/** DELETE /v1/connections/{connection_id} */
export const deleteConnection = contract<ConnectionParams, object, undefined, ConnectionDeleted>({
    name: 'deleteConnection',
    method: 'DELETE',
    path: '/v1/connections/{connection_id}',
    tag: 'Connections',
    summary: 'Delete a connection and its value',
    description:
        'Every process has forgotten the value within a second. Shared ones are deleted by owners and admins of the workspace too.',
    auth: 'required',
    scope: 'account',
    counted: false,
    params: params(),
    answer: {
        shape: 'data',
        status: 200,
        schema: Joi.object<ConnectionDeleted, true>({
            connection_id: Joi.string().required(),
            deleted: Joi.boolean().valid(true).required(),
        }),
    },
    refusals: ['API_KEY_REQUIRED', 'INVALID_API_KEY', 'FORBIDDEN', 'CONNECTION_NOT_FOUND'],
});
