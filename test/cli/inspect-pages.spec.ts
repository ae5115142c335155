import { expect } from 'chai';
import { load } from 'cheerio';
import { readPage } from '../../cli/inspect/pages/page.ts';
import { listsOf } from '../../cli/inspect/pages/page-lists.ts';
import { checkPackage } from '../../shared/domain/package/rules.ts';
import { cpuMsOf } from '../support/stopwatch.ts';
import { endpointOf, inspectCalls, SHOP } from './inspect/har.ts';

const TOPICS = ['harbour', 'tides', 'ropes', 'sails', 'anchors', 'lamps'];

const article = (topic: string) =>
    `<article class="entry"><h2 class="entry-title"><a href="/articles/${101 + TOPICS.indexOf(topic)}">All about ${topic} and more</a></h2>
    <time datetime="2026-11-0${TOPICS.indexOf(topic) + 1}">some day</time><p class="entry-summary">What ${topic} are good for, at length.</p></article>`;

function page(title: string, main: string, head = ''): string {
    const menu = '<nav><ul><li><a href="/">Home</a></li><li><a href="/articles?page=1">Articles</a></li></ul></nav>';
    return `<!doctype html><html><head><title>${title} – Boat Shop</title>${head}</head><body>${menu}<main>${main}</main></body></html>`;
}

const articles = (topics: readonly string[]) => page('Articles', `<h1>Articles</h1>${topics.map(article).join('')}`);
const detail = (topic: string) => page(topic, `<h1>${topic}</h1><p>Long enough to be read by somebody who likes ${topic}.</p>`);
const SEARCH = `<form action="/find" method="get"><label for="words">Words to look for</label><input id="words" name="q"><button>Search articles</button></form>`;

const visit = () =>
    inspectCalls([
        { url: `${SHOP}/`, html: page('Welcome', `<h1>Welcome</h1><p>Long enough to be read by somebody.</p>${SEARCH}`) },
        { url: `${SHOP}/articles?page=1`, html: articles(TOPICS.slice(0, 3)) },
        { url: `${SHOP}/articles?page=2`, html: articles(TOPICS.slice(3)) },
        { url: `${SHOP}/articles/101`, html: detail('harbour') },
        { url: `${SHOP}/articles/102`, html: detail('tides') },
        { url: `${SHOP}/find?q=rope`, html: page('Results', `<h1>Results of your search</h1>${TOPICS.slice(0, 2).map(article).join('')}`) },
        { url: `${SHOP}/find?q=sail`, html: page('Results', `<h1>Results of your search</h1>${TOPICS.slice(2, 5).map(article).join('')}`) },
    ]);

