import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { table } from '../../shared/platform/table.ts';
import { type CommandLine, openCommandLine, PROGRAM } from '../support/command-line.ts';

describe('a user at a shell', () => {
    let shell: CommandLine;

    before(() => {
        shell = openCommandLine();
    });
    after(() => shell.close());

    /** The completions that bash offers after these words. */
    async function completed(...words: string[]): Promise<string[]> {
        const { stdout } = await shell.run(['completion', 'bash']);
        const file = join(shell.folder, 'completion.bash');
        const quoted = words.map((word) => `'${word}'`).join(' ');
        writeFileSync(
            file,
            `compopt() { :; }\n${stdout}\nCOMP_WORDS=(routebook ${quoted}); COMP_CWORD=${words.length}; _routebook\nprintf '%s\\n' "\${COMPREPLY[@]}"\n`,
        );
        return execFileSync('bash', [file], { encoding: 'utf8' }).split('\n').filter(Boolean);
    }

    it('gets commands, their own commands, options and choices completed by bash', async () => {
        expect(await completed('cat')).to.have.members(['categories', 'catalog']);
        expect(await completed('claim', 's')).to.deep.equal(['start']);
        expect(await completed('yank', 'shop.example', '--rea')).to.deep.equal(['--reason']);
        expect(await completed('yank', 'shop.example', '3', '--reason', '')).to.deep.equal(['broken', 'security', 'legal']);
    });

    it('gets scripts for zsh and fish too, and an error for unknown shells', async () => {
        expect((await shell.run(['completion', 'zsh'])).stdout).to.match(/^#compdef routebook\n/);
        const fish = (await shell.run(['completion', 'fish'])).stdout;
        expect(fish).to.include("complete -c routebook -n '__fish_use_subcommand' -f -a pull");
        expect(fish).to.include("-n '__fish_seen_subcommand_from yank' -l reason -x -a 'broken security legal'");
        const { code, stderr } = await shell.run(['completion', 'tcsh']);
        expect(code).to.equal(2);
        expect(stderr).to.include('bash, zsh, fish');
    });

    it('is told by the exit code if the reader of a pipe went away before the end', () => {
        const piped = `"${process.execPath}" "${PROGRAM}" --help | sleep 0; echo "\${PIPESTATUS[0]}"`;
        expect(execFileSync('bash', ['-c', piped], { encoding: 'utf8' })).to.equal('141\n');
    });

    describe('reads tables', () => {
        const heads = ['job', 'created', 'code', 'site', 'credits'];
        const row = ['job_0123456789abcdefghijkl', '2026-11-29T05:15:35.123Z', null, 'a-shop-with-a-long-name.example', 1];
        const paint = (_style: string, text: string) => text;
        const read = (tableWidth: number) => table(heads, [row], { paint, tableWidth });

        it('in full in a file', () => {
            const [, line = ''] = read(Number.POSITIVE_INFINITY);
            expect(line.split(/ {2,}/)).to.deep.equal([row[0], row[1], '-', row[3], '1']);
        });

        it('as wide as the terminal, with the id in full', () => {
            expect(read(80)).to.deep.equal([
                'job                         created            site',
                'job_0123456789abcdefghijkl  2026-11-29 05:15Z  a-shop-with-a-long-name.example',
            ]);
            expect(read(70)[1]).to.equal('job_0123456789abcdefghijkl  2026-11-29 05:15Z  a-shop-with-a-long-nam…');
            expect(read(40)[1]).to.equal('job_0123456789abcdefghijkl');
            expect(read(20)).to.deep.equal(['job', row[0]]);
        });
    });
});
