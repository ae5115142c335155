import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { expect } from 'chai';
import { keyHash, newSecret } from '../../shared/domain/accounts/api-key.ts';
import { openDb } from '../../shared/platform/db.ts';
import { renewTokens } from '../../shared/store/apps/grants.ts';
import { signUp, type Visitor } from '../dashboard/support/visitor.ts';
import { eventually } from '../support/eventually.ts';
import { deleteOldRows } from '../support/old-rows.ts';
import { rawRequest } from '../support/raw.ts';
import { openWorld, type World } from '../support/world.ts';
import { oauthOf } from './support/oauth.ts';

const CALLBACK = 'http://127.0.0.1/callback';

describe('grants of apps', () => {
    let world: World;
    let oauth: ReturnType<typeof oauthOf>;
    let ada: Visitor;
    let clientId: string;

    before(async () => {
        world = await openWorld({ config: { trustProxy: 1 } });
        oauth = oauthOf(world);
        ada = await signUp(world);
        clientId = await oauth.register(CALLBACK);
    });
    after(() => world?.close());

    const signIn = (who = ada) => oauth.signIn(who, { clientId, redirectUri: CALLBACK });

    it('reject a token that was renewed, in any process', async () => {
        const other = await world.openAnotherApi();
        const there = (token: string | undefined) => oauth.statusOf(token, '/mcp', other.base);
        const { body } = await signIn();
        const old = body['access_token'];
        expect([await oauth.statusOf(old), await there(old)]).to.deep.equal([200, 200]);
        const next = await oauth.renew(clientId, body['refresh_token']);
        expect(next.status).to.equal(200);
        await eventually(
            async () => [await oauth.statusOf(old), await there(old)],
            (both) => both.every((status) => status === 401),
            2000,
        );
        expect(await there(next.body['access_token'])).to.equal(200);
    });

    it('end if a token was renewed twice, which means that it was stolen', async () => {
        const { body } = await signIn();
        const both = await Promise.all([1, 2].map(() => oauth.renew(clientId, body['refresh_token'])));
        expect(both.filter(({ status }) => status === 200).length).to.be.at.most(1);
        for (const { body: got } of both) {
            const later = await oauth.renew(clientId, got['refresh_token'] ?? body['refresh_token']);
            expect(later.body['error']).to.equal('invalid_grant');
        }
    });

    it('keep a refresh token whose successor could not be stored', async () => {
        const { body } = await signIn();
        const { db } = world.app;
        await db.raw(`
            create function refuse_token() returns trigger language plpgsql as
                $$ begin raise exception 'no room' using errcode = '53100'; end $$;
            create trigger refuse_token before insert on app_refresh_tokens for each row execute function refuse_token();
        `);
        try {
            expect((await oauth.renew(clientId, body['refresh_token'])).status).to.be.at.least(500);
        } finally {
            await db.raw('drop trigger refuse_token on app_refresh_tokens; drop function refuse_token()');
        }
        expect(await oauth.statusOf(body['access_token'])).to.equal(200);
        expect((await oauth.renew(clientId, body['refresh_token'])).status).to.equal(200);
    });

    it('are renewed once if the answer to the commit is lost, with the tokens that the app gets', async () => {
        const { body } = await signIn();
        const { id: keyId } = await withGrant(body['access_token']);
        const cut = await startCommitCutter(world.databaseUrl);
        const db = openDb({ url: cut.url, acquireTimeoutMs: 10_000 });
        const tokens = { access: newSecret('access'), refresh: newSecret('refresh') };
        try {
            const used = body['refresh_token'] ?? '';
            expect(await renewTokens(db, { keyId, used }, tokens, () => false)).to.equal('renewed');
            expect(cut.commits(), 'one whose answer was cut, and one that found it').to.equal(2);
        } finally {
            await db.destroy();
            await cut.close();
        }
        expect(await oauth.statusOf(tokens.access)).to.equal(200);
        expect((await oauth.renew(clientId, tokens.refresh)).status).to.equal(200);
    });

    it('keep the refresh token of an app that closed the connection before the answer', async () => {
        const { body } = await signIn();
        const { id: keyId } = await withGrant(body['access_token']);
        const { db } = world.app;
        const lock = await db.transaction();
        await lock('api_keys').where({ id: keyId }).forUpdate();
        const form = `grant_type=refresh_token&client_id=${clientId}&refresh_token=${body['refresh_token']}`;
        const headers = ['Content-Type: application/x-www-form-urlencoded', `Content-Length: ${form.length}`];
        const { hostname, port } = new URL(world.base);
        const socket = connect(Number(port), hostname, () => void socket.write(rawRequest('POST /oauth/token HTTP/1.1', headers, form)));
        await eventually(
            async () =>
                (await db.raw("select from pg_stat_activity where wait_event_type = 'Lock' and query like 'update \"api_keys\"%'")).rows,
            (waiting) => waiting.length === 1,
        );
        socket.resetAndDestroy();
        // The API has seen the end of the connection once it answers another one.
        await oauth.statusOf('none');
        await lock.commit();
        await eventually(
            async () => world.logged.filter(({ route, status }) => route === '/oauth/token' && Number(status) > 428),
            (closed) => closed.length > 0,
        );
        expect((await oauth.renew(clientId, body['refresh_token'])).status).to.equal(200);
    });

    it('end if any earlier token is used again, however often they were renewed since', async () => {
        const { body } = await signIn();
        const { id: keyId } = await withGrant(body['access_token']);
        const { db } = world.app;
        const stolen = body['refresh_token'];
        let last = (await oauth.renew(clientId, stolen)).body;
        const later = Array.from({ length: 1500 }, (_, at) => ({ hash: keyHash(`used ${keyId} ${at}`), key_id: keyId }));
        await db('app_refresh_tokens').insert(later.map((row) => ({ ...row, used_at: db.raw("app_now() + interval '1 second'") })));
        last = (await oauth.renew(clientId, last['refresh_token'])).body;
        expect((await oauth.renew(clientId, stolen)).body['error']).to.equal('invalid_grant');
        expect((await oauth.renew(clientId, last['refresh_token'])).body['error'], 'of the thief').to.equal('invalid_grant');
    });

    it('are renewed 60 times in 10 minutes at most; the token that was refused works later', async () => {
        let { body } = await signIn();
        for (let turn = 0; turn < 60; turn++) {
            const renewed = await oauth.renew(clientId, body['refresh_token']);
            expect(renewed.status, `renewal ${turn + 1}`).to.equal(200);
            body = renewed.body;
        }
        const refused = await oauth.renew(clientId, body['refresh_token']);
        expect([refused.status, refused.body['error']]).to.deep.equal([429, 'temporarily_unavailable']);
        expect(refused.retryAfter).to.be.within(1, 600);
        expect((await oauth.renew(clientId, (await signIn()).body['refresh_token'])).status, 'of another grant').to.equal(200);
        await world.clock.advance({ seconds: refused.retryAfter });
        expect((await oauth.renew(clientId, body['refresh_token'])).status).to.equal(200);
    });

    it('end after 30 days without use, and continue as long as they are renewed', async () => {
        const { body } = await signIn();
        await world.clock.advance({ days: 29 });
        const renewed = await oauth.renew(clientId, body['refresh_token']);
        expect(renewed.status).to.equal(200);
        await world.clock.advance({ days: 29 });
        const again = await oauth.renew(clientId, renewed.body['refresh_token']);
        expect(again.status, 'the 30 days begin again').to.equal(200);
        await world.clock.advance({ days: 31 });
        expect((await oauth.renew(clientId, again.body['refresh_token'])).body['error']).to.equal('invalid_grant');
        ada = await signUp(world);
    });

    it('keep their app, which is deleted after 30 days without one', async () => {
        const unused = await oauth.register(CALLBACK);
        await signIn();
        await world.clock.advance({ days: 31 });
        await deleteOldRows(world.app.db);
        ada = await signUp(world);
        expect((await ada.get(oauth.pathOf(oauth.request(unused, CALLBACK).query))).status).to.equal(400);
        expect((await signIn()).status).to.equal(200);
    });

    /** The key of an access token. */
    function withGrant(token: string | undefined): Promise<{ id: string }> {
        return world.app
            .db('api_keys')
            .where({ hash: keyHash(token ?? '') })
            .first('id');
    }
});

