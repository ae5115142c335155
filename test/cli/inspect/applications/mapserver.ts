import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import { CGI_SERVER, type RecordedApplication } from '../starting.ts';
import { ask, open } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'mapserver',
    host: 'charts.test',
    ready: '/cgi-bin/mapserv/harbour/ogcapi?f=json',
    visit,
    start(folder, port, npm) {
        const root = join(npm, '../../root/usr');
        mkdirSync(join(folder, 'served/cgi-bin'), { recursive: true });
        symlinkSync(join(root, 'lib/cgi-bin/mapserv'), join(folder, 'served/cgi-bin/mapserv'));
        for (const [name, features] of Object.entries(LAYERS))
            writeFileSync(join(folder, `${name}.geojson`), JSON.stringify(collection(features)));
        writeFileSync(join(folder, 'server.mjs'), CGI_SERVER);
        writeFileSync(join(folder, 'harbour.map'), map(folder, port, root));
        writeFileSync(
            join(folder, 'mapserver.conf'),
            `CONFIG\n ENV\n  MS_MAP_PATTERN "."\n END\n MAPS\n  harbour "${folder}/harbour.map"\n END\nEND\n`,
        );
        const libraries = ['lib', 'lib/x86_64-linux-gnu', 'lib/x86_64-linux-gnu/lapack', 'lib/x86_64-linux-gnu/blas'].map(
            (one) => `${root}/${one}`,
        );
        return `export MAPSERVER_CONFIG_FILE=${folder}/mapserver.conf PROJ_LIB=${root}/share/proj GDAL_DATA=${root}/share/gdal LD_LIBRARY_PATH=${libraries.join(':')}
            exec ${process.execPath} server.mjs ${port} ${folder}/served`;
    },
};

/** Looks for features by OGC API, as pages and as data, and by WFS, and asks a WMS what is at a place. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    const api = '/cgi-bin/mapserv/harbour/ogcapi';
    for (const path of ['', '/conformance', '/collections', '/collections/piers', '/collections/lamps'])
        await open(page, `${base}${api}${path}?f=html`);
    for (const path of [
        '/collections/piers/items',
        '/collections/lamps/items',
        '/collections/piers/items/11',
        '/collections/lamps/items/901',
    ])
        await open(page, `${base}${api}${path}?f=html`);
    for (const path of ['', '/conformance', '/api', '/collections', '/collections/piers', '/collections/lamps'])
        await ask(page, 'GET', `${api}${path}?f=json`);
    for (const query of ['f=json', 'f=json&limit=2', 'f=json&limit=1&offset=1', 'f=json&bbox=10,54.2,10.15,54.35'])
        await ask(page, 'GET', `${api}/collections/piers/items?${query}`);
    await ask(page, 'GET', `${api}/collections/lamps/items?f=json&limit=1`);
    for (const path of ['piers/items/11', 'piers/items/12', 'lamps/items/902']) await ask(page, 'GET', `${api}/collections/${path}?f=json`);
    const service = '/cgi-bin/mapserv?map=harbour&';
    await ask(page, 'GET', `${service}SERVICE=WMS&VERSION=1.3.0&REQUEST=GetCapabilities`);
    await ask(page, 'GET', `${service}SERVICE=WFS&VERSION=2.0.0&REQUEST=GetCapabilities`);
    for (const layer of ['piers', 'lamps']) {
        await ask(page, 'GET', `${service}SERVICE=WFS&VERSION=2.0.0&REQUEST=DescribeFeatureType&TYPENAME=${layer}`);
        await ask(page, 'GET', `${service}SERVICE=WFS&VERSION=2.0.0&REQUEST=GetFeature&TYPENAMES=${layer}&COUNT=2`);
        await ask(page, 'GET', `${service}SERVICE=WMS&VERSION=1.1.1&REQUEST=DescribeLayer&LAYERS=${layer}`);
        await ask(page, 'GET', `${service}SERVICE=WMS&VERSION=1.1.1&REQUEST=GetStyles&LAYERS=${layer}`);
        const place = 'CRS=EPSG:4326&BBOX=54,10,54.5,10.5&WIDTH=400&HEIGHT=300';
        const at = layer === 'piers' ? 'I=80&J=120' : 'I=96&J=108';
        await ask(
            page,
            'GET',
            `${service}SERVICE=WMS&VERSION=1.3.0&REQUEST=GetFeatureInfo&LAYERS=${layer}&QUERY_LAYERS=${layer}&${place}&${at}&INFO_FORMAT=text/plain&STYLES=`,
        );
        await ask(page, 'GET', `${service}SERVICE=WMS&VERSION=1.3.0&REQUEST=GetMap&LAYERS=${layer}&${place}&FORMAT=image/png&STYLES=`);
    }
    await ask(page, 'GET', `${service}SERVICE=WFS&VERSION=2.0.0&REQUEST=GetFeature&TYPENAMES=piers&STARTINDEX=1&COUNT=1`);
    await page.close();
}

type Feature = [id: number, title: string, east: number, north: number];

const LAYERS: Readonly<Record<string, Feature[]>> = {
    piers: [
        [11, 'North pier', 10.1, 54.3],
        [12, 'South pier', 10.2, 54.4],
        [13, 'Old pier', 10.25, 54.35],
    ],
    lamps: [
        [901, 'Green light', 10.12, 54.32],
        [902, 'Red light', 10.22, 54.42],
    ],
};

function collection(features: readonly Feature[]) {
    return {
        type: 'FeatureCollection',
        features: features.map(([id, title, east, north]) => ({
            type: 'Feature',
            properties: { number: id, title, depth: id / 2 },
            geometry: { type: 'Point', coordinates: [east, north] },
        })),
    };
}

const map = (folder: string, port: number, root: string) => `MAP
 NAME "harbour" STATUS ON SIZE 400 300 EXTENT 10 54 10.5 54.5 UNITS DD IMAGETYPE PNG
 PROJECTION "init=epsg:4326" END
 WEB METADATA
  "ows_title" "Harbour maps" "ows_abstract" "Piers and lamps of the harbour" "ows_onlineresource" "http://charts.test:${port}/cgi-bin/mapserv?map=harbour"
  "ows_srs" "EPSG:4326 EPSG:3857" "ows_enable_request" "*"
  "oga_onlineresource" "http://charts.test:${port}/cgi-bin/mapserv/harbour/ogcapi" "oga_enable_request" "*" "oga_html_template_directory" "${root}/share/mapserver/ogcapi/templates/html-plain/"
 END END
${['piers', 'lamps']
    .map(
        (name) => ` LAYER NAME "${name}" TYPE POINT STATUS ON CONNECTIONTYPE OGR CONNECTION "${folder}/${name}.geojson" TEMPLATE "x.html"
  PROJECTION "init=epsg:4326" END
  METADATA "ows_title" "All ${name}" "oga_description" "All ${name} of the harbour" "gml_include_items" "all" "gml_featureid" "number" "wfs_featureid" "number" "oga_featureid" "number" "ows_include_items" "all" END
  CLASS NAME "${name}" STYLE COLOR 0 0 255 SIZE 6 END END
 END`,
    )
    .join('\n')}
END
`;
