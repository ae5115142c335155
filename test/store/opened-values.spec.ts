import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { createKeyRing, newSecretKey, parseSecretKeys } from '../../shared/domain/accounts/key-ring.ts';
import type { Endpoint, UpstreamRequest } from '../../shared/domain/types.ts';
import { secretOpener } from '../../shared/store/connections/sealing.ts';
import { createCallCredential, type Opened } from '../../workers/credentials/credential.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const PLACE = { workspaceId: 'wsp_1', connectionId: 'con_1', site: 'shop.test' };
const HOSTS = ['shop.test'];
const ENTRY = { id: 'key', type: 'header' as const, name: 'X-Api-Key', description: 'The key of an account.' };
const TERMS = {
    ownerId: 'usr_1',
    shared: false,
    authId: 'key',
    entry: ENTRY,
    hosts: HOSTS,
    status: 'active' as const,
    revision: 1,
    scopes: [],
};
const ENDPOINT = { url: 'https://shop.test/items' } as Endpoint;
const REQUEST: UpstreamRequest = { method: 'GET', url: 'https://shop.test/items', headers: {}, bodyShown: null };

/** A row as a process caches it for half a second. */
function sealedRow(value: string) {
    const keys = parseSecretKeys(newSecretKey('data'));
    if (!keys.ok) throw new Error(keys.problem);
    const [key] = keys.keys;
    if (key === undefined) throw new Error('no key was made');
    const ring = createKeyRing([key]);
    const purpose = JSON.stringify(['connection', PLACE.workspaceId, PLACE.connectionId, PLACE.site]);
    return secretOpener(ring, ring.seal(JSON.stringify({ value }), purpose), PLACE);
}

function call(open: () => Opened['secret']) {
    return createCallCredential({
        open: () => Promise.resolve({ connection: { ...PLACE, ...TERMS }, secret: open() }),
        offer: { auth: [ENTRY], hosts: HOSTS },
        endpoint: ENDPOINT,
        rules: { hosts: new Map() },
    });
}

describe('the decrypted value of a connection', () => {
    const openRow = sealedRow('sk-live-0123456789');
    const opened: WeakRef<object>[] = [];
    const open = () => {
        const secret = openRow() as Opened['secret'];
        opened.push(new WeakRef(secret));
        return secret;
    };

    /** Two calls that run until they are released. */
    async function together() {
        const calls = [call(open), call(open)];
        for (const one of calls) {
            const { request } = await one.attachTo(REQUEST);
            expect(request.headers['x-api-key']).to.equal('sk-live-0123456789');
            expect(one.maskText('your key is sk-live-0123456789')).to.equal('your key is •••');
        }
        return calls;
    }

    it('is shared by running calls, and kept by nothing when they have ended', async () => {
        const underWay = { calls: await together() };
        await nextTurn();
        collect();
        expect(opened.map((ref) => ref.deref() !== undefined && ref.deref() === opened[0]?.deref())).to.deep.equal([true, true]);

        underWay.calls = [];
        await nextTurn();
        collect();
        expect(opened.map((ref) => ref.deref() === undefined)).to.deep.equal([true, true]);

        expect((await call(open).attachTo(REQUEST)).isAttached).to.equal(true);
    });
});
