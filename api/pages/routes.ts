import type { Server } from '@hapi/hapi';
import type { App } from '../../shared/app.ts';
import { REFUSALS } from '../../shared/refusals.ts';
import { page } from './layout.ts';

/** The few pages that errors and user agents point to; everything on them is ours, so nothing needs escaping. */
export function pages(server: Server, app: App): void {
    const show = (path: string, title: string, body: () => string) =>
        server.route({
            method: 'GET',
            path,
            handler: (_request, h) =>
                h
                    .response(page(title, body()))
                    .type('text/html; charset=utf-8')
                    .header('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'")
                    .header('cache-control', 'public, max-age=300'),
        });

    show('/docs/errors', 'Error codes', errorsTable);
    show('/abuse', 'Who is calling your site', () => abuseText(app));
    show('/upgrade', 'Upgrade', upgradeText);
}

function errorsTable(): string {
    const rows = [...REFUSALS].map(
        ([code, { status, fault, retryable, meaning }]) =>
            `<tr id="${code}"><td><code>${code}</code></td><td>${status}</td><td>${fault}</td><td>${retryable}</td><td>${meaning}</td></tr>`,
    );
    return `<p>Every answer that is not a success has one of these codes in <code>error.code</code>. None of them is ever billed.</p>
        <table><thead><tr><th>code</th><th>status</th><th>fault</th><th>retryable</th><th>meaning</th></tr></thead><tbody>${rows.join('')}</tbody></table>`;
}

function abuseText(app: App): string {
    const contact = app.config.operatorEmails[0];
    return `<p>Requests with the user agent <code>Routebook</code> are sent by this service on behalf of its users, who call routes that
        contributors have documented. We identify ourselves, send at most the share of calls that we allow a site, and slow down when a
        site answers 429.</p>
        <p>If this is your site and you want us to call it less, or not at all, write to the operator
        ${contact === undefined ? 'of this service' : `(<code>${contact}</code>)`} and name the domain: calls stop within a second of
        the block.</p>`;
}

function upgradeText(): string {
    return `<p>Starter (49 USD a month): 15,000 credits, 60 calls a minute. Pro (149 USD a month): 60,000 credits, 100 calls a minute.
        Enterprise: limits and allowance by agreement.</p>
        <p>Payment online is not set up on this service. Ask its operator, who changes the plan with
        <code>npm run admin -- plan set WORKSPACE PLAN</code>; it holds from the next call on.</p>`;
}
