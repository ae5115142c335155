import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import type { RecordedApplication } from '../starting.ts';
import { ask, open } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'graphite',
    host: 'graphs.test',
    ready: '/version/',
    visit,
    start(folder, port) {
        writeFileSync(join(folder, 'harbour_settings.py'), SETTINGS);
        writeFileSync(join(folder, 'fill.py'), FILL);
        return `
            export PYTHONPATH=${folder} GRAPHITE_SETTINGS_MODULE=harbour_settings DJANGO_SETTINGS_MODULE=graphite.settings
            mkdir log
            /usr/bin/python3 fill.py
            django="/usr/bin/python3 -m django"
            $django migrate --run-syncdb
            exec $django runserver --insecure --noreload 127.0.0.1:${port}`;
    },
};

/** Looks for measurements, draws and reads them, keeps dashboards, and notes events. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, `${base}/version/`);
    const get = (path: string) => ask(page, 'GET', path);
    await get('/version/');
    await get('/metrics/index.json');
    for (const words of ['*', 'harbour.*', 'lights.*']) {
        await get(`/metrics/find?query=${words}`);
        await get(`/metrics/find/?query=${words}.*&format=completer`);
        await get(`/metrics/expand?query=${words}&leavesOnly=0`);
    }
    for (const name of ['harbour.tide.level', 'lights.north.brightness']) {
        await get(`/render?target=${name}&from=-2h&until=now&format=json`);
        await get(`/render?target=summarize(${name},'10min')&from=-1h&format=json&maxDataPoints=20`);
        await get(`/render?target=${name}&from=-1h&format=csv`);
        await ask(page, 'POST', '/render', `target=${name}&from=-30min&until=now&format=json`);
    }
    for (const [place, name] of ['harbour', 'lights'].entries()) {
        await ask(page, 'POST', '/events/', { what: `Storm at the ${name}`, tags: [name, 'storm'], data: `Wind ${place + 8}` });
        await open(page, `${base}/events/${place + 1}/`);
        await ask(page, 'POST', '/tags/tagSeries', `path=${encodeURIComponent(`level;place=${name};unit=m`)}`);
    }
    await open(page, `${base}/events/`);
    await get('/events/get_data?tags=storm&from=-1h&until=now');
    await get('/events/get_data?tags=harbour');
    await get('/tags');
    await get('/tags?filter=pl&limit=5');
    for (const tag of ['place', 'unit']) {
        await get(`/tags/${tag}`);
        await get(`/tags/autoComplete/values?expr=name%3Dlevel&tag=${tag}&valuePrefix=`);
        await get(`/tags/findSeries?expr=${tag}%3D${tag === 'unit' ? 'm' : 'lights'}`);
    }
    for (const words of ['pl', 'un']) await get(`/tags/autoComplete/tags?tagPrefix=${words}&limit=10`);
    await ask(page, 'POST', '/tags/delSeries', `path=${encodeURIComponent('level;place=harbour;unit=m')}`);
    await open(page, `${base}/`);
    await open(page, `${base}/composer`);
    await open(page, `${base}/dashboard/`);
    for (const name of ['Tides', 'Lamps']) {
        await ask(
            page,
            'POST',
            `/dashboard/save/${name}`,
            `state=${encodeURIComponent(JSON.stringify({ name, graphs: [], refreshConfig: { interval: 60 } }))}`,
        );
        await get(`/dashboard/load/${name}`);
        await open(page, `${base}/dashboard/${name}`);
    }
    for (const words of ['ti', 'la']) await get(`/dashboard/find/?query=${words}`);
    await ask(
        page,
        'POST',
        '/dashboard/save_template/Places/harbour',
        `state=${encodeURIComponent(JSON.stringify({ name: 'Places', graphs: [] }))}`,
    );
    await get('/dashboard/load_template/Places/harbour');
    await get('/dashboard/find_template/?query=pl');
    await open(page, `${base}/dashboard/help/`);
    await ask(page, 'POST', '/browser/search/', 'query=tide');
    await ask(page, 'POST', '/browser/search/', 'query=level');
    await get('/browser/usergraph/?user=default&path=&query=*');
    await open(page, `${base}/browser/header/`);
    for (const name of ['Tides', 'Lamps']) await get(`/dashboard/delete/${name}`);
    await page.close();
}

const SETTINGS = `
import os
BASE = os.path.dirname(os.path.abspath(__file__))
SECRET_KEY = 'harbour'
STORAGE_DIR = WHISPER_DIR = BASE + '/whisper'
LOG_DIR = BASE + '/log'
INDEX_FILE = BASE + '/index'
CONF_DIR = BASE
ALLOWED_HOSTS = ['*']
STATIC_ROOT = '/usr/share/graphite-web/static'
DATABASES = {'default': {'ENGINE': 'django.db.backends.sqlite3', 'NAME': BASE + '/graphite.db'}}
TAGDB = 'graphite.tags.localdatabase.LocalDatabaseTagDB'
`;

const FILL = `
import os, time, whisper
now = int(time.time())
names = ['harbour.tide.level', 'harbour.tide.flow', 'harbour.wind.speed', 'lights.north.brightness', 'lights.south.brightness']
for place, name in enumerate(names):
    path = 'whisper/' + name.replace('.', '/') + '.wsp'
    os.makedirs(os.path.dirname(path), exist_ok=True)
    whisper.create(path, [(60, 1440)])
    whisper.update_many(path, [(now - 60 * minute, place * 10 + minute % 7) for minute in range(180)])
with open('index', 'w') as index:
    index.write('\\n'.join(names) + '\\n')
`;
