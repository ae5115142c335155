import { newSecretKey } from '../../shared/domain/accounts/key-ring.ts';
import type { Figures } from '../results.ts';
import { CONNECTED, connectedPackage } from '../stack/package.ts';
import type { Stack } from '../stack/stack.ts';
import { fetches, production, warm } from './fetches.ts';
import type { Bench, Round } from './scenario.ts';

/** C1: the same call with a connection and without one. */
export const CONNECTIONS: Round = {
    name: 'connections',
    scenarios: [{ name: 'connections', run: inTurns }],
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

/** Calls without (`item`) and with a connection (`mine`). In this order a machine that becomes faster or slower favours neither. */
const TURNS = ['item', 'mine', 'mine', 'item', 'mine', 'item', 'item', 'mine'];

async function inTurns(bench: Bench): Promise<Figures> {
    const { stack } = bench;
    const turns: { endpoint: string; figures: Figures }[] = [];
    for (const endpoint of TURNS) {
        const load = { site: CONNECTED, endpoints: [endpoint], pace: { inFlight: 64 }, measuredMs: 5000 };
        turns.push({ endpoint, figures: await fetches(bench, { service: stack.production, watched: production(stack), ...load }) });
    }
    return { ...meanOf('item', 'without'), ...meanOf('mine', 'with') };

    function meanOf(endpoint: string, name: string): Figures {
        const own = turns.filter((turn) => turn.endpoint === endpoint).map(({ figures }) => figures);
        const names = Object.keys(own[0] ?? {});
        const mean = (figure: string) => own.reduce((sum, figures) => sum + (figures[figure] ?? Number.NaN), 0) / own.length;
        return Object.fromEntries(names.map((figure) => [`${name}_${figure}`, mean(figure)]));
    }
}

/** Publishes the site that requires a key, and stores a key for the bench's account. */
async function connect({ upstream, production: { base, apiKey } }: Stack): Promise<void> {
    await post('/v1/schemas', connectedPackage(Number(new URL(upstream).port)));
    await post('/v1/connections', { site: CONNECTED, secret: { value: 'the-key-of-the-bench-4711' } });

    async function post(path: string, body: object): Promise<void> {
        const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
        const response = await fetch(`${base}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
        if (response.status !== 201) throw new Error(`POST ${path}: ${response.status} ${await response.text()}`);
    }
}
