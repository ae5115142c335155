import { execFile } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

describe('the commands on pages', () => {
    it('exist in the command line', async () => {
        const { stdout } = await promisify(execFile)(process.execPath, ['cli/bin/routebook.ts', '--help'], { cwd: ROOT });
        const known = [...stdout.matchAll(/^ {2}([a-z]+) /gm)].map(([, name]) => name);
        const named = globSync('api/dashboard/views/**/*.eta', { cwd: ROOT }).flatMap((file) =>
            [...readFileSync(`${ROOT}/${file}`, 'utf8').matchAll(/<code[^>]*>(?:npx )?routebook ([a-z]+)/g)].map(([, name]) => ({
                file,
                name,
            })),
        );
        expect(named.length).to.be.above(2);
        for (const { file, name } of named) expect(known, file).to.include(name);
    });
});
