import { expect } from 'chai';
import { splitItems } from '../../shared/domain/json/split-items.ts';

const MAX = 10_000;
const BYTES = 8 * 1024 * 1024;
/** Splits a body. `turns` is the number of turns of the event loop meanwhile. */
async function split(text: string) {
    let turns = 0;
    const list = await splitItems(Buffer.from(text), 'items', MAX, async () => {
        turns += 1;
    });
    return { list, turns };
}

describe('the items of a large body', () => {
    it('are extracted, whatever strings contain', async () => {
        const items = ['{"q":"a,b]"}', '"\\"]"', '[1,2]', ' null '];
        const { list } = await split(`{"name":"items\\\\","x":{"items":[9]},"items":[${items.join()}],"max_credits":5}`);
        expect(list?.rest.toString()).to.equal('{"name":"items\\\\","x":{"items":[9]},"items":[],"max_credits":5}');
        expect([...(list?.items() ?? [])]).to.deep.equal(items);
    });

    it('are none in a list of spaces', async () => {
        for (const text of ['{"items":[]}', '{"items":[ \n ]}']) expect((await split(text)).list?.count).to.equal(0);
    });

    it('are counted up to the maximum', async () => {
        const { list } = await split(`{"items":[${'1,'.repeat(MAX - 1)}1]}`);
        expect(list?.count).to.equal(MAX);
        expect((await split(`{"items":[${'1,'.repeat(MAX)}1]}`)).list?.count).to.equal(MAX + 1);
    });

    /** Each 128 KiB of input is a slice. Beyond the maximum of items, nothing is read. */
    const BODIES: Record<string, [text: string, slices: number]> = {
        spaces: [`{"items":[${' '.repeat(BYTES)}]}`, 64],
        'commas alone': [`{"items":[${','.repeat(BYTES)}]}`, 0],
        'empty strings': [`{"items":[${'"",'.repeat(BYTES / 3)}]}`, 0],
        'one string': [`{"items":["${'a'.repeat(BYTES)}"]}`, 64],
        'one string of escaped quotes': [`{"items":["${'\\"'.repeat(BYTES / 2)}"]}`, 64],
        'one list of lists': [`{"items":[${'[]'.repeat(BYTES / 2)}]}`, 64],
        'fields beside the items': [`{${'"":1,'.repeat(BYTES / 5)}"items":[1]}`, 64],
        'no end': [`{"items":[${'['.repeat(BYTES)}`, 64],
    };
    for (const [name, [text, slices]] of Object.entries(BODIES)) {
        it(`are found in slices of the event loop: ${name}`, async () => {
            expect((await split(text)).turns).to.equal(slices);
        });
    }
});
