import { writeFileSync } from 'node:fs';
import { join as joinPath } from 'node:path';
import { expect } from 'chai';
import type { PackageEndpoint } from '../../../shared/domain/types.ts';
import { type CommandLine, openCommandLine } from '../../support/command-line.ts';
import { aPackage } from '../../support/schemas.ts';
import { watchTree } from '../../support/tree-memory.ts';
import type { Bomb } from '../packages.ts';
import { type BombSite, millionsOfValues, openBombSite, scaled } from './bomb-site.ts';
import type { Rows } from './rows.ts';

const MIB = 1024 * 1024;

const GOOD: Bomb = { response: {}, contentType: 'application/json', body: '{"ok":true}' };
/** The memory limit of the command line and its reading process. */
const MAX_BYTES = (200 + 110 + 128) * MIB;

interface Result {
    endpoint: string;
    ok: boolean;
    code?: string;
    message?: string;
}

export function describeCommandLine({ read, checked, scales, values }: Rows): void {
    describe('routebook test of a package that', () => {
        let site: BombSite;
        let shell: CommandLine;

        before(async () => {
            site = await openBombSite();
            shell = openCommandLine({ EGRESS_ALLOW: '127.0.0.0/8', EGRESS_HOSTS: 'bombs.test=127.0.0.1' });
        });
        after(async () => {
            await site.close();
            shell.close();
        });

        const write = (endpoints: PackageEndpoint[]) =>
            writeFileSync(joinPath(shell.folder, 'bombs.json'), JSON.stringify(aPackage('bombs.test', { endpoints })));

        /** Calls all examples of the package, and measures it. */
        async function test(...options: string[]) {
            let watched: ReturnType<typeof watchTree> | undefined;
            const started = (pid: number) => {
                watched = watchTree(pid);
            };
            const ran = await shell.run(['test', 'bombs.json', '--pause', '0', ...options], { started });
            return { ran, most: watched?.().most ?? 0 };
        }

        for (const { name, at, code } of read) {
            it(`${name} uses limited CPU time and memory, and gets an error`, async () => {
                write(site.load('bombs.test', { ...scaled(at, scales), good: GOOD }));
                const { ran, most } = await test('--json');
                expect(most, 'bytes of all its processes').to.be.below(MAX_BYTES);
                const results = ran.json['results'] as Result[];
                expect(
                    results.map(({ endpoint }) => endpoint),
                    ran.stderr,
                ).to.deep.equal([...scales, 'good']);
                for (const result of results) {
                    if (result.endpoint === 'whole') expect(result).to.include({ code });
                    if (!result.ok) expect(result.code, result.endpoint).to.be.oneOf([code, 'UPSTREAM_TOO_LARGE']);
                    if (!result.ok) expect(result.message).to.match(/too much work|more than|does not fit/);
                }
                expect(results.at(-1)).to.include({ ok: true });
            });
        }

        // The operating system limits the length of arguments.
        const passed = checked.filter(({ calls }) => JSON.stringify(calls[0]?.params).length < 100_000);
        for (const { name, isTaken, document, calls } of passed) {
            it(`has ${name} is ${isTaken ? 'checked' : 'refused'} with limited CPU time and memory`, async () => {
                writeFileSync(joinPath(shell.folder, 'bombs.json'), JSON.stringify(document('bombs.test')));
                const [{ endpoint, params } = { endpoint: '', params: {} }] = calls;
                const { ran, most } = await test(endpoint, '--params', JSON.stringify(params), '--timeout', '1000', '--json');
                expect(most, 'bytes of all its processes').to.be.below(MAX_BYTES);
                if (isTaken) return;
                expect(ran.error['code']).to.equal('SCHEMA_INVALID');
                const [first] = ran.error['details'] as { code: string; path: string }[];
                expect(first?.code).to.equal('TOO_COMPLEX');
                expect(first?.path).to.match(/^\/endpoints\/[01]\/params\/\d+\/schema/);
            });
        }

        it('returns millions of values shows only the beginning of them', async () => {
            write(site.load('bombs.test', { ...millionsOfValues(scales, values), good: GOOD }));
            for (const options of [['--show'], ['--show', '--json']]) {
                const { ran, most } = await test(...options);
                expect(most, 'bytes of all its processes').to.be.below(MAX_BYTES);
                expect(ran.stdout.length).to.be.below(1_000_000);
                if (scales.includes('double')) expect(ran.stdout).to.include('UPSTREAM_TOO_LARGE');
                const told = options.length === 1 ? `the answer has ${2 * values + 190} characters` : '"data_cut":true';
                expect(ran.stdout).to.include(told);
            }
        });
    });
}
