import { type Call, modelled, pageWith } from '../modelled.ts';

/** A model of a large shop, after the storefront API of SAP Commerce and shops like it: facets in queries and paths, JSON-LD, batches, guards against robots. */
const CODES = ['300938', '1978440', '816802'];
const SLUGS = ['brass-ship-lantern', 'storm-lamp', 'rope-12mm'];
const MENU =
    '<nav><a href="/en/c/lamps-575">Lamps</a> <a href="/en/c/ropes-612">Ropes</a></nav><form action="/en/search"><input type="search" name="text" placeholder="Search lamps, ropes and more"><button>Search</button></form>';
const page = (title: string, main: string) => pageWith(`${title} | Chandlery`, main, MENU);
const grid = `<div class="product-list">${SLUGS.map((slug, place) => `<div class="product"><a href="/en/p/${slug}/${CODES[place]}"><span class="name">Thing ${place}</span></a><span class="price">£${19 + place}.00</span></div>`).join('')}</div>`;
const product = (place: number) => ({
    code: CODES[place],
    name: `Thing ${place}`,
    price: { value: 19.5, currencyIso: 'GBP', formattedValue: '£19.50' },
    stock: { stockLevelStatus: 'inStock' },
    averageRating: 4.5,
    url: `/p/${CODES[place]}`,
});
const ld = (place: number) =>
    `<script type="application/ld+json">{"@context":"https://schema.org","@type":"Product","name":"Thing ${place}","sku":"${CODES[place]}","offers":{"@type":"Offer","price":"19.50","priceCurrency":"GBP"}}</script>`;
