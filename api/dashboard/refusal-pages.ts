import type { Request, ResponseObject, ResponseToolkit } from '@hapi/hapi';
import type { App } from '../../shared/app.ts';
import { STATUS_CODES } from '../../shared/platform/node-http.ts';
import { type Refusal, type RefusalCode, refusalEntry } from '../../shared/refusals.ts';
import { recordRefusal, toRefusal } from '../answers/refusal.ts';
import { recogniseVisitor } from '../auth/session.ts';
import type { AppPlugin } from '../plugins/plugin.ts';
import { ownPath } from './authorize.ts';
import { show } from './render.ts';

/** Paths for programs. They are never answered with a page. */
const MACHINES = /^\/(v1|mcp|webhooks|metrics|livez|readyz|assets)(\/|$)/;

/** Shows refusals as a page if the client accepts HTML. Other clients get the JSON envelope. */
export const refusalPages: AppPlugin = {
    name: 'refusal-pages',
    register(server, { app }) {
        server.ext(
            'onPreResponse',
            async (request, h) => {
                const { response } = request;
                if (!('isBoom' in response) || !wantsPage(request)) return h.continue;
                const refusal = await toRefusal(app, response);
                recordRefusal(app, request, refusal);
                try {
                    // Reads of one client are limited (client-reads.ts); forms that are sent to no page are not.
                    if (refusal.code === 'NOT_FOUND' && request.method === 'get') await recogniseVisitor(app, request);
                    return refusalPage(app, request, h, refusal);
                } catch (error) {
                    // Fall back to the JSON envelope.
                    app.log.error({ request_id: request.app.requestId, err: error }, 'a bug: a refusal could not be shown as a page');
                    return h.continue;
                }
            },
            { before: 'refusals' },
        );
    },
};

function refusalPage(app: App, request: Request, h: ResponseToolkit, refusal: Refusal): ResponseObject {
    const { status } = refusalEntry(refusal.code);
    const title = TITLES[status] ?? STATUS_CODES[status] ?? 'Refused';
    const shown = show(app, request, h, {
        view: 'refusal',
        title,
        status,
        model: {
            status,
            title,
            message: MESSAGES[refusal.code] ?? refusal.message,
            contact: app.config.operatorEmails[0],
            next: status === 404 && request.path.startsWith('/dashboard') ? ELSEWHERE : NEXT_STEPS[status],
            again: request.method === 'get' && isTemporary(status) ? ownPath(request.path + request.url.search, '/') : undefined,
            requestId: request.app.requestId,
        },
        retryAfter: refusal.extras.retryAfter,
    });
    for (const [name, value] of Object.entries(refusal.extras.headers ?? {})) shown.header(name, value);
    return shown;
}

const TITLES: Readonly<Record<number, string>> = {
    400: 'Invalid request',
    403: 'Not allowed',
    404: 'Page not found',
    405: 'Method not allowed',
    413: 'Request too large',
    415: 'Unsupported content type',
    429: 'Too many requests',
    500: 'Something went wrong on our side',
    503: 'Please try again in a moment',
};

/** What a page says where the message of the API is for programs. The title says the rest. */
const MESSAGES: Partial<Record<RefusalCode, string>> = {
    INTERNAL: 'This is a bug, and it was logged.',
    INVALID_CURSOR: 'This link to a part of the list no longer works. Open the list from the menu.',
    METHOD_NOT_ALLOWED: 'This address only takes forms.',
};

/** What the visitor can do, where the message of the API does not say it. */
const NEXT_STEPS: Readonly<Record<number, string>> = {
    404: 'Check the address.',
    405: 'Open the page first, then use its form.',
    408: 'Check your connection, then send it again.',
    413: 'Send less at once, or use the API.',
    500: 'Try again. If it happens again, send us the request ID below.',
};

const ELSEWHERE = 'Check the address. If this belongs to another of your workspaces, switch to that one first.';

function isTemporary(status: number): boolean {
    return status === 429 || status >= 500;
}

function wantsPage(request: Request): boolean {
    return !MACHINES.test(request.path) && (request.raw.req.headers.accept ?? '').includes('text/html');
}
