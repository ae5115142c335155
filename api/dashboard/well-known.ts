import type { Server } from '@hapi/hapi';
import type { App } from '../../shared/app.ts';
import { servePublic } from '../answers/public-file.ts';

/** The file expires after this many days. RFC 9116 recommends less than a year. */
const HOLDS_DAYS = 180;
const DAY_MS = 86_400_000;

/** Serves `/.well-known/security.txt` (RFC 9116), and `/.well-known/change-password` for password managers. */
export function wellKnown(server: Server, app: App): void {
    const type = 'text/plain; charset=utf-8';
    servePublic(server, '/.well-known/security.txt', { type, isOpen: true, seconds: 86_400, read: () => securityText(app) });
    server.route({
        method: 'GET',
        path: '/.well-known/change-password',
        options: { app: { isOpen: false } },
        handler: (_request, h) => h.redirect('/dashboard/settings#password').header('cache-control', 'no-store'),
    });
}

function securityText(app: App): string {
    const url = app.publicUrl();
    const [operator] = app.config.operatorEmails;
    const expires = new Date(Math.ceil(app.clock.now() / DAY_MS + HOLDS_DAYS) * DAY_MS);
    return [
        `Contact: ${operator === undefined ? `${url}/abuse` : `mailto:${operator}`}`,
        `Expires: ${expires.toISOString()}`,
        'Preferred-Languages: en',
        `Canonical: ${url}/.well-known/security.txt`,
        `Policy: ${url}/security`,
        '',
    ].join('\n');
}