const occ = '/occ/v2/chandlery';
const CART = '6d9f0c7e-3a1b-4f5d-9e8c-1b2a3c4d5e6f';
const sensor = (place: number): Call => ({
    ask: 'POST /uQ7k/Zp3/x0aB/fJ2w9/N1hQ/Xy8vT2',
    sent: { sensor_data: `3;0;1;0;42;${'Vm9'.repeat(60 + place)}` },
    headers: { 'content-type': 'text/plain;charset=UTF-8' },
    answer: { success: true },
    status: 201,
});
const calls: Call[] = [
    { ask: 'GET /en', answer: page('Lamps and ropes', grid) },
    sensor(0),
    { ask: 'GET /en/c/lamps-575', answer: page('Lamps', grid) },
    { ask: 'GET /en/c/ropes-612', answer: page('Ropes', grid) },
    { ask: 'GET /en/c/lamps-575?brand=acme&brand=gull&price=10-50&sort=price-asc&page=2', answer: page('Lamps', grid) },
    { ask: 'GET /en/c/ropes-612/colour-red/brand-acme', answer: page('Red ropes of Acme', grid) },
    { ask: 'GET /en/c/lamps-575/colour-black', answer: page('Black lamps', grid) },
    ...[0, 1, 2].map(
        (place): Call => ({
            ask: `GET /en/p/${SLUGS[place]}/${CODES[place]}`,
            answer: page(
                `Thing ${place}`,
                `${ld(place)}<span class="price">£19.50</span><p>A thing for ships, made of brass and glass for nights of storm.</p>`,
            ),
        }),
    ),
    { ask: 'GET /en/search?text=lamp', answer: page('Search', grid) },
    { ask: 'GET /en/brand/harbour-light', answer: page('Harbour Light', grid) },
    { ask: 'GET /en/store-finder?query=Leith', answer: page('Stores', '<ul class="stores"><li>Leith</li><li>Granton</li></ul>') },
    sensor(1),
    ...['lamp', 'rope'].map(
        (query, place): Call => ({
            ask: `GET ${occ}/products/search?fields=products(code,name)&query=${query}%3Arelevance%3Abrand%3Aacme&pageSize=12&currentPage=${place}&lang=en&curr=GBP`,
            answer: {
                products: [product(0), product(1)],
                pagination: { currentPage: place, totalPages: 4 },
                facets: [{ name: 'Brand', values: [{ name: 'Acme', count: 3 }] }],
            },
        }),
    ),
    ...['la', 'lam'].map(
        (term): Call => ({
            ask: `GET ${occ}/products/suggestions?term=${term}&max=5&lang=en&curr=GBP`,
            answer: { suggestions: [{ value: 'lamp' }] },
        }),
    ),
    ...[0, 1].flatMap((place): Call[] => [
        { ask: `GET ${occ}/products/${CODES[place]}?fields=DEFAULT&lang=en&curr=GBP`, answer: product(place) },
        {
            ask: `GET ${occ}/products/${CODES[place]}/reviews?lang=en&curr=GBP`,
            answer: { reviews: [{ id: '87', rating: 5, headline: 'Bright' }] },
        },
        {
            ask: `GET ${occ}/cms/pages?pageType=ProductPage&code=${CODES[place]}&lang=en&curr=GBP`,
            answer: { uid: 'productDetails', title: 'x', contentSlots: { contentSlot: [] } },
        },
    ]),
    {
        ask: `GET ${occ}/cms/components?componentIds=a,b&currentPage=0&pageSize=2&lang=en&curr=GBP`,
        answer: { component: [{ uid: 'a', typeCode: 'Link' }], pagination: {} },
    },
    { ask: `GET ${occ}/languages?lang=en&curr=GBP`, answer: { languages: [{ isocode: 'en', name: 'English', active: true }] } },
    {
        ask: `GET ${occ}/currencies?lang=en&curr=GBP`,
        answer: { currencies: [{ isocode: 'GBP', name: 'Pound', active: true, symbol: '£' }] },
    },
    {
        ask: `POST ${occ}/users/anonymous/carts?fields=DEFAULT&lang=en&curr=GBP`,
        sent: {},
        answer: { code: '00001', guid: CART, totalItems: 0 },
    },
    ...[0, 1].map(
        (place): Call => ({
            ask: `POST ${occ}/users/anonymous/carts/${CART}/entries?lang=en&curr=GBP`,
            sent: { quantity: 1 + place, product: { code: CODES[place] } },
            answer: { statusCode: 'success', quantityAdded: 1, entry: { entryNumber: 0 } },
        }),
    ),
    {
        ask: `PATCH ${occ}/users/anonymous/carts/${CART}/entries/0?lang=en&curr=GBP`,
        sent: { quantity: 3 },
        answer: { statusCode: 'success', quantity: 3 },
    },
    {
        ask: `GET ${occ}/users/anonymous/carts/${CART}?fields=DEFAULT&lang=en&curr=GBP`,
        answer: { code: '00001', guid: CART, totalItems: 2, entries: [{ entryNumber: 0, quantity: 3 }] },
    },
    { ask: 'GET /api/stock?skus=300938,1978440&store=leith', answer: { items: [{ sku: '300938', level: 3 }] } },
    {
        ask: 'GET /api/graphql?operationName=Reviews&variables=%7B%22sku%22%3A%22300938%22%7D&extensions=%7B%22persistedQuery%22%3A%7B%22version%22%3A1%7D%7D',
        answer: { data: { reviews: [{ id: 1, stars: 5 }] } },
    },
    {
        ask: 'POST /api/recommendations',
        sent: [
            { placement: 'pdp', sku: '300938' },
            { placement: 'cart', sku: '816802' },
        ],
        answer: [{ placement: 'pdp', products: [product(1)] }],
    },
    {
        ask: 'POST /api/batch',
        sent: {
            requests: [
                { id: '1', method: 'GET', url: '/prices/300938' },
                { id: '2', method: 'GET', url: '/prices/816802' },
            ],
        },
        answer: { responses: [{ id: '1', status: 200, body: { price: 19.5 } }] },
    },
    {
        ask: 'POST /fJ8sPqLm/xhr/api/v2/collector',
        sent: `payload=${'aUkQRhAI'.repeat(6)}&appId=PXfJ8sPqLm&tag=v8.0.2&uuid=0a1b&ft=278&seq=0&en=NTA&pc=1234`,
        answer: { do: null, ob: 'x' },
    },
    { ask: 'POST /g/collect?v=2&tid=G-AB12CD34EF&_p=17670000', sent: '', answer: '', status: 204 },
    {
        ask: 'GET /en/checkout/delivery',
        answer: page('Delivery', '<p>Where shall we send it to? We send to all harbours and islands.</p>'),
    },
    sensor(2),
];

export const application = modelled('model-store', 'chandlery.test', calls);
