import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import fc from 'fast-check';
import type { Json, ResponseType, Select } from '../../shared/domain/types.ts';
import type { Collecting } from '../../workers/collect.ts';
import { collectPages } from '../../workers/collect-pages.ts';
import { maxSelected } from '../../workers/select/inline.ts';
import { MAX_OUTPUT } from '../../workers/select/measure.ts';
import { readPart } from '../../workers/select/read-part.ts';
import type { SiteCall } from '../../workers/site-call.ts';
import type { Page } from '../../workers/upstream.ts';

const KIB = 1024;

/** Bytes of what is read of a body. */
function read(body: string, select: Select | undefined): number {
    const bytes = Buffer.from(body);
    const page = { status: 200, contentType: 'application/json', body: bytes, url: 'http://a.test/', method: 'GET', type: 'json' } as const;
    return Buffer.byteLength(readPart(page, { type: 'json', select, schema: undefined }, { results: 'items', next: undefined }).text);
}

/** The memory that is asked for before a page of a walk is read, which is then refused. */
async function reservedFor(body: Uint8Array, type: ResponseType | undefined): Promise<number | undefined> {
    const page: Page = { status: 200, headers: {}, body, url: 'http://a.test/', method: 'GET' };
    let reserved: number | undefined;
    const call = {
        send: () => Promise.resolve({ ok: true, page }),
        reserve(bytes: number) {
            reserved = bytes;
            return Promise.resolve({ ok: false, code: 'OVERLOADED' });
        },
    } as unknown as SiteCall;
    const pagination = { style: 'page', param: 'page' } as const;
    const response = { type, select: undefined, schema: undefined };
    const endpoint = { url: 'http://a.test/', method: 'GET', headers: {}, params: [], billing: {}, pagination, response };
    await collectPages({
        call,
        endpoint,
        values: {},
        userAgent: 'x',
        job: { maxPages: 1, maxResults: 1 },
    } as unknown as Collecting);
    return reserved;
}

describe('the maximum selection from a page', () => {
    const selects: (Select | undefined)[] = [undefined, 'items', 'items[].{a: x, b: y}', { items: 'items', again: 'items[].x', none: 'z' }];

    it('is never less than the actual selection', () => {
        const value = fc.oneof(
            fc.jsonValue(),
            fc.constantFrom<Json>({}, [], 0, { x: [{}] }),
            fc.double({ noNaN: true }),
        ) as fc.Arbitrary<Json>;
        fc.assert(
            fc.property(fc.array(value, { maxLength: 40 }), fc.constantFrom(...selects), (items, select) => {
                const body = JSON.stringify({ items });
                expect(read(body, select)).to.be.at.most(maxSelected(Buffer.byteLength(body), select));
            }),
        );
        for (const text of ['1e20', '-1e20', '{}', '""']) {
            const body = `{"items":[${Array(500).fill(text).join()}]}`;
            for (const select of selects) expect(read(body, select)).to.be.at.most(maxSelected(body.length, select));
        }
    });

    it('is small for small pages with plain paths and fields, and the limit if parts can be selected repeatedly', () => {
        expect(maxSelected(10 * KIB, undefined)).to.be.below(256 * KIB);
        expect(maxSelected(4 * KIB, 'items[].{id: id, name: name}')).to.be.below(256 * KIB);
        expect(maxSelected(KIB, 'items | [@, @][]')).to.equal(MAX_OUTPUT);
        expect(maxSelected(5 * KIB * KIB, undefined)).to.equal(MAX_OUTPUT);
    });

    it('is reserved for a page of a walk by what it may unpack to, and for tables', async () => {
        const small = Buffer.from('[1]');
        expect(await reservedFor(small, undefined)).to.be.below(KIB);
        expect(await reservedFor(gzipSync(small), undefined)).to.equal(MAX_OUTPUT);
        expect(await reservedFor(Buffer.from('a\n1'), 'csv')).to.equal(MAX_OUTPUT);
    });
});