describe('routebook inspect reads pages', () => {
    it('selects the items of a list, with the fields that most of them have', async () => {
        const found = await visit();
        const { response } = endpointOf(found, 'GET /articles');
        expect(response).to.deep.include({ type: 'html' });
        expect(response?.select).to.deep.equal({
            items: [
                {
                    selector: 'article.entry',
                    value: {
                        title: 'a[href]',
                        url: { selector: 'a[href]', value: 'href' },
                        date: { selector: 'time', value: 'datetime' },
                        summary: 'p.entry-summary',
                    },
                },
            ],
        });
        expect(checkPackage(found.package, { isPortAllowed: () => true }).ok).to.equal(true);
    });

    it('describes endpoints and params by titles, headings and labels, never by what differs between pages', async () => {
        const { package: drafted } = await visit();
        const text = JSON.stringify(drafted);
        const described = (path: string) => drafted.endpoints.find(({ url }) => new URL(url).pathname === path);
        expect(described('/articles')?.description).to.include('Articles');
        expect(described('/find')?.description).to.include('Results of your search');
        expect(described('/find')?.params?.find(({ name }) => name === 'q')?.description).to.include('Words to look for');
        for (const topic of TOPICS) expect(text).not.to.include(topic);
    });

    it('describes params by labels of fields that have an id or a model of a script and no name', async () => {
        const html = page(
            'Ropes',
            '<label for="port">The port to listen on</label><input id="port"><label>Owner of it <input ng-model="rope.owner"></label>',
        );
        const { package: drafted } = await inspectCalls([
            { url: `${SHOP}/ropes`, html },
            ...[1, 2].map((port) => ({ method: 'POST', url: `${SHOP}/api/ropes`, body: { port, owner: `x${port}` } })),
        ]);
        const said = drafted.endpoints.flatMap(({ params = [] }) => params.map(({ name, description }) => `${name}: ${description}`));
        expect(said).to.include.members(['port: The port to listen on.', 'owner: Owner of it.']);
    });

    it('describes searches and their params by the OpenSearch document of the site, which becomes no endpoint', async () => {
        const document = `<?xml version="1.0"?><OpenSearchDescription xmlns="http://a9.com/-/spec/opensearch/1.1/">
            <ShortName>Boats</ShortName><Description>Find boats by their names</Description>
            <Url type="text/html" template="${SHOP}/lookfor.php?wd={searchTerms}&amp;from={startIndex?}&amp;mode=all"/>
            <Url type="application/x-suggestions+json" template="/hints/{searchTerms}/{language}"/>
            <Url type="text/html" method="post" template="/posted?wd={searchTerms}"/></OpenSearchDescription>`;
        const { package: drafted, report } = await inspectCalls([
            { url: `${SHOP}/opensearch.xml`, html: document, type: 'application/opensearchdescription+xml' },
            ...['rope', 'sails'].map((word) => ({
                url: `${SHOP}/lookfor.php?wd=${word}&from=${word.length}&mode=all`,
                html: detail(word),
            })),
            ...['17', '18'].map((number) => ({ url: `${SHOP}/hints/${number}/en-GB`, json: [] })),
            { url: `${SHOP}/hints/19/de-DE`, json: [] },
        ]);
        const said = drafted.endpoints.map(({ url, description, params = [] }) => [
            url.replace(SHOP, ''),
            description?.split('.', 1)[0],
            ...params.map((param) => param.description),
        ]);
        expect(said).to.deep.equal([
            ['/lookfor.php', 'Find boats by their names', 'Words to look for.', 'The mode.', 'Which result to begin with, by number.'],
            ['/hints/{hint_id}/{locale}', 'Find boats by their names', 'Words to look for.', 'The language of the results, such as en.'],
        ]);
        expect(report.dropped.map(({ what }) => what)).to.include('Descriptions of searches');
    });

    it('describes routes by the entries of maps, and params by lists of plain texts', async () => {
        const berth = { length: 12, depth: 3 };
        const { package: drafted, report } = await inspectCalls([
            { url: `${SHOP}/api/berths`, json: { 'b-70001': berth, 'b-70002': berth } },
            { url: `${SHOP}/api/charts`, json: ['north-bank', 'south-bank'] },
            { url: `${SHOP}/api/charts/north-bank`, json: { scale: 1 } },
            { url: `${SHOP}/api/charts/south-bank`, json: { scale: 2 } },
        ]);
        const berths = drafted.endpoints.find(({ url }) => url.endsWith('/berths'));
        expect(berths?.description).to.match(/Each item has length and depth\.$/);
        expect(report.found.find(({ name }) => name === berths?.name)).to.deep.include({ byAnswers: 1 });
        const [chart] = drafted.endpoints.find(({ url }) => url.includes('/charts/{'))?.params ?? [];
        expect(chart?.description).to.equal('Which chart. Take it from the field “items” in the answer of list_charts.');
    });

    it('describes params by response fields that contained their values, without repeating the values', async () => {
        const boats = [
            { id: 70001, name: 'harbour-queen', ownerId: 31, pages: 2 },
            { id: 70002, name: '@fleet/tug', ownerId: 32, pages: 3 },
        ];
        const { package: drafted, report } = await inspectCalls([
            { url: `${SHOP}/api/boats`, json: boats },
            { url: `${SHOP}/api/boats?page=2`, json: boats },
            { url: `${SHOP}/api/boats/70001`, json: boats[0] },
            { url: `${SHOP}/api/boats/70002`, json: boats[1] },
            { url: `${SHOP}/api/trips?ownerId=31&level=2`, json: [{ harbour: 'x' }] },
            { url: `${SHOP}/api/docs/@fleet/tug`, json: { readme: 'long' } },
            { url: `${SHOP}/api/find?query=harbour-queen&ss=1`, json: { found: 1 } },
            {
                method: 'POST',
                url: `${SHOP}/graphql`,
                body: { query: 'query Crew($first: Int!) { crew(limit: $first) { name } }', variables: { first: 5 } },
                json: { data: { crew: [{ name: 'Ada' }] } },
            },
        ]);
        const described = Object.fromEntries(
            drafted.endpoints.flatMap(({ url, params = [] }) =>
                params.map(({ name, description }) => [`${url.replace(SHOP, '')} ${name}`, description]),
            ),
        );
        expect(described).to.deep.include({
            '/api/boats/{boat_id} boat_id': 'The id of the boat. Take it from the field “id” in the answer of list_boats.',
            '/api/trips ownerId': 'The id of the owner. Take it from the field “ownerId” in the answer of list_boats.',
            '/api/trips level': 'The level.',
            '/api/find query': 'Words to look for. It is the field “name” in the answer of list_boats.',
            '/api/find ss': 'The value of “ss”.',
            '/api/boats page': 'Which page of the list, by number.',
            '/api/docs/@{scope}/{name} scope': 'Which scope. Take it from the field “name” in the answer of list_boats.',
            '/graphql first': 'The first. The operation takes it as the argument limit (Int!).',
        });
        expect(report.found.find(({ name }) => name === 'list_boats')).to.deep.include({ byPages: 0, byAnswers: 1 });
        expect(JSON.stringify(drafted)).not.to.match(/harbour-queen|7000\d|tug|Ada/);
    });

    it('describes writes by what reads of the same thing answer with, and by the page that calls them', async () => {
        const boat = { name: 'harbour-queen', sail_area: 44.5, crew: { isFull: true } };
        const from = { referer: `${SHOP}/desk` };
        const { package: drafted, report } = await inspectCalls([
            { url: `${SHOP}/desk`, html: page('Desk of the fleet', '<h1>Desk</h1><p>Long enough to be read by somebody.</p>') },
            { url: `${SHOP}/api/boats?page=1&page_size=2`, json: { page: 1, page_size: 2, boats: [boat] } },
            ...[1, 2].flatMap((id) => [
                { url: `${SHOP}/api/boats/${id}`, json: boat },
                { method: 'PUT', url: `${SHOP}/api/boats/${id}`, body: { sailArea: 40 + id, is_full: false, why: `x${id}` }, status: 204 },
                { method: 'POST', url: `${SHOP}/api/boats/${id}/hoist`, body: { name: `n${id}` }, status: 204 },
                { method: 'DELETE', url: `${SHOP}/api/quays/${id}`, status: 204 },
            ]),
            { method: 'POST', url: `${SHOP}/api/bells`, headers: from, status: 204 },
            { url: `${SHOP}/api`, json: { version: '1', uptime: 5 } },
            { method: 'POST', url: `${SHOP}/api/reindex`, status: 204 },
        ]);
        const described = Object.fromEntries(
            drafted.endpoints.flatMap(({ name, description, params = [] }) => [
                [name, description],
                ...params.map((param) => [`${name} ${param.name}`, param.description]),
            ]),
        );
        expect(described).to.deep.include({
            replace_boat:
                'Replace boat. Needs boat id, sail area, is full and why. It acts on what get_boat answers with: name, sail_area and crew.',
            'replace_boat sailArea': 'The sail area. It is the field “sail_area” in the answer of get_boat.',
            'replace_boat is_full': 'Whether is full. It is the field “isFull” in the answer of get_boat.',
            'replace_boat why': 'The why.',
            'create_boat_hoist name': 'The name. It is the field “name” in the answer of get_boat.',
            'list_boats page': 'Which page of the list, by number. The answers have it as the field “page”.',
            delete_quay: 'Delete quay. Needs quay id.',
            // What is above it is not what it acts on.
            create_reindex: 'Create reindex.',
            create_bell: 'Create bell, called by the page “Desk of the fleet – Boat Shop”.',
        });
        const counts = report.found.map(({ name, byPages, byAnswers }) => [name, byPages + byAnswers]);
        expect(Object.fromEntries(counts)).to.deep.include({ delete_quay: 0, create_bell: 1, replace_boat: 2, create_reindex: 0 });
        expect(JSON.stringify(drafted)).not.to.match(/harbour-queen|44\.5/);
    });

    it('describes fields by a label, or a name and a colon, in the box before theirs', async () => {
        const form = `<form action="/berths" method="post">
            <div class="row"><div class="name">Length of the boat:</div><div class="value"><div><input name="l1"></div></div></div>
            <div class="row"><label for="nothing">Who owns it</label><div><input name="o1"></div></div>
            <div class="row"><div>Boats come and go</div><div><input name="z1"></div></div><button>Moor</button></form>`;
        const found = await inspectCalls([
            { url: `${SHOP}/`, html: page('Welcome', `<h1>Welcome</h1><p>Long enough to be read by somebody.</p>${form}`) },
        ]);
        const texts = endpointOf(found, 'POST /berths').params?.map(({ name, description }) => [name, description]);
        expect(texts).to.deep.include.members([
            ['l1', 'Length of the boat.'],
            ['o1', 'Who owns it.'],
        ]);
        expect(JSON.stringify(texts)).not.to.include('come and go');
    });

    it('describes params without a label by choices, the button of their form, and validation messages of the site', async () => {
        const form = `<form action="/find"><input name="q"><input type="submit" value="Search articles"></form>
            <form action="/list"><select name="view"><option value="m">Modern view</option><option value="c">Compact view</option></select>
            <select name="owner"><option>Ada Lovelace</option><option>Grace Hopper</option></select></form>`;
        const { package: drafted } = await inspectCalls([
            { url: `${SHOP}/`, html: page('Welcome', `<h1>Welcome</h1><p>Long enough to be read by somebody.</p>${form}`) },
            { url: `${SHOP}/find?q=rope`, html: articles(TOPICS.slice(0, 3)) },
            { url: `${SHOP}/list?view=m&owner=x`, html: articles(TOPICS.slice(0, 3)) },
            { url: `${SHOP}/api/rates?unit=knots&area=`, json: { rate: 1 } },
            { url: `${SHOP}/api/rates?unit=&area=`, status: 422, json: { errors: [{ message: 'The unit is needed for rates.' }] } },
            { url: `${SHOP}/api/rates?unit=&area=bay`, status: 400, json: { error: 'The area bay is not known.' } },
        ]);
        const described = drafted.endpoints.flatMap(({ params = [] }) => params.map(({ name, description }) => [name, description]));
        expect(Object.fromEntries(described)).to.deep.include({
            q: 'Words to look for. Sent by the button “Search articles”.',
            view: 'The view. Choices are “Modern view”, “Compact view”.',
            unit: 'The unit. The site says of it: “The unit is needed for rates”.',
            area: 'The area.',
        });
        expect(JSON.stringify(drafted)).not.to.match(/Ada|Grace|bay/);
    });

    it('describes params by texts beside their inputs: before, behind, in their row, their term and their group', async () => {
        const form = `<form action="/berths" method="post">
            Name of the berth: <input name="berth"> <br> <input type="checkbox" name="roofed"> Has a roof
            <fieldset><legend>Depth at low tide</legend><input name="d"></fieldset>
            <fieldset><legend>Several things</legend><input name="x1"><input name="x2"></fieldset>
            <dl><dt>Kind of mooring</dt><dd><select name="m"><option>Buoy</option><option>Quay</option></select></dd></dl>
            <table><tr><th>Length of boats</th><td><select name="op"><option>below</option><option>above</option></select></td>
            <td><input name="len"></td></tr></table> <input type="submit" value="Add a berth"></form>`;
        const { package: drafted } = await inspectCalls([
            { url: `${SHOP}/quay`, html: page('Quay', `<h1>Quay</h1><p>Long enough to be read by somebody.</p>${form}`) },
        ]);
        const params = drafted.endpoints.find(({ kind }) => kind === 'submit_form')?.params ?? [];
        expect(Object.fromEntries(params.map(({ name, description }) => [name, description]))).to.deep.equal({
            berth: 'Name of the berth.',
            roofed: 'Has a roof.',
            d: 'Depth at low tide.',
            x1: 'The value of “x1”.',
            x2: 'The value of “x2”.',
            m: 'Kind of mooring.',
            op: 'The value of “op”. Choices are “below”, “above”.',
            len: 'Length of boats.',
        });
    });

    it('takes the heading of a form without a button for its name, and the hidden inputs that a script fills for params', async () => {
        const box = (title: string, form: string) => `<div class="box"><div><h3>${title}</h3></div><div>${form}</div></div>`;
        const inputs =
            '<input type="hidden" name="berth"><input type="hidden" name="kind" value="long"><label>Knot <input name="knot"></label>';
        const ropes = `${inputs}<label>Length <input name="length"></label>`;
        const { package: drafted, report } = await inspectCalls([
            {
                url: `${SHOP}/quay`,
                html: page(
                    'Quay',
                    `<h1>Quay</h1><p>Long enough to be read by somebody.</p>
                    ${box('Tie a rope', `<form action="/ropes" method="post">${ropes}</form>`)}
                    ${box('Change a rope', `<form action="/changes" method="patch">${inputs}</form>`)}
                    ${box('Cut a rope', `<form action="/cuts" method="post">${inputs}<button>Cut</button></form>`)}
                    ${box('Weave a rope', `<form action="/weaves" method="post">${inputs}</form>`)}
                    ${box('Sell a rope', `<form id="sell" action="/sales" method="post">${ropes}</form>`)}
                    <p><button form="sell">Sell it</button></p>
                    ${box('Find a rope', `<form action="/finds" method="get">${ropes}</form>`)}`,
                ),
            },
        ]);
        const forms = drafted.endpoints.filter(({ kind }) => kind === 'submit_form');
        const said = forms.map(({ url, description, params = [] }) => [url, description?.split('.', 1)[0], params.map(({ name }) => name)]);
        expect(said).to.deep.equal([
            [`${SHOP}/ropes`, 'Tie a rope, the form of “Quay – Boat Shop”', ['berth', 'knot', 'length']],
            [`${SHOP}/cuts`, 'Cut, the form of “Quay – Boat Shop”', ['knot']],
            // Enter sends a form with one text field, and a button may stand outside its form.
            [`${SHOP}/weaves`, 'Weave a rope, the form of “Quay – Boat Shop”', ['knot']],
            [`${SHOP}/sales`, 'Sell it, the form of “Quay – Boat Shop”', ['knot', 'length']],
        ]);
        const find = drafted.endpoints.find(({ url }) => url === `${SHOP}/finds`);
        expect(find?.params?.map(({ name }) => name)).to.deep.equal(['knot', 'length']);
        expect(report.dropped).to.deep.include({ what: 'Forms', why: 'they have neither an action nor a method: a script sends them' });
    });

    const times = (count: number, element: (place: number) => string) =>
        Array.from({ length: count }, (_, place) => element(place)).join('');
    const HOSTILE: Readonly<Record<string, string>> = {
        'hidden fields of one form': `<form method="post">${times(16_000, (place) => `<input type="hidden" name="a${place}">`)}</form>`,
        'labels of one form': `<form>${times(8000, (place) => `<label for="a${place}">L</label><input id="a${place}" name="a${place}">`)}</form>`,
        'groups of one form': `<form>${'<fieldset><legend>x</legend><input name="a"></fieldset>'.repeat(16_000)}</form>`,
        'paragraphs of one form': `<form class="w"><input name="q">${'<p>x</p>'.repeat(16_000)}</form>`,
        'cells of one row': `<table><tr>${'<td>x</td>'.repeat(16_000)}</tr><tr>${'<td>x</td>'.repeat(16_000)}</tr></table>`,
        'items in items with several names each': `<div itemscope itemtype="https://schema.org/Product">${'<div itemprop="a b c" itemscope>'.repeat(100)}`,
    };
    for (const [name, html] of Object.entries(HOSTILE)) {
        it(`reads many ${name} in linear time`, () => {
            expect(cpuMsOf(() => readPage(html, new URL(SHOP)))).to.be.below(3000);
        });
    }

    it('ignores menus, footers and choices of a form as lists', () => {
        const menu = TOPICS.map((topic) => `<li><a href="/${topic}">About ${topic}, a long text</a></li>`).join('');
        const options = TOPICS.map((topic) => `<option>${topic}</option>`).join('');
        const html = `<body><nav><ul>${menu}</ul></nav><footer><ul>${menu}</ul></footer><select>${options}</select></body>`;
        expect(listsOf(load(html))).to.deep.equal([]);
    });

    it('reads rows of a table by their headings', () => {
        const rows = TOPICS.map((topic, place) => `<tr><td><a href="/${topic}">${topic}</a></td><td>${place * 3} pieces</td></tr>`).join(
            '',
        );
        const [list] = listsOf(load(`<body><table id="stock"><tr><th>Name</th><th>In stock</th></tr>${rows}</table></body>`));
        expect(list?.items).to.equal(TOPICS.length);
        expect([...(list?.fields.keys() ?? [])]).to.include.members(['name', 'in_stock']);
    });

    it('reads long tables, and headed ones with a single short row', () => {
        const table = (rows: number) =>
            `<body><p>${'Some words about it. '.repeat(100)}</p><table id="stock"><thead><tr><th></th><th>Name</th><th>In stock</th></tr></thead>
            <tbody>${Array.from({ length: rows }, (_, place) => `<tr><td><input type=checkbox></td><td><a href="/${place}">No ${place}</a></td><td>${place}</td></tr>`).join('')}</tbody></table>`;
        for (const rows of [1, 150]) {
            const [list] = listsOf(load(table(rows)));
            expect(list?.items).to.equal(rows);
            expect([...(list?.fields.keys() ?? [])]).to.deep.equal(['name', 'url', 'in_stock']);
        }
    });

    it('does not use the name of an item as the heading of a column', () => {
        const rows = TOPICS.map((topic) => `<tr><th>${topic}</th><td><a href="/${topic}/edit">About ${topic}</a></td></tr>`).join('');
        const lists = listsOf(load(`<body><table id="stock">${rows}</table></body>`));
        expect(lists).to.have.length(1);
        expect(JSON.stringify(lists.map(({ fields, ...list }) => [list, ...fields]))).not.to.include(TOPICS[0]);
    });

    it('reads lists in heads, unless they are menus of short links', () => {
        const entries = (text: string) => TOPICS.map((topic) => `<li><a href="/${topic}">${topic}</a>${text}</li>`).join('');
        const inHead = (head: string) => listsOf(load(`<body>${head}<p>Words</p></body>`)).length;
        const described = entries('<p>Some words about it</p>');
        for (const name of ['list-header', 'page-header', 'results_header'])
            expect(inHead(`<div class="${name}"><ul>${described}</ul></div>`), name).to.equal(1);
        expect(inHead(`<article><header><h2>All</h2><ul>${described}</ul></header></article>`)).to.equal(1);
        expect(inHead(`<div class="list-header"><h2>All topics</h2><ul>${entries('')}</ul></div>`)).to.equal(1);
        expect(inHead(`<div class="page-header"><ul>${entries('')}</ul></div>`)).to.equal(0);
    });

    it('reads list entries that contain nested lists, but not the nested lists', () => {
        const entries = TOPICS.map(
            (topic, place) =>
                `<li><a href="/${topic}">All of ${topic}</a><ul>${'<li><a href="/more">More of it, at length</a></li>'.repeat(place)}</ul></li>`,
        );
        const [list] = listsOf(load(`<body><ul id="map">${entries.join('')}</ul></body>`));
        expect(list).to.include({ selector: '#map > li', items: TOPICS.length });
        expect(list?.fields.get('title')).to.deep.equal({ selector: 'a[href]' });
    });

    it('names rows by the link of their heading, not by their buttons', () => {
        const rows = ['Quays', 'Masts'].map(
            (topic) => `<tr><th scope="row"><a href="/${topic}">${topic}</a></th><td><a href="/${topic}/change">Change</a></td></tr>`,
        );
        const [list] = listsOf(load(`<body><table id="kinds">${rows.join('')}</table></body>`));
        expect(list?.fields.get('title')).to.deep.equal({ selector: '> th:nth-child(1) a[href]' });
    });

    it('leaves out what is between the items', () => {
        const row = (topic: string) => `<tr><td class="time">now</td><td><a href="/${topic}">About ${topic}</a></td></tr>`;
        const rows = `<tr><td>Today</td><td></td></tr>${row('ropes')}${row('sails')}<tr><td></td><td></td></tr>`;
        expect(listsOf(load(`<body><table id="log">${rows}</table></body>`))[0]).to.include({ items: 2 });
        const block = (topic: string, age: string) => `<div class="head"><a class="title" href="/${topic}">About ${topic}${age}</a></div>`;
        const blocks = `${block('all', '')}${['ropes', 'sails', 'lamps'].map((topic) => block(topic, '<span class="age">1 day</span>')).join('')}`;
        expect(listsOf(load(`<body>${blocks}</body>`))[0]).to.include({ selector: 'div.head:has(span.age)', items: 3 });
    });

    it('leaves out the row that leads to the folder above, and parts of a page that have names of their own', () => {
        const row = (name: string, place: number) =>
            `<tr><td><i class="${place === 0 ? 'up' : 'name'}"><a href="${name}">${name}</a></i></td><td>${name.length} bytes</td></tr>`;
        const table = `<table id="files"><tr><th>Name</th><th>Size</th></tr>${['../', 'ropes.txt', 'oars.txt'].map(row).join('')}</table>`;
        expect(listsOf(load(`<body>${table}</body>`))[0]?.items).to.equal(2);
        const block = (name: string) => `<div id="${name}"><a href="/${name}">All about ${name}</a><p>Words on ${name}</p></div>`;
        expect(listsOf(load(`<body>${['head', 'news', 'tides', 'legal'].map(block).join('')}</body>`))).to.deep.equal([]);
        const numbered = ['boat-1', 'boat-2', 'boat-3', 'boat-4'].map(block).join('');
        expect(listsOf(load(`<body>${numbered}</body>`))[0]?.items).to.equal(4);
    });

    it('selects a list that a filter leaves empty on other pages of the route', async () => {
        const entries = (count: number) =>
            `<ul class="boats">${TOPICS.slice(0, count)
                .map((topic) => `<li><a href="/${topic}">All about ${topic}</a></li>`)
                .join('')}</ul>`;
        const boats = (count: number) => page('Boats', `<h1>Boats</h1>${entries(count)}`);
        const found = await inspectCalls([3, 0, 0].map((count, owner) => ({ url: `${SHOP}/boats?owner=${owner}`, html: boats(count) })));
        expect(JSON.stringify(endpointOf(found, 'GET /boats').response?.select)).to.include('ul.boats > li');
    });

    it('says of a placeholder the same wherever a path has it', async () => {
        const boats = ['tern', 'gull', 'auk'];
        const found = await inspectCalls([
            { url: `${SHOP}/boats`, json: boats.map((name) => ({ name })) },
            ...boats.map((name) => ({ url: `${SHOP}/boats/${name}`, json: { length: 7, sail: 'x' } })),
            { method: 'DELETE', url: `${SHOP}/boats/unseen`, json: {} },
        ]);
        const [read, write] = ['GET', 'DELETE'].map((method) => endpointOf(found, `${method} /boats/{boat}`).params?.[0]?.description);
        expect(read).to.include('Take it from the field “name”');
        expect(write).to.equal(read);
    });

    it('reads both lists if one half of the pages of a route has another', async () => {
        const entry = (topic: string) => `<li><a href="/boats/${topic}">All about ${topic}</a></li>`;
        const list = (name: string) => page('Boats', `<h1>Boats</h1><ul class="${name}">${TOPICS.map(entry).join('')}</ul>`);
        const found = await inspectCalls([
            { url: `${SHOP}/boats?view=short`, html: list('short') },
            { url: `${SHOP}/boats?view=tree`, html: list('tree') },
        ]);
        const select = endpointOf(found, 'GET /boats').response?.select as { items: { selector: string }[] };
        expect(select.items[0]?.selector.split(', ').sort()).to.deep.equal(['ul.short > li', 'ul.tree > li']);
    });

    it('takes linear time, however deep or wide a page is', () => {
        const deep = `<body>${'<div>'.repeat(3000)}x${'</div>'.repeat(3000)}</body>`;
        const wide = `<body><ul>${'<li class="row"><a href="/x">some text</a></li>'.repeat(20_000)}</ul></body>`;
        for (const html of [deep, wide]) expect(listsOf(load(html)).length).to.be.at.most(3);
    });
});
