import { expect } from 'chai';
import { CALL_BYTES } from '../../shared/contracts/body-bytes.ts';
import { join, type Person } from '../support/people.ts';
import { scopedKey } from '../support/scopes.ts';
import { useWorld } from '../support/world.ts';

const FETCH = { site: 'shop.test', endpoint: 'thing' };
const TOO_LARGE = 'x'.repeat(CALL_BYTES + 1);
/** Well-formed, but nobody's key. */
const WRONG_KEY = 'rb_live_0000000000000000000000000000000000000';

describe('a call with more than one fault', () => {
    const world = useWorld({ workers: 0 });
    let ada: Person;
    let reader: Person;

    before(async () => {
        ada = await join(world);
        reader = await scopedKey(world, ada, { routes: ['catalog'] });
    });

    async function send(
        path: string,
        { key, body, type = 'application/json' }: { key: string | undefined; body: string; type?: string },
    ): Promise<{ code: string; paths: string[] }> {
        const response = await fetch(`${world.base}${path}`, {
            method: 'POST',
            headers: { 'content-type': type, ...(key === undefined ? {} : { authorization: `Bearer ${key}` }) },
            body,
        });
        const { error } = (await response.json()) as { error: { code: string; details?: { path: string }[] } };
        return { code: error.code, paths: (error.details ?? []).map(({ path: place }) => place) };
    }

    it('gets the error of its key before that of its body, also with agents’ tools', async () => {
        expect((await send('/v1/fetch', { key: undefined, body: TOO_LARGE })).code).to.equal('API_KEY_REQUIRED');
        expect((await send('/v1/fetch', { key: WRONG_KEY, body: '{' })).code).to.equal('INVALID_API_KEY');
        expect((await send('/mcp', { key: WRONG_KEY, body: '{' })).code).to.equal('INVALID_API_KEY');
    });

    it('gets the error of a missing scope before that of a large body, and that of a body’s type before that of its size', async () => {
        expect((await send('/v1/fetch', { key: reader.apiKey, body: TOO_LARGE })).code).to.equal('FORBIDDEN');
        expect((await send('/v1/fetch', { key: ada.apiKey, body: TOO_LARGE, type: 'text/plain' })).code).to.equal('UNSUPPORTED_MEDIA_TYPE');
        expect((await send('/v1/fetch', { key: ada.apiKey, body: TOO_LARGE })).code).to.equal('PAYLOAD_TOO_LARGE');
    });

    it('gets all errors of its query and its body at once', async () => {
        const { code, paths } = await send('/v1/fetch?why=1', {
            key: ada.apiKey,
            body: JSON.stringify({ ...FETCH, site: 1, timeout_ms: 'soon', more: true }),
        });
        expect(code).to.equal('VALIDATION_ERROR');
        expect(paths).to.have.members(['/why', '/site', '/timeout_ms', '/more']);
    });
});
