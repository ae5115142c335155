import { type Call, modelled, pageWith } from '../modelled.ts';

/**
 * A model of a public register made with ASP.NET, from Microsoft's documents: pages of Web Forms that post themselves back with their view
 * state, page methods and script services whose answers are in `d`, a SOAP service, an action of MVC, handlers, and a Web API.
 */
const VIEWSTATE = '/wEPDwUKMTY1NDU2MTA1MmRkVx2aK8Qz7L0PbY3mN6rTg9WsEhJdFuXc4vA1ioBkHlM=';
const hidden =
    '<input type="hidden" name="__VIEWSTATE" id="__VIEWSTATE" value="' +
    VIEWSTATE +
    '"><input type="hidden" name="__VIEWSTATEGENERATOR" value="CA0B0334"><input type="hidden" name="__EVENTVALIDATION" value="/wEdAAMz7Xk2vQ9pL1nB8rT4cY6wHd0sJgFuEaKiOxZmVqRb">';
const menu =
    '<ul class="menu"><li><a href="/Default.aspx">Start</a></li><li><a href="/Search/VesselSearch.aspx">Search vessels</a></li><li><a href="/News/List.aspx?cat=2">News</a></li></ul>';
const form = (action: string, inside: string) => `<form method="post" action="${action}" id="aspnetForm">${hidden}${inside}</form>`;
const page = (title: string, action: string, inside: string) => pageWith(`${title} - Ship Register`, form(action, inside), menu);
const SEARCH =
    '<label for="n">Name of the vessel</label><input id="n" type="text" name="ctl00$Main$txtName"><label for="f">Flag</label><select id="f" name="ctl00$Main$ddlFlag"><option value="">All</option><option value="DK">Denmark</option><option value="NO">Norway</option></select><input type="submit" name="ctl00$Main$btnSearch" value="Search">';
const rows = (ids: number[]) =>
    `<table id="ctl00_Main_grid" class="grid"><tr><th>Name</th><th>Flag</th></tr>${ids.map((id) => `<tr><td><a href="VesselDetails.aspx?VesselID=${id}">Vessel ${id}</a></td><td>DK</td></tr>`).join('')}</table>`;
const posted = (more: Record<string, string>) =>
    new URLSearchParams({
        __EVENTTARGET: '',
        __EVENTARGUMENT: '',
        __VIEWSTATE: VIEWSTATE,
        __VIEWSTATEGENERATOR: 'CA0B0334',
        __EVENTVALIDATION: '/wEdAAMz7Xk2vQ9pL1nB8rT4cY6wHd0sJgFuEaKiOxZmVqRb',
        ...more,
    }).toString();
const ports = ['Esbjerg', 'Bergen', 'Leith'];
const d = (answer: unknown) => ({ d: answer });
const soap = (method: string, inside: string, answer: string): Call => ({
    ask: 'POST /Services/Tonnage.asmx',
    sent: `<?xml version="1.0" encoding="utf-8"?><soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body><${method} xmlns="http://register.test/">${inside}</${method}></soap:Body></soap:Envelope>`,
    headers: { 'content-type': 'text/xml; charset=utf-8', soapaction: `"http://register.test/${method}"` },
    type: 'text/xml; charset=utf-8',
    answer: `<?xml version="1.0" encoding="utf-8"?><soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body><${method}Response xmlns="http://register.test/">${answer}</${method}Response></soap:Body></soap:Envelope>`,
});
const vessel = (id: number) => ({
    Id: id,
    Name: `Vessel ${id}`,
    Imo: 9074729 + id,
    Flag: 'DK',
    GrossTonnage: 1200.5 + id,
    Owner: { Name: 'Harbour Lines', Country: 'DK' },
});

