import type { AgentTool } from './tool.ts';
import { fetchEndpoint, getJob, priceFetch, runBatch, startJob } from './tools/calls.ts';
import { findEndpoint, lookUpSite } from './tools/find.ts';
import { checkRequest, reportProblem, requestSchema } from './tools/requests.ts';

/** The general tools, in the order in which agents see them. */
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

/** The instructions that a client passes to its agent. */
export const INSTRUCTIONS =
    'Routebook knows the callable endpoints of websites and calls them for you. Begin with find_endpoint: it accepts a task and returns the call for fetch. ' +
    'Call endpoints that change something at a site only if your person wants it. price_fetch shows a request and its price for free.';
