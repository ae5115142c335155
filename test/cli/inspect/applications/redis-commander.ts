import type { BrowserContext } from 'playwright-core';
import { END_ALL, type RecordedApplication } from '../starting.ts';
import { open } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'redis-commander',
    host: 'keys.test',
    ready: '/',
    visit,
    start: (_, port, npm) => `${END_ALL}
        redis-server --port ${port + 1000} --bind 127.0.0.1 --save '' &
        ask="redis-cli -p ${port + 1000}"
        until $ask ping; do sleep 1; done
        for place in 1 2 3; do $ask hset boats:$place name "Boat $place" length $place; $ask set quays:$place "Quay $place"; done
        $ask set motto 'Mind the tide'; $ask rpush tides low high; $ask sadd flags red green; $ask zadd depths 1 shallow 9 deep
        ${process.execPath} ${npm}/redis-commander/bin/redis-commander.js --redis-host 127.0.0.1 --redis-port ${port + 1000} \\
            --redis-label harbour --address 127.0.0.1 --port ${port} --no-save & wait $!`,
};

/** Opens the page of a database of keys, and reads and writes keys of all kinds as its script does. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, `${base}/`);
    await page.waitForTimeout(1500);
    const call = (method: string, path: string, data?: object): Promise<void> =>
        page.evaluate(
            async ([type, url, sent]) => {
                const { $ } = globalThis as unknown as { $: { ajax(options: object): { always(done: () => void): void } } };
                await new Promise<void>((done) =>
                    $.ajax({ type, url, ...(sent === undefined ? {} : { data: sent }) }).always(() => done()),
                );
            },
            [method, path, data] as const,
        );
    const connectionId = `R:127.0.0.1:${Number(new URL(base).port) + 1000}:0`;
    const at = encodeURIComponent(connectionId);
    for (const path of ['connections', 'config', 'apiv2/connection', 'apiv2/redisCommands', 'apiv2/server/info', `apiv2/server/${at}/info`])
        await call('GET', path);
    await call('GET', `apiv2/keystree/${at}`);
    for (const prefix of ['boats', 'quays']) {
        await call('GET', `apiv2/keystree/${at}/${prefix}`);
        await call('GET', `apiv2/keys/${at}/${prefix}*?limit=20`);
    }
    for (const key of ['boats:1', 'boats:2', 'motto']) await call('GET', `apiv2/key/${at}/${encodeURIComponent(key)}`);
    for (const key of ['slogan', 'greeting']) {
        await call('POST', `apiv2/key/${at}/${key}`, { keyType: 'string', stringValue: `Words of ${key}` });
        await call('POST', `apiv2/key/${at}/${key}?action=decode`);
        await call('PATCH', `apiv2/key/${at}/${key}`, { key: `${key}:new`, force: false });
        await call('POST', `apiv2/key/${at}/${key}%3Anew?action=delete`);
    }
    for (const value of ['north', 'south']) {
        const list = { connectionId, key: 'tides' };
        await call('POST', 'apiv2/list/value', { ...list, type: value === 'north' ? 'lpush' : 'rpush', value });
        await call('PUT', 'apiv2/list/value', { ...list, index: 0, value: `${value} again` });
        await call('DELETE', 'apiv2/list/value', { ...list, index: 0 });
        const set = { connectionId, key: 'flags' };
        await call('POST', 'apiv2/set/member', { ...set, value });
        await call('PUT', 'apiv2/set/member', { ...set, value: `${value} again`, oldValue: value });
        await call('DELETE', 'apiv2/set/member', { ...set, value: `${value} again` });
        const sorted = { connectionId, key: 'depths' };
        await call('POST', 'apiv2/zset/member', { ...sorted, score: 3, value });
        await call('PUT', 'apiv2/zset/member', { ...sorted, score: 4, value: `${value} again`, oldValue: value });
        await call('DELETE', 'apiv2/zset/member', { ...sorted, value: `${value} again` });
        const hash = { connectionId, key: 'boats:1', field: value };
        await call('POST', 'apiv2/hash/field', { ...hash, value: `Quay ${value}` });
        await call('GET', `apiv2/hash/key/${at}/boats%3A1?field=${value}`);
        await call('PUT', 'apiv2/hash/field', { ...hash, value: `Mole ${value}` });
        await call('DELETE', 'apiv2/hash/field', hash);
        await call('POST', `apiv2/encodeString/${value}%20words`);
    }
    for (const cmd of ['get motto', 'hgetall boats:1']) await call('POST', `apiv2/exec/${at}`, { cmd });
    for (const name of ['export', 'import']) await call('GET', `tools/forms/${name}`);
    await page.close();
}
