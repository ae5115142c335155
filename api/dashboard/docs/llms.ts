import type { Server } from '@hapi/hapi';
import type { App } from '../../../shared/app.ts';
import { servePublic } from '../../answers/public-file.ts';

/** `/llms.txt`: tells agents how to use the service, in the format of llmstxt.org (Markdown, served as plain text). */
export function llmsText(server: Server, app: App): void {
    servePublic(server, '/llms.txt', { type: 'text/plain; charset=utf-8', isOpen: true, read: () => text(app.publicUrl()) });
}

const text = (url: string) => `# Routebook

> A registry of the routes behind websites, and workers that call them for you. Look a site up to get its callable endpoints; call them yourself, or let Routebook call them.

All of it is JSON over HTTPS. A key goes into the header \`Authorization: Bearer rb_live_…\`; it is free at ${url}/signup. Success is \`{"success": true, "data": …}\`. Failure is \`{"success": false, "error": {"code", "message", "retryable", "retry_after"?, "details"?}}\`: act on \`code\`, and repeat only where \`retryable\` is true, after \`retry_after\` seconds.

## Find out what a site offers

- \`GET ${url}/v1/endpoints?task=…\`: endpoints of all sites for a task in your own words, best first; \`fetch\` of each is a body for \`POST /v1/fetch\`. Begin here. No key needed.
- \`GET ${url}/v1/catalog/{domain}?intent=…\`: every endpoint of a site, best match first. The intent says what you want to do, in at least 5 words and 20 characters. Keep \`session_id\`. 5 calls an hour without a key.
- \`GET ${url}/v1/schemas?q=…\`: search the registry; \`category\`, \`verified=true\`, \`sort=trending\`.
- \`GET ${url}/v1/schemas/{site}/package?format=tools\`: the endpoints of a site as tool definitions.

## Have it called

- \`POST ${url}/v1/fetch\` with \`{"site", "endpoint", "params"}\`: needs a key. Charged only on success; \`meta.credits_used\` and \`meta.credits_remaining\` are exact. \`"dry_run": true\` shows the request and its maximum price without sending it.
- Send the catalog's \`session_id\` as \`X-Service-Session\`, and an \`Idempotency-Key\` of your own with everything whose \`effect\` is \`write\`: a repeat then never does it twice.
- \`max_credits\` and \`max_results\` bound what a call may cost.

## When a site is missing

- \`POST ${url}/v1/schema-requests\` with \`{"domain", "task"}\` asks contributors for it; \`GET ${url}/v1/schema-requests/{request_id}\` returns its status.

## More

- [OpenAPI 3.1](${url}/v1/openapi.json): every route, field, header and code
- [Error codes](${url}/v1/errors)
- [For agents](${url}/docs/agents): the Model Context Protocol at ${url}/mcp, streamable HTTP with the same key
- [Reference for people](${url}/docs)
`;
