import { type Call, modelled, pageWith } from '../modelled.ts';

/** A model of a site of a city, after Drupal, CKAN, ArcGIS Server and GeoServer: pages with aliases, lists by AJAX, open data, services of maps. */
const MENU =
    '<nav><a href="/news">News</a> <a href="/dataset">Data</a> <a href="/services/parking">Parking</a></nav><form action="/search/node" method="get"><label for="edit-keys">Enter your keywords</label><input id="edit-keys" type="search" name="keys"><input type="submit" value="Search"></form>';
const page = (title: string, main: string) => pageWith(`${title} | City of Leith`, main, MENU);
const news = `<div class="view-content">${['pier-opens', 'new-ferry', 'dredging-begins'].map((slug) => `<div class="views-row"><h3><a href="/news/2026/${slug}">${slug}</a></h3></div>`).join('')}</div>`;
const data =
    '<ul class="dataset-list"><li class="dataset-item"><h2><a href="/dataset/harbour-depths">Depths</a></h2></li><li class="dataset-item"><h2><a href="/dataset/parking-bays">Parking bays</a></h2></li></ul>';
const RESOURCES = ['0f1e2d3c-4b5a-4968-8776-655443322110', '9a8b7c6d-5e4f-4a3b-8c2d-1e0f9a8b7c6d'];
const ok = (result: object) => ({ help: 'http://city.test/api/3/action/help_show', success: true, result });
const arcgis = '/arcgis/rest/services';
const features = {
    displayFieldName: 'NAME',
    fields: [{ name: 'NAME', type: 'esriFieldTypeString' }],
    features: [{ attributes: { NAME: 'Quay' }, geometry: { x: 1.5, y: 2.5 } }],
};
const feature = {
    type: 'FeatureCollection',
    features: [{ type: 'Feature', id: 'moorings.1', geometry: { type: 'Point', coordinates: [1, 2] }, properties: { name: 'A' } }],
};
const views = (at: number): Call => ({
    ask: 'POST /views/ajax?_wrapper_format=drupal_ajax',
    sent: `view_name=news&view_display_id=page_1&view_args=&view_path=%2Fnews&view_dom_id=ab12cd34&pager_element=0&page=${at}&_drupal_ajax=1&ajax_page_state%5Btheme%5D=city`,
    headers: { 'content-type': 'application/x-www-form-urlencoded', 'x-requested-with': 'XMLHttpRequest' },
    answer: [{ command: 'insert', method: 'replaceWith', selector: '.js-view', data: news, settings: null }],
});
const calls: Call[] = [
    { ask: 'GET /', answer: page('City of Leith', '<p>Welcome to the city by the water, with its harbour and its hills.</p>') },
    { ask: 'GET /news', answer: page('News', news) },
    { ask: 'GET /news?page=1', answer: page('News', news) },
    views(2),
    views(3),
    ...['pier-opens', 'new-ferry'].map(
        (slug): Call => ({
            ask: `GET /news/2026/${slug}`,
            answer: page(slug, '<article><p>From Monday on you may walk along the water again.</p></article>'),
        }),
    ),
    ...[12, 40].map(
        (id): Call => ({
            ask: `GET /node/${id}`,
            answer: page('A page', '<article><p>Of what the city does for those who live in it.</p></article>'),
        }),
    ),
    {
        ask: 'GET /search/node?keys=ferry',
        answer: page(
            'Search for ferry',
            '<ol class="search-results"><li><h3><a href="/news/2026/new-ferry">New ferry</a></h3></li><li><h3><a href="/node/12">Ferries</a></h3></li></ol>',
        ),
    },
    { ask: 'GET /services/parking', answer: page('Parking', '<p>Where you may park your car, and what it costs you by the hour.</p>') },
    { ask: 'GET /services/waste', answer: page('Waste', '<p>When we come for your waste, and what you may put into which bin.</p>') },
    {
        ask: 'GET /jsonapi/node/article?page%5Blimit%5D=10&sort=-created',
        answer: {
            jsonapi: { version: '1.0' },
            data: [{ type: 'node--article', id: RESOURCES[0], attributes: { title: 'Pier' } }],
            links: {},
        },
    },
    { ask: 'GET /dataset', answer: page('Datasets', data) },
    { ask: 'GET /dataset?q=harbour&res_format=CSV&organization=port&sort=score+desc', answer: page('Datasets', data) },
    ...['harbour-depths', 'parking-bays'].map(
        (slug): Call => ({
            ask: `GET /dataset/${slug}`,
            answer: page(
                slug,
                `<ul class="resource-list"><li><a href="/dataset/${slug}/resource/${RESOURCES[0]}">CSV</a></li><li><a href="/x">JSON</a></li></ul>`,
            ),
        }),
    ),
    {
        ask: `GET /dataset/harbour-depths/resource/${RESOURCES[0]}`,
        answer: page('CSV of depths', '<p>The depths of the harbour, as measured by the port each spring.</p>'),
    },
    { ask: 'GET /organization/port', answer: page('Port', data) },
    ...['harbour', 'bays'].map(
        (q): Call => ({
            ask: `GET /api/3/action/package_search?q=${q}&rows=20&start=0`,
            answer: ok({ count: 2, results: [{ id: RESOURCES[0], name: 'harbour-depths', title: 'Depths' }] }),
        }),
    ),
    ...['harbour-depths', 'parking-bays'].map(
        (id): Call => ({
            ask: `GET /api/3/action/package_show?id=${id}`,
            answer: ok({ id: RESOURCES[0], name: id, title: 'Depths', resources: [{ id: RESOURCES[1], format: 'CSV' }] }),
        }),
    ),
    ...RESOURCES.map(
        (id): Call => ({
            ask: `GET /api/3/action/datastore_search?resource_id=${id}&limit=100&offset=0`,
            answer: ok({ resource_id: id, fields: [{ id: 'depth', type: 'numeric' }], records: [{ _id: 1, depth: 3.5 }], total: 900 }),
        }),
    ),
    { ask: 'GET /api/3/action/organization_list', answer: ok(['port', 'roads']) },
    {
        ask: `GET ${arcgis}/Harbour/Moorings/MapServer?f=json`,
        answer: { currentVersion: 10.91, layers: [{ id: 0, name: 'Moorings' }], tables: [] },
    },
    ...['NAME%3D%27A%27', '1%3D1'].map(
        (where, place): Call => ({
            ask: `GET ${arcgis}/Harbour/Moorings/MapServer/${place}/query?f=json&where=${where}&outFields=*&returnGeometry=true`,
            answer: features,
        }),
    ),
    { ask: `GET ${arcgis}/Roads/Closures/FeatureServer/2/query?f=json&where=1%3D1&outFields=NAME&returnGeometry=false`, answer: features },
    { ask: `GET ${arcgis}/Harbour/Moorings/MapServer/export?bbox=1,2,3,4&size=256,256&f=image`, answer: 'PNG', type: 'image/png' },
    {
        ask: `GET ${arcgis}/Geocode/GeocodeServer/suggest?text=quay&f=json`,
        answer: { suggestions: [{ text: 'Quay 1', magicKey: 'x', isCollection: false }] },
    },
    ...['moorings', 'buoys'].map(
        (type): Call => ({
            ask: `GET /geoserver/ows?service=WFS&version=2.0.0&request=GetFeature&typeNames=port:${type}&outputFormat=application/json`,
            answer: feature,
        }),
    ),
    {
        ask: 'GET /geoserver/ows?service=WMS&version=1.3.0&request=GetCapabilities',
        answer: '<?xml version="1.0"?><WMS_Capabilities version="1.3.0"><Service><Name>WMS</Name></Service></WMS_Capabilities>',
        type: 'text/xml',
    },
    {
        ask: 'GET /geoserver/ows?service=WMS&version=1.3.0&request=GetFeatureInfo&layers=port:moorings&query_layers=port:moorings&i=5&j=6&info_format=application/json',
        answer: feature,
    },
    { ask: 'POST /core/modules/statistics/statistics.php', sent: 'nid=12', answer: '' },
    { ask: 'POST /history/12/read', sent: '', answer: '1767000000', type: 'application/json' },
];

export const application = modelled('model-state', 'city.test', calls);
