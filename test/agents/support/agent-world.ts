import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Client as EarlierClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as EarlierTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport as EarlierTransportType } from '@modelcontextprotocol/sdk/shared/transport.js';
import { expect } from 'chai';
import { ownEnvironment } from '../../support/own-environment.ts';
import { join, type Person } from '../../support/people.ts';
import { openShop, SHOP_HOSTS, type Shop, shopPackage } from '../../support/shop.ts';
import { openWorld, type World } from '../../support/world.ts';

interface Listed {
    name: string;
    description?: string | undefined;
    annotations?: { readOnlyHint?: boolean | undefined } | undefined;
    outputSchema?: object | undefined;
}

/** The common interface of the clients of all protocol revisions. */
interface Agent {
    listTools(): Promise<{ tools: Listed[] }>;
    callTool(call: { name: string; arguments: Record<string, unknown> }): Promise<unknown>;
    close(): Promise<void>;
}

const headersOf = (apiKey: string) => ({ authorization: `Bearer ${apiKey}` });

/** How an agent reaches the tools. */
const OPEN: Readonly<Record<string, (world: World, apiKey: string) => Promise<Agent>>> = {
    async 'streamable HTTP'(world, apiKey) {
        const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } });
        await client.connect(
            new StreamableHTTPClientTransport(new URL(`${world.base}/mcp`), { requestInit: { headers: headersOf(apiKey) } }),
        );
        expect(client.getNegotiatedProtocolVersion()).to.equal('2026-07-28');
        return client;
    },
    async 'streamable HTTP, of 2025'(world, apiKey) {
        const client = new EarlierClient({ name: 'test', version: '1' });
        // The SDK's own types disagree under exactOptionalPropertyTypes.
        await client.connect(
            new EarlierTransport(new URL(`${world.base}/mcp`), { requestInit: { headers: headersOf(apiKey) } }) as EarlierTransportType,
        );
        return client;
    },
    async stdio(world, apiKey) {
        const client = new Client({ name: 'test', version: '1' });
        await client.connect(
            new StdioClientTransport({
                command: process.execPath,
                args: ['cli/bin/routebook.ts', 'mcp', '--server', world.base],
                env: {
                    ...ownEnvironment(),
                    XDG_CONFIG_HOME: '/nonexistent',
                    ROUTEBOOK_API_KEY: apiKey,
                },
                stderr: 'ignore',
            }),
        );
        return client;
    },
};

export const CLIENTS: readonly string[] = Object.keys(OPEN);

interface AgentWorld {
    shop: Shop;
    /** The agent's user, who published the shop's package. */
    ada: Person;
    tools(): Promise<Listed[]>;
    /** Calls a tool. */
    // biome-ignore lint/suspicious/noExplicitAny: each tool answers another shape.
    use(tool: string, args?: Record<string, unknown>): Promise<{ isError: boolean; text: string; said: any }>;
}

/** Opens a world with an agent for the tests of a `describe`. */
export function useAgentWorld(client: string): AgentWorld {
    const [shop, ada] = [{} as Shop, {} as Person];
    let world: World;
    let agent: Agent;
    before(async () => {
        Object.assign(shop, await openShop());
        world = await openWorld({ config: { egressHosts: SHOP_HOSTS } });
        Object.assign(ada, await join(world, { plan: 'starter' }));
        await ada.publish(shopPackage(shop.port));
        agent = await (OPEN[client] as (typeof OPEN)[string])(world, ada.apiKey ?? '');
    });
    after(async () => {
        await agent?.close();
        await world.close();
        await shop.close();
    });
    return {
        shop,
        ada,
        tools: async () => (await agent.listTools()).tools,
        async use(tool, args = {}) {
            const answer = (await agent.callTool({ name: tool, arguments: args })) as {
                isError?: boolean;
                content: { text: string }[];
                structuredContent?: unknown;
            };
            const text = answer.content[0]?.text ?? '';
            const said = JSON.parse(text);
            expect(answer.structuredContent, tool).to.deep.equal(said);
            return { isError: answer.isError ?? false, text, said };
        },
    };
}
