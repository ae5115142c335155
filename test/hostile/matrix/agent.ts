import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { expect } from 'chai';
import type { MeasuredApi } from '../../support/measured-api.ts';
import { join } from '../../support/people.ts';
import type { World } from '../../support/world.ts';
import type { Rows } from './rows.ts';
import { describeSurface, type Surface } from './surface.ts';

const UNBOUNDED = { perMinute: 1e6, perHour: 1e6, perDay: 1e6, allowance: 1e6, concurrency: 100 };

export const describeAgent = (rows: Rows) => describeSurface('an agent (MCP)', openAgent, rows);

async function openAgent(world: World, api: MeasuredApi): Promise<Surface> {
    const { apiKey } = await join(world, { plan: 'enterprise', overrides: UNBOUNDED });
    const agent = new Client({ name: 'test', version: '1' });
    const requestInit = { headers: { authorization: `Bearer ${apiKey}` } };
    // The SDK's own types disagree under exactOptionalPropertyTypes.
    await agent.connect(new StreamableHTTPClientTransport(new URL(`${api.base}/mcp`), { requestInit }) as Transport);

    async function use(tool: string, args: Record<string, unknown>) {
        const answer = (await agent.callTool({ name: tool, arguments: args })) as { content: { text: string }[] };
        const text = answer.content[0]?.text ?? '';
        const { error } = JSON.parse(text) as { error?: { code: string } };
        return { code: error?.code, length: text.length, isCut: text.includes('… ') };
    }
    /** Anybody may list the tools of a site. */
    async function listTools(site: string): Promise<void> {
        const headers = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };
        const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
        const { status } = await fetch(`${api.base}/mcp/${site}`, { method: 'POST', headers, body });
        expect(status).to.equal(200);
    }

    return {
        call: (site, endpoint) => use('fetch', { site, endpoint, params: {}, max_characters: 200_000 }),
        async check(site, endpoint, params) {
            await use('price_fetch', { site, endpoint, params }).catch(expectRefusal);
            await use('look_up_site', { site, intent: 'find words of this site please' });
            await listTools(site);
        },
        close: () => agent.close(),
    };
}

/** Params at the maximum depth of a body are deeper inside a message of MCP. */
function expectRefusal(error: unknown): void {
    expect(String(error)).to.include('VALIDATION_ERROR');
}
