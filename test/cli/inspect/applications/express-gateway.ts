import type { BrowserContext } from 'playwright-core';
import type { RecordedApplication } from '../starting.ts';
import { ask, open } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'express-gateway',
    host: 'gateway.test',
    ready: '/users',
    visit,
    start(folder, port, npm) {
        return `
            cp -r ${npm}/express-gateway/lib/config config
            cat > config/gateway.config.yml <<'END'
http: { port: ${port + 1000}, hostname: 127.0.0.1 }
admin: { port: ${port}, host: 127.0.0.1 }
apiEndpoints: { tides: { host: tides.example, paths: /tides }, lights: { host: lights.example, paths: /lights } }
serviceEndpoints: { sea: { url: 'http://127.0.0.1:9' }, land: { url: 'http://127.0.0.1:9' } }
policies: [proxy, key-auth, cors]
pipelines:
  tidal: { apiEndpoints: [tides], policies: [{ key-auth: null }, { proxy: [{ action: { serviceEndpoint: sea } }] }] }
  lit: { apiEndpoints: [lights], policies: [{ proxy: [{ action: { serviceEndpoint: land } }] }] }
END
            EG_CONFIG_DIR=${folder}/config exec ${process.execPath} -e "require('${npm}/express-gateway')().run()"`;
    },
};

/** Works with the gateways of an API by its administration: endpoints, pipelines, policies, users, their applications and credentials. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, `${base}/users`);
    const get = async (...paths: string[]) => {
        for (const path of paths) await ask(page, 'GET', path);
    };
    const add = async (path: string, body: object) => JSON.parse(await ask(page, 'POST', path, body)) as Record<string, string>;
    await get('/api-endpoints', '/service-endpoints', '/pipelines', '/policies', '/schemas', '/schemas/policy', '/schemas/condition');
    await get('/api-endpoints/tides', '/api-endpoints/lights', '/service-endpoints/sea', '/service-endpoints/land');
    await get('/pipelines/tidal', '/pipelines/lit');
    for (const name of ['fog', 'surf']) {
        await ask(page, 'PUT', `/api-endpoints/${name}`, { host: `${name}.example`, paths: `/${name}` });
        await ask(page, 'PUT', `/service-endpoints/${name}`, { url: `http://${name}.example` });
        await ask(page, 'PUT', `/pipelines/${name}-line`, {
            apiEndpoints: [name],
            policies: [{ proxy: [{ action: { serviceEndpoint: name } }] }],
        });
        await ask(page, 'DELETE', `/pipelines/${name}-line`);
        await ask(page, 'DELETE', `/api-endpoints/${name}`);
        await ask(page, 'DELETE', `/service-endpoints/${name}`);
    }
    for (const name of ['jwt', 'log']) await ask(page, 'PUT', `/policies/${name}`);
    for (const name of ['jwt', 'log']) await ask(page, 'DELETE', `/policies/${name}`);
    await ask(page, 'POST', '/scopes', { scopes: ['read', 'write'] });
    for (const scope of ['steer', 'moor']) await ask(page, 'PUT', `/scopes/${scope}`);
    await get('/scopes', '/scopes/read', '/scopes/steer');
    await ask(page, 'DELETE', '/scopes/moor');
    await ask(page, 'DELETE', '/scopes/steer');
    for (const [name, last] of [
        ['mate', 'Rigg'],
        ['pilot', 'Sound'],
    ] as const) {
        const user = await add('/users', { username: name, firstname: name, lastname: last, email: `${name}@harbour.example` });
        await get('/users', `/users/${user['id']}`, `/users/${name}`);
        await ask(page, 'PUT', `/users/${user['id']}`, { lastname: `${last}er` });
        for (const status of [false, true]) await ask(page, 'PUT', `/users/${user['id']}/status`, { status });
        const app = await add('/apps', { name: `${name}-app`, redirectUri: `http://${name}.example/back`, userId: user['id'] });
        await get('/apps', `/apps/${app['id']}`);
        await ask(page, 'PUT', `/apps/${app['id']}`, { redirectUri: `http://${name}.example/home` });
        await ask(page, 'PUT', `/apps/${app['id']}/status`, { status: true });
        const key = await add('/credentials', { consumerId: name, type: 'key-auth', credential: { scopes: ['read'] } });
        await get('/credentials', `/credentials/${name}`, `/credentials/key-auth/${key['keyId']}`);
        await ask(page, 'PUT', `/credentials/key-auth/${key['keyId']}/status`, { status: true });
        await ask(page, 'PUT', `/credentials/key-auth/${key['keyId']}/scopes`, { scopes: ['read', 'write'] });
        await ask(page, 'PUT', `/credentials/key-auth/${key['keyId']}/scopes/write`);
        await ask(page, 'DELETE', `/credentials/key-auth/${key['keyId']}/scopes/${name === 'mate' ? 'write' : 'read'}`);
        await ask(page, 'DELETE', `/apps/${app['id']}`);
        await ask(page, 'DELETE', `/users/${user['id']}`);
    }
    await page.close();
}
