import { globSync, readFileSync } from 'node:fs';
import { expect } from 'chai';

describe('the guard on egress', () => {
    it('reads no environment, and nothing but a test gives a worker another connector', () => {
        const sources = globSync('{workers,bin,api,shared}/**/*.ts', { cwd: new URL('../..', import.meta.url).pathname });
        const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
        expect(sources.filter((path) => path.startsWith('workers/')).filter((path) => read(path).includes('process.env'))).to.deep.equal(
            [],
        );
        const others = sources.filter((path) => !/^workers\/(egress|upstream|worker\.ts|claims\/)/.test(path));
        expect(others.filter((path) => /\bconnector\b/i.test(read(path)))).to.deep.equal([]);
    });

    it('is the only thing in workers that opens a connection', () => {
        const sources = globSync('workers/**/*.ts', { cwd: new URL('../..', import.meta.url).pathname });
        const dials = sources.filter((path) =>
            /from 'node:(net|tls|dns|dns\/promises|http2|dgram)'|from 'undici'|\bfetch\(/.test(
                readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8'),
            ),
        );
        expect(dials.sort()).to.deep.equal([
            // TXT records, from name servers that an operator set.
            'workers/claims/read-txt.ts',
            'workers/egress/addresses.ts',
            'workers/egress/agent.ts',
            'workers/egress/connector.ts',
            'workers/egress/resolver.ts',
        ]);
    });
});
