import { expect } from 'chai';
import type { Card, PublishAnswer } from '../../shared/contracts/schemas.ts';
import type { PackageDocument } from '../../shared/domain/types.ts';
import { type Answer, join, type Person, stranger } from '../support/people.ts';
import { codeOf, dataOf, detailsOf } from '../support/routes.ts';
import { anEndpoint, aPackage } from '../support/schemas.ts';
import { useWorld } from '../support/world.ts';

describe('a bad package', () => {
    const world = useWorld({ workers: 0 });
    let maker: Person;

    before(async () => {
        maker = await join(world, { plan: 'enterprise' });
    });

    const published = (answer: Answer) => dataOf(answer) as unknown as PublishAnswer;
    const cardOf = async (site: string) => dataOf(await stranger(world).call('GET', `/v1/schemas/${site}`)) as unknown as Card;

    const site = 'good.test';
    const good = aPackage(site, {
        endpoints: [
            anEndpoint(site, {
                headers: { accept: 'application/json' },
                hosted: true,
                effect: 'read',
                response: { type: 'json', select: { id: 'id' }, schema: { type: 'object' } },
                billing: { unit: 'request' },
                examples: [{ params: { id: 1 } }],
            }),
            anEndpoint(site, {
                name: 'list',
                kind: 'paginate',
                url: `https://${site}/list`,
                params: [{ name: 'page', source: 'query', required: false, default: 1, example: 2 }],
                response: { select: { items: 'rows' } },
                pagination: { style: 'page', param: 'page', start: 1, step: 1, max_pages: 3 },
            }),
        ],
    });

    it('is refused for each value with a wrong type, with a pointer to the value, and nothing is stored', async () => {
        const stored = published(await maker.publish(good));
        let tried = 0;
        for (const { pointer, mutant } of mutantsOf(good)) {
            const refused = await maker.publish(mutant);
            tried++;
            expect([refused.status, codeOf(refused)], `${pointer} ${JSON.stringify(mutant)}`).to.deep.equal([422, 'SCHEMA_INVALID']);
            const paths = detailsOf(refused).map((detail) => detail.split(' ')[0] ?? '');
            expect(
                paths.some((path) => path.startsWith(pointer) || pointer.startsWith(path)),
                `${pointer}: ${paths}`,
            ).to.equal(true);
        }
        expect(tried).to.be.greaterThan(100);
        expect((await cardOf(site)).version).to.equal(stored.version);
        expect(published(await maker.publish({ ...good, title: 'Still fine' })).version).to.equal(stored.version + 1);
    });

    it('is refused with every problem at once', async () => {
        const refused = await maker.publish({
            ...aPackage('localhost'),
            title: 7,
            intent_category: 'commerce/nothing',
            surprise: true,
            cookies: 'a=b',
            endpoints: [
                anEndpoint('elsewhere.test', { name: 'Bad Name' }),
                anEndpoint(site, { headers: { cookie: 'a=b', accept: 'Bearer 0123456789abcdefghij' } }),
                anEndpoint(site),
            ],
        });
        expect(detailsOf(refused)).to.include.members([
            '/site INVALID_DOMAIN',
            '/title INVALID_TYPE',
            '/intent_category UNKNOWN_CATEGORY',
            '/surprise UNKNOWN_FIELD',
            '/cookies FORBIDDEN_FIELD',
            '/endpoints/0/name INVALID_VALUE',
            '/endpoints/1/headers/cookie FORBIDDEN_FIELD',
            '/endpoints/1/headers/accept SECRET_DETECTED',
            '/endpoints/2/name DUPLICATE_NAME',
        ]);
        expect(JSON.stringify(refused.body)).not.to.include('0123456789abcdefghij');
    });

    it('is refused with more than a hundred problems if it has them, and a number that is too large hides none', async () => {
        const endpoints = Array.from({ length: 300 }, (_, index) => anEndpoint(site, { name: `Bad Name ${index}` }));
        const body = JSON.stringify({ ...aPackage(site, { endpoints }), surprise: 0 }).replace('"surprise":0', '"surprise":1e999');
        const details = detailsOf(await maker.publish(body as unknown as object));
        const expected = [
            '/surprise INVALID_VALUE',
            '/surprise UNKNOWN_FIELD',
            ...endpoints.map((_, i) => `/endpoints/${i}/name INVALID_VALUE`),
        ];
        expect(details).to.have.members(expected);
    });

    it('is refused with 422 if its text breaks storage, names object prototypes, is too deep or too large', async () => {
        const text = JSON.stringify(good);
        const bad = [
            text.replace('Example Shop', 'a\\u0000b'),
            text.replace('Example Shop', '\\ud800'),
            text.replace('Example Shop', '\\u0085'),
            text.replace('"title"', '"__proto__":{"a":1},"title"'),
            text.replace('"title"', '"constructor":{"prototype":{}},"title"'),
            text.replace('{"type":"object"}', `${'{"not":'.repeat(40)}{}${'}'.repeat(40)}`),
            text.replace('{"type":"object"}', '{"$ref":"https://elsewhere.test/schema.json"}'),
            text.replace('{"type":"object"}', '{"type":"string","pattern":"("}'),
            JSON.stringify({ ...good, endpoints: Array.from({ length: 501 }, (_, index) => anEndpoint(site, { name: `e${index}` })) }),
        ];
        for (const body of bad) {
            const refused = await maker.publish(body as unknown as object);
            expect([refused.status, codeOf(refused)], body.slice(0, 200)).to.deep.equal([422, 'SCHEMA_INVALID']);
        }
        expect(({} as { a?: number }).a).to.equal(undefined);
    });
});

/** Copies of a package in which one value has a type that its field does not accept, or one required field is missing. */
function* mutantsOf(document: PackageDocument): Generator<{ pointer: string; mutant: object }> {
    const free = /\/(default|example|schema|params\/id)(\/|$)|\/select/;
    for (const { holder, key, pointer } of placesOf(document)) {
        if (free.test(pointer)) continue;
        const value = holder[key];
        const wrong = typeof value === 'object' ? ['text', 7, true] : [{}, [], { a: [] }];
        for (const replacement of wrong) {
            holder[key] = replacement;
            yield { pointer, mutant: structuredClone(document) };
        }
        holder[key] = value;
    }
    for (const field of ['format', 'site', 'title', 'intent_category', 'endpoints'] as const) {
        const { [field]: _left, ...mutant } = document;
        yield { pointer: `/${field}`, mutant };
    }
    for (const field of ['name', 'method', 'url'] as const) {
        const [first, ...rest] = document.endpoints;
        const { [field]: _left, ...endpoint } = first ?? anEndpoint('unused.test');
        yield { pointer: `/endpoints/0/${field}`, mutant: { ...document, endpoints: [endpoint, ...rest] } };
    }
}

interface Place {
    holder: Record<string, unknown>;
    key: string;
    pointer: string;
}

function placesOf(value: object, at = ''): Place[] {
    return Object.entries(value).flatMap(([key, child]) => {
        const place = { holder: value as Record<string, unknown>, key, pointer: `${at}/${key}` };
        return typeof child === 'object' && child !== null ? [place, ...placesOf(child, place.pointer)] : [place];
    });
}
