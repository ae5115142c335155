import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect } from 'chai';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { loadStarterRegistry } from '../../bin/demo/starter-registry.ts';
import { type Internet, openInternet } from '../starter/internet.ts';
import { type Sample, STARTERS } from '../starter/packages.ts';
import { SERVED } from '../starter/tasks.ts';
import { untilIndexed } from '../support/find.ts';
import { join } from '../support/people.ts';
import { openWorld, type World } from '../support/world.ts';

const TASKS = 10;
const SAMPLES: ReadonlyMap<string, Sample> = new Map(
    STARTERS.flatMap(({ document, fixture }) => fixture.answers.map((sample) => [`${document.site}/${sample.endpoint}`, sample])),
);
const hasSample = (name: string) => SAMPLES.has(name);
/** Spread evenly over the labelled tasks. Each has a sample response of its site. */
const CHOSEN = SERVED.filter(({ right }) => right.some(hasSample)).filter(
    (_task, place, all) => place % Math.floor(all.length / TASKS) === 0,
);

interface Row {
    site: string;
    endpoint: string;
}

describe('ten scripted tasks of an agent (M1)', () => {
    let internet: Internet;
    let world: World;
    let agent: Client;
    const spent: { task: string; calls: number; tokens: number; isDone: boolean }[] = [];

    before(async () => {
        internet = await openInternet();
        world = await openWorld({ config: { egressAllow: [], egressProxyUrl: internet.proxyUrl } });
        await loadStarterRegistry(world.app);
        await untilIndexed(world, 60_000);
        const { apiKey } = await join(world, { plan: 'pro' });
        agent = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } });
        const requestInit = { headers: { authorization: `Bearer ${apiKey}` } };
        await agent.connect(new StreamableHTTPClientTransport(new URL(`${world.base}/mcp`), { requestInit }));
        for (const { task, right } of CHOSEN.slice(0, TASKS)) spent.push(await work(task, right));
    });
    after(async () => {
        await agent?.close();
        await world?.close();
        await internet?.close();
    });

    /**
     * Finds the endpoint, looks up its site if the first result did not show it, and fetches. Counts the tokens that the model writes and
     * reads.
     */
    async function work(task: string, right: readonly string[]) {
        const counted = { task, calls: 0, tokens: 0, isDone: false };
        const use = async (name: string, args: Record<string, unknown>) => {
            const answer = await agent.callTool({ name, arguments: args });
            const text = (answer.content as { type: string; text?: string }[]).map((part) => part.text ?? JSON.stringify(part)).join('\n');
            counted.calls++;
            counted.tokens += countTokens(JSON.stringify({ name, args })) + countTokens(text);
            return { isError: answer.isError === true, said: answer.structuredContent as Record<string, unknown> };
        };
        const found = (await use('find_endpoint', { task })).said['endpoints'] as (Row | string)[];
        const names = found.flatMap((row) => (typeof row === 'string' ? [] : [`${row.site}/${row.endpoint}`]));
        let name = names.find((one) => right.includes(one) && hasSample(one));
        if (name === undefined) {
            name = right.find(hasSample) as string;
            await use('look_up_site', { site: name.slice(0, name.indexOf('/')), intent: `what serves this task here: ${task}` });
        }
        const sample = SAMPLES.get(name) as Sample;
        internet.willAnswer([sample, ...(sample.then ?? [])].map(({ answer }) => answer));
        const site = name.slice(0, name.indexOf('/'));
        counted.isDone = !(await use('fetch', { site, endpoint: sample.endpoint, params: sample.params })).isError;
        return counted;
    }

    it('succeed, each with the site’s response', () => {
        expect(spent).to.have.length(TASKS);
        expect(spent.filter(({ isDone }) => !isDone)).to.deep.equal([]);
    });

    it('take at most 3 calls and 4,000 tokens at the median', () => {
        const told = JSON.stringify(spent, undefined, 1);
        expect(medianOf(spent.map(({ calls }) => calls)), told).to.be.at.most(3);
        expect(medianOf(spent.map(({ tokens }) => tokens)), told).to.be.at.most(4000);
    });
});

/** Of an even number of values, the higher one in the middle. */
function medianOf(figures: number[]): number {
    return figures.toSorted((a, b) => a - b)[Math.floor(figures.length / 2)] as number;
}
