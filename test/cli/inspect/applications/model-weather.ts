import { type Call, modelled, pageWith } from '../modelled.ts';

/** A model of a weather site, after yr.no and windy.com: forecasts of places, suggestions while one types, and maps of tiles. */
const PLACES = [
    { id: '1-72837', path: 'Norway/Oslo/Oslo/Oslo', name: 'Oslo' },
    { id: '1-92416', path: 'Norway/Vestland/Bergen/Bergen', name: 'Bergen' },
    { id: '2-2673730', path: 'Sweden/Stockholm/Stockholm/Stockholm', name: 'Stockholm' },
] as const;
const MENU = `<nav><a href="/en">Forecast</a> <a href="/en/map">Map</a> <a href="/en/content/about">About</a></nav><form action="/en/search" role="search"><input type="search" name="q" aria-label="Search for a place"><button>Search</button></form>`;
const page = (title: string, main: string) => pageWith(`${title} – Weather`, main, MENU);
const hours = (from: number) =>
    [0, 1, 2, 3].map((hour) => ({
        start: `2026-11-30T0${hour}:00:00+01:00`,
        symbolCode: 'rain',
        temperature: { value: from + hour },
        wind: { direction: 120, speed: 4.5 },
    }));
const table = (rows: number) =>
    `<table><thead><tr><th>Day</th><th>Temperature</th></tr></thead><tbody>${Array.from({ length: rows }, (_, day) => `<tr><td>Day ${day}</td><td>${day}°</td></tr>`).join('')}</tbody></table>`;
const event = (name: string): Call => ({
    ask: 'POST /api/v0/events',
    sent: { events: [{ name, at: 1767000000000, page: '/en' }] },
    answer: '',
    status: 204,
});
const calls: Call[] = [
    {
        ask: 'GET /en',
        answer: page(
            'Weather for land and sea',
            `<ul class="places">${PLACES.map(({ id, path, name }) => `<li><a href="/en/forecast/daily-table/${id}/${path}">${name}</a></li>`).join('')}</ul>`,
        ),
    },
    event('pageview'),
    ...['o', 'os', 'osl'].map(
        (text): Call => ({
            ask: `GET /api/v0/locations/search?language=en&q=${text}`,
            answer: {
                totalResults: 2,
                _embedded: {
                    location: PLACES.map(({ id, name }) => ({
                        id,
                        name,
                        category: { id: 'CA01', name: 'City' },
                        position: { lat: 59.91, lon: 10.75 },
                    })),
                },
            },
        }),
    ),
    ...PLACES.flatMap(({ id, path, name }, place): Call[] => [
        { ask: `GET /en/forecast/daily-table/${id}/${path}`, answer: page(name, table(9)) },
        {
            ask: `GET /api/v0/locations/${id}/forecast`,
            answer: { created: '2026-11-30T04:00:00Z', dayIntervals: hours(place), shortIntervals: hours(place) },
        },
        {
            ask: `GET /api/v0/locations/${id}/forecast/currenthour`,
            answer: { created: '2026-11-30T04:00:00Z', temperature: { value: place, feelsLike: 1 }, precipitation: { value: 0.2 } },
        },
        {
            ask: `GET /api/v0/locations/${id}/celestialevents`,
            answer: { timeZone: { utcOffset: '+01:00' }, events: [{ body: 'Sun', type: 'Rise', time: '2026-11-30T08:50:00+01:00' }] },
        },
    ]),
    ...PLACES.slice(0, 2).map(
        ({ id, path, name }): Call => ({
            ask: `GET /en/forecast/hourly-table/${id}/${path}?i=1`,
            answer: page(`${name}, hour by hour`, table(24)),
        }),
    ),
    { ask: `GET /en/statistics/table/${PLACES[0].id}/${PLACES[0].path}?q=last-24-hours`, answer: page('Statistics', table(4)) },
    { ask: `GET /en/statistics/table/${PLACES[2].id}/${PLACES[2].path}?q=last-30-days`, answer: page('Statistics', table(5)) },
    {
        ask: 'GET /api/v0/regions/NO/watertemperatures',
        answer: [
            { id: '0-10075', locationName: 'Sørenga', temperature: 8.5 },
            { id: '0-10076', locationName: 'Huk', temperature: 8 },
        ],
    },
    {
        ask: 'GET /api/v0/warnings?lat=59.91&lon=10.75',
        answer: { warnings: [{ id: '2.49.0.1.578.0.240', event: 'wind', level: 'yellow' }] },
    },
    { ask: 'GET /en/map', answer: page('Map', '<div id="map">The map of rain, wind and temperature</div>') },
    {
        ask: 'GET /maps/radar/available.json',
        answer: { times: [{ time: '2026-11-30T03:00:00Z', tiles: { png: '/maps/radar/{time}/{z}/{x}/{y}.png' } }] },
    },
    ...[3, 4].flatMap((hour) =>
        [7, 8].map((x): Call => ({ ask: `GET /maps/radar/2026-11-30T0${hour}:00:00Z/4/${x}/4.png`, answer: 'PNG', type: 'image/png' })),
    ),
    ...[7, 8].map((x): Call => ({ ask: `GET /maps/base/4/${x}/4.pbf`, answer: 'PBF', type: 'application/x-protobuf' })),
    { ask: 'GET /maps/base/4/9/4.mvt', answer: 'MVT', type: 'application/vnd.mapbox-vector-tile' },
    ...[
        [7, 4],
        [8, 5],
    ].map(
        ([x, y]): Call => ({
            ask: `GET /maps/wind/2026-11-30T04:00:00Z/4/${x}/${y}.json`,
            answer: { header: { nx: 2, ny: 2 }, u: [1.5, 2], v: [0.5, 1] },
        }),
    ),
    {
        ask: 'GET /en/content/about',
        answer: page('About', '<p>Who makes these forecasts, and how they are made every day of the year.</p>'),
    },
    {
        ask: 'GET /en/search?q=berg',
        answer: page(
            'Search',
            `<ol><li><a href="/en/forecast/daily-table/${PLACES[1].id}/${PLACES[1].path}">Bergen</a></li><li><a href="/x">Bergamo</a></li></ol>`,
        ),
    },
    event('search'),
];

export const application = modelled('model-weather', 'weather.test', calls);
