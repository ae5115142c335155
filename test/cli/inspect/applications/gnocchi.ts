import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import { END_ALL, type RecordedApplication } from '../starting.ts';
import { open } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'gnocchi',
    host: 'gauges.test',
    ready: '/',
    visit,
    start(folder, port) {
        const database = `mysql+pymysql://root@127.0.0.1:${port + 1000}/gauges`;
        writeFileSync(
            join(folder, 'gnocchi.conf'),
            `[api]\nauth_mode = basic\nmax_limit = 100\n[oslo_policy]\npolicy_file = ${folder}/policy.yaml\n[indexer]\nurl = ${database}\n[storage]\ndriver = file\nfile_basepath = ${folder}/storage\n[incoming]\ndriver = file\nfile_basepath = ${folder}/storage\n[DEFAULT]\ncoordination_url = file://${folder}/locks\n`,
        );
        writeFileSync(join(folder, 'serve.py'), serve(folder, port));
        return `${END_ALL}
            mariadb-install-db --user=root --datadir=${folder}/data --auth-root-authentication-method=normal > /dev/null
            mariadbd --no-defaults --user=root --datadir=${folder}/data --port=${port + 1000} --bind-address=127.0.0.1 --socket=${folder}/db.sock --pid-file=${folder}/db.pid &
            until mariadb-admin --no-defaults --socket=${folder}/db.sock -u root ping > /dev/null 2>&1; do sleep 0.3; done
            mariadb --no-defaults --socket=${folder}/db.sock -u root -e 'create database gauges'
            sed 's/: ".*"/: "@"/' /usr/lib/python3/dist-packages/gnocchi/rest/policy.yaml > policy.yaml
            gnocchi-upgrade --config-file gnocchi.conf
            /usr/bin/python3 serve.py & wait $!`;
    },
};

/** Keeps measures of gauges by an API: policies, metrics, kinds of resources, searches, and many measures at once. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, `${base}/`);
    const call = async <Answer>(method: string, path: string, body?: object): Promise<Answer> =>
        (await page.evaluate(
            async ([how, where, sent]) => {
                const headers = {
                    authorization: `Basic ${btoa('admin:')}`,
                    accept: 'application/json',
                    'content-type': 'application/json',
                };
                const answer = await fetch(where, { method: how, headers, ...(sent === undefined ? {} : { body: JSON.stringify(sent) }) });
                const text = await answer.text();
                return answer.ok && text !== '' ? JSON.parse(text) : null;
            },
            [method, `/v1${path}`, body] as const,
        )) as Answer;
    for (const path of ['', '/capabilities', '/archive_policy', '/archive_policy_rule', '/resource_type', '/resource', '/metric'])
        await call('GET', path);
    for (const name of ['hourly', 'daily']) {
        const definition = [{ granularity: name === 'hourly' ? '1h' : '1d', points: 100 }];
        await call('POST', '/archive_policy', { name, definition, back_window: 0, aggregation_methods: ['mean', 'max'] });
        await call('GET', `/archive_policy/${name}`);
        await call('PATCH', `/archive_policy/${name}`, { definition: [{ ...definition[0], points: 200 }] });
        await call('POST', '/archive_policy_rule', { name: `rule_of_${name}`, metric_pattern: `${name}.*`, archive_policy_name: name });
        await call('GET', `/archive_policy_rule/rule_of_${name}`);
    }
    for (const name of ['gauge', 'boat']) {
        await call('POST', '/resource_type', { name, attributes: { place: { type: 'string', required: false, max_length: 80 } } });
        await call('GET', `/resource_type/${name}`);
    }
    const metrics: string[] = [];
    for (const name of ['hourly.tide', 'hourly.wind', 'daily.fog', 'daily.rain']) {
        const { id } = await call<{ id: string }>('POST', '/metric', { name, archive_policy_name: name.split('.')[0], unit: 'm' });
        metrics.push(id);
    }
    for (const [place, id] of metrics.slice(0, 3).entries()) {
        await call('GET', `/metric/${id}`);
        const measures = [0, 1, 2].map((hour) => ({ timestamp: `2026-11-29T1${hour}:00:00`, value: 4 + hour + place }));
        await call('POST', `/metric/${id}/measures`, measures);
        await call('GET', `/metric/${id}/measures?refresh=true`);
        await call('GET', `/metric/${id}/measures?aggregation=max&start=2026-11-29T10:00:00&stop=2026-11-30T00:00:00`);
    }
    await call('GET', '/metric?limit=2');
    await call('GET', '/metric?archive_policy_name=hourly&sort=name:asc');
    const resources: { kind: string; id: string }[] = [];
    for (const [kind, place] of [
        ['gauge', 'north'],
        ['gauge', 'south'],
        ['boat', 'quay'],
        ['boat', 'pier'],
    ] as const) {
        const id = crypto.randomUUID();
        await call('POST', `/resource/${kind}`, { id, place, metrics: { level: { archive_policy_name: 'hourly' } } });
        resources.push({ kind, id });
        await call('GET', `/resource/${kind}/${id}`);
        await call('PATCH', `/resource/${kind}/${id}`, { place: `${place} side` });
        await call('GET', `/resource/${kind}/${id}/history`);
        await call('GET', `/resource/${kind}/${id}/metric`);
        await call('POST', `/resource/${kind}/${id}/metric`, { depth: { archive_policy_name: 'daily' } });
        await call('POST', `/resource/${kind}/${id}/metric/level/measures`, [{ timestamp: '2026-11-29T10:00:00', value: 3 }]);
        for (const name of ['level', 'depth']) await call('GET', `/resource/${kind}/${id}/metric/${name}`);
        await call('GET', `/resource/${kind}/${id}/metric/level/measures?refresh=true`);
    }
    for (const kind of ['gauge', 'boat', 'generic']) {
        await call('GET', `/resource/${kind}`);
        await call('GET', `/resource/${kind}?details=true&limit=1`);
    }
    for (const [kind, place] of [
        ['gauge', 'north side'],
        ['boat', 'quay side'],
    ])
        await call('POST', `/search/resource/${kind}`, { '=': { place } });
    for (const least of [4, 5]) await call('POST', `/search/metric?metric_id=${metrics[0]}&start=2026-11-29T00:00:00`, { '>=': least });
    await call(
        'POST',
        '/batch/metrics/measures',
        Object.fromEntries(metrics.map((id) => [id, [{ timestamp: '2026-11-29T14:00:00', value: 8 }]])),
    );
    await call(
        'POST',
        '/batch/metrics/measures',
        Object.fromEntries(metrics.slice(0, 2).map((id) => [id, [{ timestamp: '2026-11-29T15:00:00', value: 9 }]])),
    );
    for (const { id } of resources.slice(0, 2))
        await call('POST', '/batch/resources/metrics/measures', { [id]: { level: [{ timestamp: '2026-11-29T12:00:00', value: 7 }] } });
    for (const operation of ['(aggregate mean (metric level mean))', '(aggregate max (metric level mean))'])
        await call('POST', '/aggregates?start=2026-11-29T00:00:00', {
            operations: operation,
            resource_type: 'gauge',
            search: 'place like "%"',
        });
    for (const id of metrics.slice(0, 2)) await call('GET', `/aggregation/metric?metric=${id}&aggregation=mean`);
    await page.close();
}

function serve(folder: string, port: number): string {
    return `
from wsgiref.simple_server import make_server
from gnocchi.rest import app
from gnocchi import service
conf = service.prepare_service(args=['--config-file', '${folder}/gnocchi.conf'])
make_server('127.0.0.1', ${port}, app.load_app(conf)).serve_forever()
`;
}
