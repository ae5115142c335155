import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import type { RecordedApplication } from '../starting.ts';
import { ask, links, open } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'mapproxy',
    host: 'maps.test',
    ready: '/demo/',
    visit,
    start(folder, port) {
        writeFileSync(join(folder, 'maps.yaml'), MAPS);
        return `exec mapproxy-util serve-develop ${folder}/maps.yaml -b 127.0.0.1:${port}`;
    },
};

/** Opens maps on the demo pages, and asks for what the services offer. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, base);
    await open(page, `${base}/demo/`);
    for (const kind of ['wms', 'tms', 'wmts'])
        for (const layer of ['sea', 'lights']) {
            await open(page, `${base}/demo/`);
            for (const address of (await links(page, new RegExp(`${kind}_layer=${layer}`))).slice(0, 2)) await open(page, address);
        }
    for (const name of ['wms_capabilities', 'wmsc_capabilities', 'wmts_capabilities', 'tms_capabilities'])
        await open(page, `${base}/demo/?${name}`);
    const get = (path: string) => ask(page, 'GET', path);
    for (const version of ['1.1.1', '1.3.0']) await get(`/service?SERVICE=WMS&VERSION=${version}&REQUEST=GetCapabilities`);
    for (const place of [10, 20]) {
        const asked = new URLSearchParams({
            SERVICE: 'WMS',
            VERSION: '1.3.0',
            REQUEST: 'GetFeatureInfo',
            LAYERS: 'sea',
            QUERY_LAYERS: 'sea',
            STYLES: '',
            CRS: 'EPSG:3857',
            BBOX: '0,0,1000,1000',
            WIDTH: '200',
            HEIGHT: '200',
            FORMAT: 'image/png',
            I: String(place),
            J: '5',
            INFO_FORMAT: 'text/plain',
        });
        await get(`/service?${asked}`);
    }
    await get('/tms/1.0.0/');
    for (const layer of ['sea', 'lights'])
        for (const grid of ['EPSG900913', 'EPSG4326']) {
            await get(`/tms/1.0.0/${layer}/${grid}`);
            await get(`/kml/${layer}/${grid}`);
        }
    await get('/wmts/1.0.0/WMTSCapabilities.xml');
    await page.close();
}

const MAPS = `
services: { demo: , kml: , tms: , wmts: , wms: { md: { title: Maps of the harbour } } }
layers:
  - { name: sea, title: The sea, sources: [sea_cache] }
  - { name: lights, title: Lights of the coast, sources: [lights_cache] }
caches:
  sea_cache: { grids: [GLOBAL_MERCATOR, GLOBAL_GEODETIC], sources: [grid] }
  lights_cache: { grids: [GLOBAL_MERCATOR, GLOBAL_GEODETIC], sources: [grid] }
sources:
  grid: { type: debug }
globals: { cache: { base_dir: cache } }
`;