/** A database whose answer to the first commit is lost with its connection, after the commit. */
async function startCommitCutter(url: string): Promise<{ url: string; commits(): number; close(): Promise<void> }> {
    const target = new URL(url);
    const folder = target.searchParams.get('host');
    const sockets = new Set<Socket>();
    let commits = 0;
    const server = createServer((near) => {
        const far = folder === null ? connect(Number(target.port), target.hostname) : connect(`${folder}/.s.PGSQL.${target.port}`);
        let isCut = false;
        for (const socket of [near, far]) {
            sockets.add(socket);
            socket.on('error', () => undefined);
            socket.on('close', () => {
                near.destroy();
                far.destroy();
            });
        }
        near.on('data', (bytes) => {
            isCut = bytes.includes('COMMIT') && commits++ === 0;
            far.write(bytes);
        });
        far.on('data', (bytes) => void (isCut ? near.destroy() : near.write(bytes)));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const cut = new URL(url);
    cut.searchParams.delete('host');
    cut.hostname = '127.0.0.1';
    cut.port = String(typeof address === 'object' && address !== null ? address.port : 0);
    return {
        url: cut.href,
        commits: () => commits,
        async close() {
            for (const socket of sockets) socket.destroy();
            server.close();
            await once(server, 'close');
        },
    };
}
