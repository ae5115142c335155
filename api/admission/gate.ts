import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Server } from '@hapi/hapi';
import type { AnyContract } from '../../shared/contracts/contract.ts';
import type { AppPlugin } from '../plugins/plugin.ts';
import { browseThrottling } from './browse-throttling.ts';
import type { Check } from './check.ts';
import { clientPacing } from './client-pacing.ts';
import { clientReads } from './client-reads.ts';
import { eventLoopTurns } from './event-loop-turns.ts';
import { invalidKeyThrottling } from './invalid-keys.ts';
import { overload } from './overload.ts';
import { serialQueue } from './serial-queue.ts';

/** The checks that a request passes before hapi, in this order. */
export const gate: AppPlugin = {
    name: 'gate',
    register(server, { app }) {
        const pacing = clientPacing(app);
        installGate(server, [
            serialQueue(),
            pacing.check,
            clientReads(server, app),
            invalidKeyThrottling(app, pacing),
            browseThrottling(server, app),
            overload(server, app),
            eventLoopTurns(app),
        ]);
    },
};

/**
 * Runs these checks in order before a request reaches hapi. A refusal here costs a tenth of a refusal in hapi, so a process survives five
 * times its maximum load (decision 13).
 */
export function installGate(server: Server, checks: readonly Check[]): void {
    const { listener } = server;
    const hapi = listener.listeners('request') as RequestListener[];
    const contractOf = contractsByPath(server);
    listener.removeAllListeners('request');
    listener.on('request', (request: IncomingMessage, response: ServerResponse) => {
        const arrival = { request, response, contract: contractOf(request) };
        const step = (index: number): void => {
            const check = checks[index];
            if (check !== undefined) check(arrival, () => step(index + 1));
            else for (const serve of hapi) serve(request, response as Parameters<RequestListener>[1]);
        };
        step(0);
    });
}

/** Finds the contract of a request by method and path alone. The routes are read at the first request, when all of them exist. */
function contractsByPath(server: Server): (request: IncomingMessage) => AnyContract | undefined {
    let read: { fixed: Map<string, AnyContract>; others: { contract: AnyContract; form: RegExp }[] } | undefined;
    return ({ method: given, url = '' }) => {
        read ??= readContracts(server);
        const method = given === 'HEAD' ? 'GET' : given;
        const [path = ''] = url.split('?', 1);
        const fixed = read.fixed.get(`${method} ${path}`);
        return fixed ?? read.others.find(({ contract, form }) => contract.method === method && form.test(path))?.contract;
    };
}

/** Splits contracts into those with a param in their path, which matches one segment, and those without. */
function readContracts(server: Server) {
    const contracts = server.table().flatMap(({ settings: { app } }) => app?.contract ?? []);
    const hasName = ({ path }: AnyContract) => path.includes('{');
    return {
        fixed: new Map(
            contracts.filter((contract) => !hasName(contract)).map((contract) => [`${contract.method} ${contract.path}`, contract]),
        ),
        others: contracts.filter(hasName).map((contract) => ({ contract, form: formOf(contract.path) })),
    };
}

function formOf(path: string): RegExp {
    return new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`);
}
