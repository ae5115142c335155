import Joi from 'joi';
import { contract } from './contract.ts';
import * as v from './vocabulary.ts';

export interface AuthorizeOrder {
    site: string;
    auth_id?: string;
    scopes?: string[];
    redirect_url?: string;
}

export interface AuthorizeAnswer {
    authorize_url: string;
    expires_at: string;
}

export interface OAuthClientOrder {
    client_id: string;
    client_secret?: string;
}

export interface OAuthClientEntry {
    site: string;
    client_id: string;
    callback_url: string;
}

export type OAuthClientDeleted = v.Deleted<'site'>;

export const authorizeConnection = contract('authorizeConnection', 'POST /v1/connections/authorize', {
    tag: 'Connections',
    summary: 'Begin to connect a site by OAuth',
    window: 'changes',
    description:
        "Send the key's user to authorize_url within ten minutes. They consent at the site, then confirm here while signed in, which creates the connection. The site needs an OAuth client, of the workspace or of the operator.",
    scope: 'account',
    body: {
        schema: Joi.object<AuthorizeOrder, true>({
            site: v.siteInput().required(),
            auth_id: Joi.string().max(64).description("The entry of the package's auth; required if there are several of type oauth2"),
            scopes: Joi.array().items(Joi.string().max(200)).max(100).unique().description('All scopes of the entry by default'),
            redirect_url: Joi.string()
                .max(2048)
                .description("Where people return afterwards, exactly as written in the workspace's list; by default a page of Routebook"),
        }),
    },
    answer: { schema: () => v.complete<AuthorizeAnswer>({ authorize_url: Joi.string(), expires_at: v.time() }) },
    refusals: ['INVALID_DOMAIN', 'SITE_BLOCKED', 'SITE_NOT_FOUND'],
});

const OF_CLIENT = { tag: 'Connections', scope: 'account', managersOnly: true, window: 'changes' } as const;

export const putOAuthClient = contract('putOAuthClient', 'PUT /v1/oauth-clients/{site}', {
    ...OF_CLIENT,
    summary: "Set the workspace's OAuth client for a site",
    description:
        'Register callback_url at the site. A public client has no secret. The client is sent only to the token endpoint of the latest version: set it again if a later version names another.',
    body: {
        schema: Joi.object<OAuthClientOrder, true>({
            client_id: Joi.string().min(1).max(1024).required(),
            client_secret: Joi.string().min(1).max(8192),
        }),
    },
    answer: {
        schema: () =>
            v.complete<OAuthClientEntry>({
                site: v.siteName(),
                client_id: Joi.string(),
                callback_url: Joi.string().description('The redirect URI to register at the site'),
            }),
    },
});

export const deleteOAuthClient = contract('deleteOAuthClient', 'DELETE /v1/oauth-clients/{site}', {
    ...OF_CLIENT,
    summary: "Delete the workspace's OAuth client for a site",
    description: 'Connections made with it can no longer be renewed.',
    answer: { schema: () => v.deleted('site', v.siteName()) },
    refusals: ['NOT_FOUND'],
});
