import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import { node, type RecordedApplication } from '../starting.ts';
import { ask, open } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'signalk',
    host: 'boat.test',
    ready: '/skServer/loginStatus',
    visit,
    start(folder, port, npm) {
        mkdirSync(join(folder, 'boat/plugin-config-data'), { recursive: true });
        const here = { path: 'navigation.position', value: { latitude: 54.3, longitude: 10.1 } };
        writeFileSync(join(folder, 'boat/baseDeltas.json'), JSON.stringify([{ context: 'vessels.self', updates: [{ values: [here] }] }]));
        symlinkSync(npm, join(folder, 'boat/node_modules'));
        for (const plugin of ['course-provider', 'resources-provider'])
            writeFileSync(
                join(folder, `boat/plugin-config-data/${plugin}.json`),
                JSON.stringify({ enabled: true, configuration: RESOURCES }),
            );
        writeFileSync(
            join(folder, 'boat/settings.json'),
            JSON.stringify({
                interfaces: { 'nmea-tcp': false, tcp: false, mdns: false, appstore: false },
                mdns: false,
                pipedProviders: [],
                vessel: { name: 'Gull', uuid: 'urn:mrn:signalk:uuid:6f2a0b1c-7d5e-4f3a-9b8c-1d2e3f4a5b6c' },
            }),
        );
        const { program, args } = node(npm, 'signalk-server/bin/signalk-server', '-c', join(folder, 'boat'));
        return { program, args, env: { PORT: String(port) } };
    },
};

const RESOURCES = { standard: { routes: true, waypoints: true, notes: true, regions: true }, custom: [], path: './resources' };
const API = '/signalk/v2/api';

