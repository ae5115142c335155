import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { VERSION } from '../platform/version.ts';
import type { Ask } from './ask.ts';
import type { FindEffect } from './effects.ts';
import { type AddTool, openToolBox } from './tool-box.ts';
import { account } from './tools/account.ts';
import { dryRun, fetchRead, fetchWrite } from './tools/fetches.ts';
import { findEndpoint, lookUpSite, searchSchemas } from './tools/registry.ts';
import { checkRequest, requestSchema } from './tools/requests.ts';

const INSTRUCTIONS =
    'Routebook knows the callable endpoints of websites and calls them for you. Begin with find_endpoint, which takes a task and tells the call; look a site up where you need more of it; then fetch. ' +
    'Reads go through fetch; what changes something at the site goes through fetch_write, and only when your person wants it. ' +
    'Successful fetches cost credits; dry_run shows the request and its price for nothing.';

/** In the order in which agents are shown them. */
const TOOLS: readonly AddTool[] = [
    findEndpoint,
    searchSchemas,
    lookUpSite,
    fetchRead,
    fetchWrite,
    dryRun,
    requestSchema,
    checkRequest,
    account,
];

/**
 * Routebook as tools of the Model Context Protocol, over whatever transport.
 * @param ask calls the API with the key, limits and credits of the person who runs the agent
 * @param findEffect tells reads from writes before anything is sent
 */
export function agentServer(ask: Ask, findEffect: FindEffect): McpServer {
    const server = new McpServer({ name: 'routebook', title: 'Routebook', version: VERSION }, { instructions: INSTRUCTIONS });
    const box = openToolBox(ask, findEffect);
    for (const add of TOOLS) add(server, box);
    return server;
}
