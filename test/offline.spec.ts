import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

const GUARD = fileURLToPath(new URL('support/offline.ts', import.meta.url));
const MOCHA = createRequire(import.meta.url).resolve('mocha/bin/mocha.js');

/** Outbound connections whose errors are swallowed, as in careless code. 192.0.2.1 is reserved for documentation. */
const WAYS_OUT: Readonly<Record<string, string>> = {
    'a socket': `const { connect } = await import('node:net'); try { connect(443, '192.0.2.1').on('error', () => {}); } catch {}`,
    'a socket by name': `const { connect } = await import('node:net'); try { connect({ port: 443, host: 'elsewhere.test' }).on('error', () => {}); } catch {}`,
    'a TLS socket': `const { connect } = await import('node:tls'); try { connect({ port: 443, host: '2001:db8::1' }).on('error', () => {}); } catch {}`,
    fetch: `await fetch('http://192.0.2.1/').catch(() => {});`,
    'a look-up': `const { lookup } = await import('node:dns/promises'); try { await lookup('elsewhere.test'); } catch {}`,
};

describe('the suite', () => {
    for (const [way, code] of Object.entries(WAYS_OUT)) {
        it(`fails when a test connects outside of this machine by ${way}, even if the test does not notice`, async () => {
            expect(await run(code)).to.match(/tried to leave this machine/);
        });
    }

    it('allows connections within this machine', async () => {
        const stay = `const { createServer, connect } = await import('node:net');
            const server = createServer((socket) => socket.end()).listen(0, '127.0.0.1');
            await new Promise((done) => server.once('listening', done));
            const { port } = server.address();
            for (const target of [{ port }, { port, host: 'localhost', family: 4 }, { port, host: '127.0.0.1' }]) {
                await new Promise((done, fail) => connect(target).on('error', fail).on('close', done).resume());
            }
            server.close();`;
        expect(await run(stay)).to.equal(undefined);
    });
});

/** The output of a failed suite with this one test; undefined if it passed. */
async function run(code: string): Promise<string | undefined> {
    const folder = await mkdtemp(join(tmpdir(), 'routebook-offline-'));
    try {
        const spec = join(folder, 'way-out.spec.mjs');
        await writeFile(spec, `it('goes', async () => { ${code} });`);
        return await new Promise((done) => {
            execFile(process.execPath, [MOCHA, '--no-config', '--require', GUARD, spec], { cwd: folder }, (error, stdout, stderr) =>
                done(error === null ? undefined : `${stdout}${stderr}`),
            );
        });
    } finally {
        await rm(folder, { recursive: true, force: true });
    }
}