/** Keeps places, routes and notes of a boat, sets its course, raises alarms and changes settings of its server. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    const get = (...paths: string[]) => each(paths, (path) => ask(page, 'GET', path));
    const put = (path: string, ...bodies: object[]) => each(bodies, (body) => ask(page, 'PUT', path, body));
    await open(page, `${base}/skServer/loginStatus`);
    await get('/signalk', '/signalk/v1/api/', '/signalk/v1/api/self', '/signalk/v1/api/vessels/self');
    await get('/signalk/v2/features', '/signalk/v2/features?enabled=true', '/signalk/v2/features?enabled=false');
    const routes = await keepResources(page, get);
    const course = `${API}/vessels/self/navigation/course`;
    await put(
        `${course}/destination`,
        { position: { latitude: 54.1, longitude: 10.2 } },
        { href: `/resources/waypoints/${routes.waypoint}` },
    );
    await put(`${course}/arrivalCircle`, { value: 200 }, { value: 350 });
    await put(`${course}/targetArrivalTime`, { value: '2026-12-01T10:00:00Z' }, { value: '2026-12-02T12:30:00Z' });
    await ask(page, 'PUT', `${course}/restart`);
    await get(course);
    await put(
        `${course}/activeRoute`,
        { href: `/resources/routes/${routes.route}`, reverse: false, pointIndex: 0 },
        { href: `/resources/routes/${routes.route}`, reverse: true, pointIndex: 1 },
    );
    await put(`${course}/activeRoute/nextPoint`, { value: 1 }, { value: -1 });
    await put(`${course}/activeRoute/pointIndex`, { value: 1 }, { value: 2 });
    await ask(page, 'PUT', `${course}/activeRoute/reverse`);
    await get(course);
    await ask(page, 'DELETE', course);
    await raiseAlarms(page, get);
    const server = '/skServer';
    await get(
        ...['vessel', 'settings', 'webapps', 'addons', 'plugins', 'availablePaths', 'providers', 'loginStatus', 'debugKeys'].map(
            (name) => `${server}/${name}`,
        ),
    );
    await put(
        `${server}/vessel`,
        { name: 'Gull', mmsi: '211000001', length: '9', draft: '1.4' },
        { name: 'Tern', mmsi: '211000002', length: '8', draft: '1.2' },
    );
    await put(`${server}/settings`, { options: { enablePluginLogging: true } }, { options: { enablePluginLogging: false } });
    for (const plugin of ['course-provider', 'resources-provider']) {
        await get(`${server}/plugins/${plugin}/config`);
        await ask(page, 'POST', `${server}/plugins/${plugin}/config`, { enabled: true, configuration: {} });
    }
    await get(`${server}/openapi/course`, `${server}/openapi/resources`);
    const units = '/signalk/v1/unitpreferences';
    await get(`${units}/config`, `${units}/categories`, `${units}/presets`, `${units}/presets/metric`, `${units}/presets/imperial-us`);
    await put(`${units}/config`, { activePreset: 'metric' }, { activePreset: 'imperial-us' });
    for (const name of ['harbour', 'open-sea']) {
        await put(`${units}/presets/custom/${name}`, {
            version: '1.0.0',
            name,
            categories: { speed: { baseUnit: 'm/s', targetUnit: 'kn' } },
        });
        await ask(page, 'DELETE', `${units}/presets/custom/${name}`);
    }
    await page.close();
}

async function keepResources(page: Parameters<typeof ask>[0], get: (...paths: string[]) => Promise<void>) {
    const point = (place: number) => ({ type: 'Feature', geometry: { type: 'Point', coordinates: [10 + place, 54] }, properties: {} });
    const line = (place: number) => ({
        type: 'Feature',
        geometry: {
            type: 'LineString',
            coordinates: [
                [10, 54],
                [10 + place, 55],
                [11, 56],
            ],
        },
        properties: {},
    });
    const area = (place: number) => ({
        type: 'Feature',
        geometry: {
            type: 'Polygon',
            coordinates: [
                [
                    [10, 54],
                    [11, 54],
                    [11, 55 + place],
                    [10, 54],
                ],
            ],
        },
        properties: {},
    });
    const kinds: Record<string, (place: number) => object> = {
        waypoints: (place) => ({ name: `Buoy ${place}`, description: 'A green buoy', feature: point(place) }),
        regions: (place) => ({ name: `Shoal ${place}`, description: 'Too flat', feature: area(place) }),
        notes: (place) => ({ title: `Note ${place}`, description: 'Fog at dawn', position: { latitude: 54 + place, longitude: 10 } }),
        routes: (place) => ({ name: `Passage ${place}`, description: 'By the lights', distance: 1000 + place, feature: line(place) }),
    };
    const made: Record<string, string> = {};
    await get(`${API}/resources`);
    for (const [kind, thing] of Object.entries(kinds)) {
        const at = `${API}/resources/${kind}`;
        const ids: string[] = [];
        for (const place of [0, 1, 2]) ids.push((JSON.parse(await ask(page, 'POST', at, thing(place))) as { id: string }).id);
        await get(at);
        for (const [place, id] of ids.slice(0, 2).entries()) {
            await get(`${at}/${id}`);
            await ask(page, 'PUT', `${at}/${id}`, thing(place + 3));
        }
        await each(ids.slice(1), (id) => ask(page, 'DELETE', `${at}/${id}`));
        made[kind] = ids[0] ?? '';
    }
    return { waypoint: made['waypoints'], route: made['routes'] };
}

async function raiseAlarms(page: Parameters<typeof ask>[0], get: (...paths: string[]) => Promise<void>) {
    const at = `${API}/notifications`;
    for (const [state, message] of [
        ['alarm', 'Water in the bilge'],
        ['warn', 'Wind is rising'],
    ] as const) {
        const { id } = JSON.parse(await ask(page, 'POST', at, { state, message, path: `harbour.${state}` })) as { id: string };
        await get(at, `${at}/${id}`);
        await ask(page, 'PUT', `${at}/${id}`, { state: 'alert', message: `${message} again` });
        await ask(page, 'POST', `${at}/${id}/silence`);
        await ask(page, 'POST', `${at}/${id}/acknowledge`);
        await ask(page, 'DELETE', `${at}/${id}`);
    }
    for (const message of ['Ada went overboard', 'A child went overboard']) await ask(page, 'POST', `${at}/mob`, { message });
}

async function each<T>(all: readonly T[], act: (one: T) => Promise<unknown>): Promise<void> {
    for (const one of all) await act(one);
}
