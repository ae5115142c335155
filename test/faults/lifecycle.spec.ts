import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { createCleanup } from '../../shared/platform/lifecycle.ts';

describe('Closing what was opened', () => {
    it('closes the last opened first', async () => {
        const { cleanup, events } = recorded();
        cleanup.add('database', () => void events.push('database'));
        cleanup.add('server', () => void events.push('server'));
        await cleanup.close();
        expect(events).to.deep.equal(['server', 'database']);
    });

    it('continues when one close fails or never ends, and logs which', async () => {
        const { cleanup, events, errors } = recorded();
        cleanup.add('database', () => void events.push('database'));
        cleanup.add('queue', () => new Promise(() => {}), { timeoutMs: 5 });
        cleanup.add('server', () => {
            throw new Error('broken');
        });
        await cleanup.close();
        expect(events).to.deep.equal(['database']);
        expect(errors).to.deep.equal(['server failed to close', 'queue did not close in time']);
    });

    it('closes each thing once, however often it is called', async () => {
        const { cleanup, events } = recorded();
        cleanup.add('database', () => void events.push('database'));
        await Promise.all([cleanup.close(), cleanup.close()]);
        expect(events).to.deep.equal(['database']);
    });
});

describe('A process of Routebook', () => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
        it(`finishes and closes in the reverse order on ${signal}, and exits 0`, async () => {
            const run = start(`
                cleanup.add('database', () => console.log('database closed'));
                cleanup.add('server', async () => { await new Promise((resolve) => setTimeout(resolve, 20)); console.log('server closed'); });
            `);
            await run.says('ready');
            run.kill(signal);
            expect(await run.exit).to.equal(0);
            expect(run.output()).to.match(/server closed\ndatabase closed\n/);
        });
    }

    it('treats the copy of Ctrl-C that npm passes on as the same Ctrl-C', async () => {
        const run = start(`cleanup.add('server', () => new Promise((resolve) => setTimeout(resolve, 50)));`);
        await run.says('ready');
        run.kill('SIGINT');
        await run.says('finishing what is in flight');
        run.kill('SIGINT');
        expect(await run.exit).to.equal(0);
    });

    for (const [signal, code] of [
        ['SIGINT', 130],
        ['SIGTERM', 143],
    ] as const) {
        it(`exits at once with ${code} when ${signal} comes a second time`, async () => {
            const run = start(`cleanup.add('server', () => new Promise(() => {}), { timeoutMs: 60_000 });`);
            await run.says('ready');
            run.kill(signal);
            await run.says('finishing what is in flight');
            const asked = setInterval(() => run.kill(signal), 50);
            expect(await run.exit).to.equal(code);
            clearInterval(asked);
        });
    }

    it('exits 1 when the work in flight does not end within the grace time', async () => {
        const run = start(`cleanup.add('server', () => new Promise(() => {}), { timeoutMs: 60_000 });`, { graceMs: 30 });
        await run.says('ready');
        run.kill('SIGTERM');
        expect(await run.exit).to.equal(1);
        expect(run.output()).to.contain('the grace time ran out');
    });

    it('says in one line on stderr why it cannot start, closes what was open, and exits 1', async () => {
        const run = start(`
            cleanup.add('database', () => console.log('database closed'));
            throw new Error('port 8080 is taken\\nby somebody');
        `);
        expect(await run.exit).to.equal(1);
        expect(run.errors()).to.equal('routebook: port 8080 is taken by somebody\n');
        expect(run.output()).to.contain('database closed');
    });

    it('names every wrong setting, one a line', async () => {
        const run = start(`throw Object.assign(new Error('settings'), { lines: ['PORT must be a number', 'HOST is empty'] });`);
        expect(await run.exit).to.equal(1);
        expect(run.errors()).to.equal('routebook: PORT must be a number\nroutebook: HOST is empty\n');
    });

    for (const [what, fault] of [
        ['an exception', `setTimeout(() => { throw new Error('a bug'); });`],
        ['a rejection', `void Promise.reject(new Error('a bug'));`],
    ] as const) {
        it(`logs an unhandled ${what}, closes everything and exits 1`, async () => {
            const run = start(`cleanup.add('database', () => console.log('database closed')); ${fault}`);
            expect(await run.exit).to.equal(1);
            expect(run.output()).to.contain('a bug').and.contain('database closed');
        });
    }

    it('closes what a start has opened when the signal comes in the middle of it', async () => {
        const run = start(`
            cleanup.add('database', () => console.log('database closed'));
            console.log('half way');
            await new Promise((resolve) => process.on('SIGTERM', resolve));
            cleanup.add('server', () => console.log('server closed'));
        `);
        await run.says('half way');
        run.kill('SIGTERM');
        expect(await run.exit).to.equal(0);
        expect(run.output()).to.match(/server closed\ndatabase closed\n/);
    });
});

function recorded() {
    const events: string[] = [];
    const errors: string[] = [];
    const cleanup = createCleanup({ info() {}, error: (_fields, message) => void errors.push(message) });
    return { cleanup, events, errors };
}

/** A process whose start runs these statements and then prints `ready`. Its log goes to stdout. */
function start(body: string, { graceMs = 5000 } = {}) {
    const program = `
        import { runUntilSignal } from '${new URL('../../shared/platform/lifecycle.ts', import.meta.url)}';
        const write = (fields, message) => console.log(message, fields.err?.message ?? '');
        setInterval(() => {}, 60_000);
        await runUntilSignal({
            graceMs: ${graceMs},
            log: { info: write, error: write },
            async start(cleanup) {
                ${body}
                console.log('ready');
            },
        });
    `;
    const child = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    let errors = '';
    child.stdout.on('data', (chunk) => (output += chunk));
    child.stderr.on('data', (chunk) => (errors += chunk));
    const exit = once(child, 'close').then(([code]) => code as number | null);
    return {
        exit,
        output: () => output,
        errors: () => errors,
        kill: (signal: NodeJS.Signals) => child.kill(signal),
        async says(text: string) {
            while (!output.includes(text)) {
                if (child.exitCode !== null) throw new Error(`it ended before it said ${text}: ${errors}`);
                await sleep(5);
            }
        },
    };
}
