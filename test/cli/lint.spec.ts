import { readFileSync, writeFileSync } from 'node:fs';
import { join as joinPath } from 'node:path';
import { expect } from 'chai';
import type { Detail } from '../../shared/refusals.ts';
import { type CommandLine, openCommandLine } from '../support/command-line.ts';
import { join } from '../support/people.ts';
import { anEndpoint, aPackage, withChange } from '../support/schemas.ts';
import { openWorld } from '../support/world.ts';

interface Linted {
    file: string;
    ok: boolean;
    problems: (Omit<Detail, 'code'> & { code: string; line: number; column: number })[];
    warnings: { code: string; line: number }[];
}

describe('routebook lint', () => {
    let shell: CommandLine;

    before(() => {
        shell = openCommandLine();
    });

    after(() => shell.close());

    function write(name: string, content: object | string): string {
        writeFileSync(joinPath(shell.folder, name), typeof content === 'string' ? content : JSON.stringify(content, undefined, 4));
        return name;
    }

    it('reports the same as the server', async () => {
        const wrong = withChange(
            withChange(
                withChange(aPackage('shop.example'), '/intent_category', 'commerce/nothing'),
                '/endpoints/0/url',
                'https://else.test/',
            ),
            '/title',
            undefined,
        );
        const world = await openWorld({ workers: 0, config: { egressAllow: [] } });
        const ada = await join(world);
        const { body } = await ada.publish(wrong);
        await world.close();
        const ran = await shell.run(['lint', write('wrong.json', wrong), '--json']);
        const [file] = ran.json['files'] as Linted[];
        const bare = (details: readonly { path: string; code: string; message: string }[]) =>
            details.map(({ path, code, message }) => ({ path, code, message }));
        const { details } = body['error'] as { details: Detail[] };
        expect(details.length).to.be.greaterThan(2);
        expect(bare(file?.problems ?? [])).to.have.deep.members(bare(details));
        expect(ran.code).to.equal(1);
    });

    it("says how to check a package for a server of one's own", async () => {
        const name = write(
            'own.json',
            JSON.stringify(aPackage('shop.example')).replaceAll('https://shop.example', 'http://shop.example:8081'),
        );
        const closed = await shell.run(['lint', name]);
        expect(closed.code).to.equal(1);
        expect(closed.stdout).to.include('port 8081').and.include('EGRESS_ALLOW=127.0.0.1/32:8081');
        const [setting = ''] = /EGRESS_ALLOW=\S+/.exec(closed.stdout) ?? [];
        const open = await shell.run(['lint', name], { env: { EGRESS_ALLOW: setting.slice('EGRESS_ALLOW='.length) } });
        expect(open.code, open.stdout).to.equal(0);
    });

    it('points at the line and the column of each problem', async () => {
        const name = write('lines.json', withChange(aPackage('shop.example'), '/endpoints/0/params/0/source', 'cookie'));
        const ran = await shell.run(['lint', name, '--json']);
        const [file] = ran.json['files'] as Linted[];
        const lines = readFileSync(joinPath(shell.folder, name), 'utf8').split('\n');
        expect(file?.problems.length).to.be.greaterThan(0);
        const problem = file?.problems.find(({ path }) => path === '/endpoints/0/params/0/source');
        expect(lines[(problem?.line ?? 0) - 1]?.slice((problem?.column ?? 0) - 1)).to.match(/^"source": "cookie"/);
        const shown = await shell.run(['lint', name]);
        expect(shown.stdout).to.include(`${name}:${problem?.line}:${problem?.column}`);
    });

    it('points at an integer that the registry would round', async () => {
        const name = write(
            'rounded.json',
            JSON.stringify(aPackage('shop.example')).replace('"params":[{', '"params":[{"example":9007199254740993,'),
        );
        const ran = await shell.run(['lint', name, '--json']);
        const [file] = ran.json['files'] as Linted[];
        expect(file?.problems.map(({ path }) => path)).to.deep.equal(['/endpoints/0/params/0/example']);
    });

    it('points at the place where a file stops being JSON', async () => {
        const name = write('broken.json', '{\n    "format": "routebook/1"\n    "site": "shop.example"\n}\n');
        const ran = await shell.run(['lint', name, '--json']);
        expect(ran.code).to.equal(1);
        expect(ran.error).to.include({ code: 'INVALID_JSON', file: name, line: 3, column: 5 });
    });

    it('repeats no secret that it finds', async () => {
        const secret = `sk_live_${'a1B2c3D4'.repeat(4)}`;
        const name = write('secret.json', withChange(aPackage('shop.example'), '/description', `Use ${secret}.`));
        for (const options of [[], ['--json']]) {
            const ran = await shell.run(['lint', name, ...options]);
            expect(ran.code).to.equal(1);
            expect(ran.stdout).to.include('SECRET_DETECTED');
            expect(ran.stdout + ran.stderr).not.to.include(secret);
        }
    });

    it('accepts many files, and stdin, and succeeds only if all of them are valid', async () => {
        const example = { ...anEndpoint('shop.example'), examples: [{ params: { id: 1 } }] };
        const good = write('good.json', aPackage('shop.example', { endpoints: [example] }));
        const warned = write('warned.json', aPackage('shop.example'));
        const both = await shell.run(['lint', good, warned, '--json']);
        expect(both.code).to.equal(0);
        expect((both.json['files'] as Linted[]).map(({ warnings }) => warnings.map(({ code }) => code))).to.deep.equal([
            [],
            ['NO_EXAMPLES'],
        ]);
        const input = JSON.stringify(withChange(aPackage('shop.example'), '/format', 'routebook/9'));
        const mixed = await shell.run(['lint', good, '-', '--json'], { input });
        expect(mixed.code).to.equal(1);
        expect((mixed.json['files'] as Linted[]).map(({ file, ok }) => [file, ok])).to.deep.equal([
            [good, true],
            ['stdin', false],
        ]);
    });

    it('checks the files beside one that is not JSON and one that is missing', async () => {
        const broken = write('not-json.json', '{\n  "format"\n}');
        const good = write('sound.json', aPackage('shop.example'));
        const ran = await shell.run(['lint', broken, 'missing.json', good, '--json']);
        expect(ran.code).to.equal(1);
        const files = ran.json['files'] as Linted[];
        expect(files.map(({ file, ok, problems }) => [file, ok, ...problems.map(({ code, line }) => `${code} ${line}`)])).to.deep.equal([
            [broken, false, 'INVALID_JSON 3'],
            ['missing.json', false, 'FILE_NOT_FOUND 1'],
            [good, true],
        ]);
        const shown = await shell.run(['lint', broken, good]);
        expect(shown.stdout).to.include(`${broken}:3:1`).and.to.include(`✓ ${good}`);
    });

    it('names a missing file', async () => {
        const ran = await shell.run(['lint', 'nothing.json', '--json']);
        expect(ran.code).to.equal(1);
        expect(ran.error).to.include({ code: 'FILE_NOT_FOUND', file: 'nothing.json' });
        const below = await shell.run(['lint', `${import.meta.filename}/nothing.json`, '--json']);
        expect(below.error).to.include({ code: 'FILE_NOT_FOUND' });
    });
});
