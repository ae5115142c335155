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
    return {
        call: (site, endpoint) => use('fetch', { site, endpoint, params: {}, max_characters: 200_000 }),
        async judge(site, endpoint, params) {
            await use('price_fetch', { site, endpoint, params }).catch(expectRefusal);
            await use('look_up_site', { site, intent: 'find words of this site please' });
        },
        close: () => agent.close(),
    };
}

/** Params that nest as deep as a body may are deeper in a message of MCP. */
function expectRefusal(error: unknown): void {
    expect(String(error)).to.include('VALIDATION_ERROR');
}
