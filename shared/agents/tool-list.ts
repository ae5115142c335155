import type { AgentTool } from './tool.ts';
import { fetchEndpoint, getJob, priceFetch, runBatch, startJob } from './tools/calls.ts';
import { findEndpoint, lookUpSite } from './tools/find.ts';
import { checkRequest, reportProblem, requestSchema } from './tools/requests.ts';

/** The general tools, in the order in which agents are shown them. */
export const TOOLS: readonly AgentTool[] = [
    findEndpoint,
    lookUpSite,
    fetchEndpoint,
    priceFetch,
    startJob,
    getJob,
    runBatch,
    requestSchema,
    checkRequest,
    reportProblem,
];

/** What a client tells its agent about the general tools. */
export const INSTRUCTIONS =
    'Routebook knows the callable endpoints of websites and calls them for you. Begin with find_endpoint: it takes a task and tells the call for fetch. ' +
    'What changes something at a site is for you to call only when your person wants it. price_fetch shows a request and its price for nothing.';
