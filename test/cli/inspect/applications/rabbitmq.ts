import type { BrowserContext } from 'playwright-core';
import { END_ALL, type RecordedApplication } from '../starting.ts';
import { askAs, KEEPER, open } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'rabbitmq',
    host: 'queues.test',
    ready: '/',
    visit,
    start: (folder, port) => `${END_ALL}
        export RABBITMQ_NODENAME=harbour@localhost RABBITMQ_MNESIA_BASE=${folder}/data RABBITMQ_LOG_BASE=${folder}/log
        export RABBITMQ_ENABLED_PLUGINS_FILE=${folder}/plugins RABBITMQ_CONFIG_FILE=${folder}/rabbit.conf RABBITMQ_PID_FILE=${folder}/pid
        export RABBITMQ_NODE_PORT=${port + 1000} RABBITMQ_DIST_PORT=${port + 2000} ERL_EPMD_PORT=${port + 3000}
        echo '[rabbitmq_management].' > plugins
        printf 'management.tcp.port = ${port}\\nmanagement.tcp.ip = 127.0.0.1\\nlisteners.tcp.1 = 127.0.0.1:${port + 1000}\\n' > rabbit.conf
        /usr/lib/rabbitmq/lib/rabbitmq_server-*/sbin/rabbitmq-server & wait $!`,
};

/** Works with virtual hosts, users, exchanges, queues, bindings and policies of a message broker. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, `${base}/`);
    const call = (method: string, path: string, body?: object): Promise<string> => askAs(page, 'guest:guest', method, `/api/${path}`, body);
    for (const path of ['overview', 'cluster-name', 'nodes', 'extensions', 'connections', 'channels', 'consumers', 'whoami'])
        await call('GET', path);
    await call('GET', 'nodes/harbour@localhost');
    for (const name of ['north', 'south']) await call('PUT', 'cluster-name', { name });
    const hosts = ['quay', 'mole'];
    for (const name of hosts) await call('PUT', `vhosts/${name}`, { description: `The ${name}`, tags: 'harbour' });
    await call('GET', 'vhosts');
    const users = ['ada', 'grace'];
    for (const [place, name] of users.entries()) {
        await call('PUT', `users/${name}`, { password: `${KEEPER.password}${place}`, tags: 'monitoring' });
        for (const more of ['', '/permissions']) await call('GET', `users/${name}${more}`);
    }
    await call('GET', 'users');
    for (const host of hosts) {
        await call('PUT', `permissions/${host}/guest`, { configure: '.*', write: '.*', read: '.*' });
        for (const user of users) {
            await call('PUT', `permissions/${host}/${user}`, { configure: '', write: `${host}.*`, read: '.*' });
            await call('GET', `permissions/${host}/${user}`);
        }
    }
    await call('GET', 'permissions');
    for (const host of ['%2F', ...hosts]) {
        for (const path of [
            `vhosts/${host}`,
            `vhosts/${host}/permissions`,
            `definitions/${host}`,
            `consumers/${host}`,
            `vhost-limits/${host}`,
        ])
            await call('GET', path);
    }
    await call('GET', 'definitions');
    for (const host of ['%2F', 'quay']) {
        for (const name of ['weather', 'cargo'])
            await call('PUT', `exchanges/${host}/${name}`, { type: 'topic', durable: name === 'cargo', auto_delete: false, arguments: {} });
        for (const name of ['tides', 'ropes'])
            await call('PUT', `queues/${host}/${name}`, { durable: name === 'tides', auto_delete: false, arguments: {} });
        for (const [exchange, queue] of [
            ['weather', 'tides'],
            ['cargo', 'ropes'],
        ]) {
            const binding = `bindings/${host}/e/${exchange}/q/${queue}`;
            await call('POST', binding, { routing_key: `${queue}.high`, arguments: {} });
            await call('GET', binding);
            await call('GET', `${binding}/${queue}.high`);
            await call('POST', `exchanges/${host}/${exchange}/publish`, {
                properties: {},
                routing_key: `${queue}.high`,
                payload: `Words of ${queue}`,
                payload_encoding: 'string',
            });
            for (const more of ['', '/bindings/source', '/bindings/destination']) await call('GET', `exchanges/${host}/${exchange}${more}`);
            for (const more of ['', '/bindings']) await call('GET', `queues/${host}/${queue}${more}`);
            await call('POST', `queues/${host}/${queue}/get`, { count: 2, ackmode: 'ack_requeue_true', encoding: 'auto' });
        }
        for (const path of ['exchanges', 'queues', 'bindings', 'policies']) await call('GET', `${path}/${host}`);
        for (const name of ['short', 'long']) {
            const policy = `policies/${host}/${name}`;
            await call('PUT', policy, { pattern: `^${name}`, definition: { expires: 90000 }, priority: 1, 'apply-to': 'queues' });
            await call('GET', policy);
        }
    }
    for (const path of ['exchanges', 'bindings', 'policies', 'vhost-limits', 'health/checks/alarms']) await call('GET', path);
    for (const name of ['ti', 'ro']) await call('GET', `queues?page=1&page_size=10&name=${name}&use_regex=false`);
    for (const port of [Number(new URL(base).port) + 1000, Number(new URL(base).port)])
        await call('GET', `health/checks/port-listener/${port}`);
    for (const limit of ['max-queues', 'max-connections']) {
        await call('PUT', `vhost-limits/quay/${limit}`, { value: 50 });
        await call('GET', 'vhost-limits/quay');
        await call('DELETE', `vhost-limits/quay/${limit}`);
    }
    for (const host of ['%2F', 'quay']) {
        for (const name of ['short', 'long']) await call('DELETE', `policies/${host}/${name}`);
        await call('DELETE', `bindings/${host}/e/weather/q/tides/tides.high`);
        await call('DELETE', `bindings/${host}/e/cargo/q/ropes/ropes.high`);
        for (const name of ['tides', 'ropes']) {
            await call('DELETE', `queues/${host}/${name}/contents`);
            await call('DELETE', `queues/${host}/${name}`);
        }
        for (const name of ['weather', 'cargo']) await call('DELETE', `exchanges/${host}/${name}`);
    }
    for (const user of users) {
        for (const host of hosts) await call('DELETE', `permissions/${host}/${user}`);
        await call('DELETE', `users/${user}`);
    }
    for (const host of hosts) await call('DELETE', `vhosts/${host}`);
    await page.close();
}