const calls: Call[] = [
    {
        ask: 'GET /Default.aspx',
        answer: page(
            'Welcome',
            './Default.aspx',
            '<p>The public register of ships, with their names, owners and tonnage, open to all.</p>',
        ),
    },
    { ask: 'GET /WebResource.axd?d=pynGkmcFUV13He1Qd6_TZ&t=638901234567890000', answer: 'var x', type: 'application/x-javascript' },
    { ask: 'GET /ScriptResource.axd?d=NJmAwtEo3Ipnlaxl6CMhvm&t=ffffffffaa493ab8', answer: 'var y', type: 'application/x-javascript' },
    { ask: 'GET /Search/VesselSearch.aspx', answer: page('Search vessels', './VesselSearch.aspx', SEARCH) },
    {
        ask: 'POST /Search/VesselSearch.aspx',
        sent: posted({ ctl00$Main$txtName: 'Tide', ctl00$Main$ddlFlag: '', ctl00$Main$btnSearch: 'Search' }),
        answer: page('Search vessels', './VesselSearch.aspx', SEARCH + rows([101, 102, 103])),
    },
    {
        ask: 'POST /Search/VesselSearch.aspx',
        sent: posted({ ctl00$Main$txtName: 'Fog', ctl00$Main$ddlFlag: 'NO', ctl00$Main$btnSearch: 'Search' }),
        answer: page('Search vessels', './VesselSearch.aspx', SEARCH + rows([104, 105])),
    },
    ...[101, 102, 103].map(
        (id): Call => ({
            ask: `GET /Search/VesselDetails.aspx?VesselID=${id}`,
            answer: page(
                `Vessel ${id}`,
                `./VesselDetails.aspx?VesselID=${id}`,
                `<dl class="details"><dt>Name</dt><dd>Vessel ${id}</dd><dt>Flag</dt><dd>DK</dd><dt>Gross tonnage</dt><dd>${1200 + id}</dd></dl>`,
            ),
        }),
    ),
    {
        ask: 'GET /Search/VesselDetails.aspx?VesselID=101&tab=owners',
        answer: page(
            'Vessel 101',
            './VesselDetails.aspx?VesselID=101&tab=owners',
            '<table class="owners"><tr><td>Harbour Lines</td></tr><tr><td>Coast Bank</td></tr></table>',
        ),
    },
    ...['Esb', 'Ber'].map(
        (prefix): Call => ({ ask: 'POST /Services/Lookup.asmx/GetPorts', sent: { prefixText: prefix, count: 10 }, answer: d(ports) }),
    ),
    ...[101, 102].map(
        (id): Call => ({
            ask: 'POST /Services/Lookup.asmx/GetHistory',
            sent: { vesselId: id },
            answer: d([{ __type: 'Register.Event', Date: '/Date(1767000000000)/', Text: 'Renamed' }]),
        }),
    ),
    {
        ask: 'POST /Services/Lookup.asmx/GetFlags',
        sent: {},
        answer: d([
            { Code: 'DK', Name: 'Denmark' },
            { Code: 'NO', Name: 'Norway' },
        ]),
    },
    ...[101, 103].map(
        (id): Call => ({
            ask: 'POST /Search/VesselDetails.aspx/GetOwners',
            sent: { vesselId: id, withFormer: false },
            answer: d([{ Name: 'Harbour Lines', Share: 64 }]),
        }),
    ),
    soap('GetTonnage', '<imo>9074730</imo>', '<GetTonnageResult>1201.5</GetTonnageResult>'),
    soap('GetTonnage', '<imo>9074731</imo>', '<GetTonnageResult>1202.5</GetTonnageResult>'),
    soap(
        'ListChanges',
        '<since>2026-01-01</since><max>10</max>',
        '<ListChangesResult><Change><Imo>9074730</Imo></Change></ListChangesResult>',
    ),
    {
        ask: 'GET /News/List.aspx?cat=2',
        answer: page(
            'News',
            './List.aspx?cat=2',
            '<ul class="news"><li><a href="Show.aspx?id=31">New fees</a></li><li><a href="Show.aspx?id=32">New forms</a></li></ul>',
        ),
    },
    {
        ask: 'GET /News/List.aspx?cat=3&page=2',
        answer: page(
            'News',
            './List.aspx?cat=3',
            '<ul class="news"><li><a href="Show.aspx?id=33">Old fees</a></li><li><a href="Show.aspx?id=34">Old forms</a></li></ul>',
        ),
    },
    ...[31, 32].map(
        (id): Call => ({
            ask: `GET /News/Show.aspx?id=${id}`,
            answer: page(
                `Article ${id}`,
                `./Show.aspx?id=${id}`,
                `<div class="article"><p>Article ${id} says what changes at the register, and from which day on.</p></div>`,
            ),
        }),
    ),
    ...[7, 9].map(
        (id): Call => ({
            ask: `GET /Handlers/Certificate.ashx?no=${id}&lang=en`,
            answer: { No: id, Kind: 'Tonnage', ValidTo: '2030-01-01' },
        }),
    ),
    { ask: 'GET /api/Vessels?flag=DK&top=2&skip=0', answer: [vessel(101), vessel(102)] },
    { ask: 'GET /api/Vessels?flag=DK&top=2&skip=2', answer: [vessel(103)] },
    ...[101, 102].map((id): Call => ({ ask: `GET /api/Vessels/${id}`, answer: vessel(id) })),
    ...[101, 102].map((id): Call => ({ ask: `GET /api/Vessels/${id}/Mortgages`, answer: [{ Bank: 'Coast Bank', Amount: 1000000 }] })),
    ...[9074830, 9074831].map((imo): Call => ({ ask: `GET /api/Vessels/ByImo/${imo}`, answer: vessel(101) })),
    {
        ask: 'POST /api/Vessels/Search',
        sent: { Name: 'Tide', Flags: ['DK', 'NO'], Built: { From: 1990, To: 2010 }, Page: 1, PageSize: 20 },
        answer: { Total: 2, Items: [vessel(101), vessel(102)] },
    },
    {
        ask: 'POST /api/Vessels/Search',
        sent: { Name: 'Fog', Flags: [], Built: null, Page: 2, PageSize: 20 },
        answer: { Total: 21, Items: [vessel(103)] },
    },
    { ask: 'GET /Statistics/FleetByYear?year=2025&format=json', answer: { Year: 2025, Ships: 512 } },
    { ask: 'GET /Statistics/FleetByYear?year=2026&format=json', answer: { Year: 2026, Ships: 520 } },
    {
        ask: 'GET /Statistics/FleetByFlag?year=2026&format=json',
        answer: [
            { Flag: 'DK', Ships: 300 },
            { Flag: 'NO', Ships: 220 },
        ],
    },
    {
        ask: 'GET /Statistics/Index',
        answer: page(
            'Statistics',
            '/Statistics/Index',
            '<p>Ships by year, by flag and by size, counted on the first day of each year.</p>',
        ),
    },
    { ask: 'POST /KeepAlive.ashx', sent: 'x=1', answer: 'OK', type: 'text/plain' },
    {
        ask: 'GET /signalr/negotiate?clientProtocol=2.1&connectionData=%5B%7B%22name%22%3A%22newshub%22%7D%5D&_=1767000000123',
        answer: {
            Url: '/signalr',
            ConnectionToken: 'AQAAANCMnd8BFdERjHoAwE',
            ConnectionId: '7d1c9a30-53f2-4c5e-9d0e-3a1f0c2b4d5e',
            KeepAliveTimeout: 20,
            TryWebSockets: true,
            ProtocolVersion: '2.1',
        },
    },
    { ask: 'GET /signalr/ping?_=1767000000999', answer: { Response: 'pong' } },
    { ask: 'POST /Log/ClientError', sent: { message: 'x is undefined', url: '/Default.aspx', line: 3 }, answer: '', status: 204 },
];

export const application = modelled('model-register', 'register.test', calls);
