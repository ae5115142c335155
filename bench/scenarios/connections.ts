import { newSecretKey } from '../../shared/domain/accounts/key-ring.ts';
import { CONNECTED, connectedPackage } from '../stack/package.ts';
import type { Stack } from '../stack/stack.ts';
import { throughProduction, warm } from './fetches.ts';
import type { Round } from './scenario.ts';

/** C1: the same call with a connection and without one, in turns. */
export const CONNECTIONS: Round = {
    name: 'connections',
    scenarios: [
        throughProduction('unconnected_64', 'item', { inFlight: 64 }, 15_000, CONNECTED),
        throughProduction('connected_64', 'mine', { inFlight: 64 }, 15_000, CONNECTED),
    ],
    async open(bench) {
        const { stack } = bench;
        const settings = { SECRET_KEYS: newSecretKey('bench') };
        await stack.replaceApi(settings);
        await stack.replaceWorkers(1, settings);
        await connect(stack);
        await warm(bench);
        return async () => {
            await stack.replaceApi();
            await stack.replaceWorkers(1);
        };
    },
};

/** Publishes the site that takes a key, and keeps one for the account of the bench. */
async function connect({ upstream, production: { base, apiKey } }: Stack): Promise<void> {
    await post('/v1/schemas', connectedPackage(Number(new URL(upstream).port)));
    await post('/v1/connections', { site: CONNECTED, secret: { value: 'the-key-of-the-bench-4711' } });

    async function post(path: string, body: object): Promise<void> {
        const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
        const response = await fetch(`${base}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
        if (response.status !== 201) throw new Error(`POST ${path}: ${response.status} ${await response.text()}`);
    }
}
