import { globSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { readEndpoint } from '../../shared/domain/package/endpoint.ts';
import { KINDS, type PackageEndpoint } from '../../shared/domain/types.ts';
import { KIND_EXECUTORS } from '../../workers/kinds/kinds.ts';

const plain: PackageEndpoint = { name: 'one', method: 'GET', url: 'https://shop.test/a' };

describe('the kinds of endpoints', () => {
    for (const kind of KINDS) {
        it(`plan the request of a ${kind}`, () => {
            const request = KIND_EXECUTORS[kind].plan(readEndpoint({ ...plain, kind }), {}, { userAgent: 'Routebook/test' });
            expect(request).to.include({ method: 'GET', url: 'https://shop.test/a' });
        });
    }

    it('are one request to their caller, but for the pages of paginate', () => {
        const billed = KINDS.map((kind) => KIND_EXECUTORS[kind].requests(3));
        expect(Object.fromEntries(KINDS.map((kind, place) => [kind, billed[place]]))).to.deep.equal({
            api_call: 1,
            navigate: 1,
            search: 1,
            paginate: 3,
            submit_form: 1,
        });
    });
});

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
