import { type Call, modelled, pageWith } from '../modelled.ts';

/**
 * A model of a shop of Shopify, from its documents: the Ajax API, section rendering, predictive search, recommendations, storefront filters,
 * markets, the Storefront API, and what its scripts report on the visit.
 */
const LAMPS = ['brass-ship-lantern', 'storm-lamp-500', 'red-port-light', 'masthead-light-led', 'anchor-lamp'];
const TITLES = ['Brass ship lantern', 'Storm lamp 500', 'Red port light', 'Masthead light LED', 'Anchor lamp'];
const COLLECTIONS = ['lamps', 'ropes-and-lines', 'new-arrivals'];
const ID = 8123456700101;
const VARIANT = 44871230001101;

const SEARCH_FORM =
    '<form action="/search" method="get" role="search"><label for="q">Search our store</label><input id="q" type="search" name="q"><input type="hidden" name="options[prefix]" value="last"><button>Search</button></form>';
const MENU = `<nav><a href="/">Home</a> ${COLLECTIONS.map((one) => `<a href="/collections/${one}">${one}</a>`).join(' ')} <a href="/pages/about-us">About us</a> <a href="/blogs/news">News</a> <a href="/cart">Cart</a></nav>${SEARCH_FORM}`;
const FOOT =
    '<form method="post" action="/contact#contact_form" accept-charset="UTF-8"><input type="hidden" name="form_type" value="customer"><input type="hidden" name="utf8" value="✓"><input type="hidden" name="contact[tags]" value="newsletter"><label for="mail">Email for our newsletter</label><input id="mail" type="email" name="contact[email]" required><button>Subscribe</button></form>';
const page = (title: string, main: string, language = 'en') => pageWith(`${title} – Lantern House`, `${main}${FOOT}`, MENU, language);
const card = (place: number, below = '') =>
    `<li class="grid__item"><div class="card"><h3><a href="${below}/products/${LAMPS[place]}">${TITLES[place]}</a></h3><span class="price">$${19 + place}.00</span></div></li>`;
const grid = (places: number[], below = '') => `<ul class="grid product-grid">${places.map((place) => card(place, below)).join('')}</ul>`;
const productPage = (place: number, words = 'Add to cart', language = 'en') =>
    page(
        TITLES[place] ?? '',
        `<div class="product"><span class="price">$${19 + place}.00</span><p class="description">A lamp for the harbour, number ${place} of our list, made of brass and glass.</p></div>
        <form method="post" action="/cart/add" id="product-form" enctype="multipart/form-data"><input type="hidden" name="form_type" value="product"><input type="hidden" name="utf8" value="✓"><input type="hidden" name="id" value="${VARIANT + place}"><label for="n">Quantity</label><input id="n" type="number" name="quantity" value="1"><button name="add">${words}</button></form>`,
        language,
    );
const product = (place: number) => ({
    id: ID + place,
    title: TITLES[place],
    handle: LAMPS[place],
    description: 'A lamp for the harbour',
    published_at: '2026-03-01T10:00:00-05:00',
    vendor: 'Lantern House',
    type: 'Lamp',
    tags: ['brass', 'night'],
    price: 1900 + 100 * place,
    available: place % 2 === 0,
    variants: [{ id: VARIANT + place, title: 'Default Title', sku: `LH-${place}`, price: 1900 + 100 * place, available: true }],
    url: `/products/${LAMPS[place]}`,
});
const line = (place: number, quantity: number) => ({
    id: VARIANT + place,
    key: `${VARIANT + place}:1a2b3c4d5e6f7081`,
    quantity,
    title: TITLES[place],
    price: 1900 + 100 * place,
    handle: LAMPS[place],
    product_id: ID + place,
});
const cart = (lines: object[], note = '') => ({
    token: 'Z2NwLXVzLWVhc3QxOjAxSFkzUTVXN0tSN1E4',
    note,
    attributes: {},
    total_price: 1900 * lines.length,
    item_count: lines.length,
    items: lines,
    currency: 'USD',
});
const fragment = (id: string, main: string) => `<div id="shopify-section-${id}" class="shopify-section">${main}</div>`;
const MAIN = 'template--17301234__main';
const PRODUCED = { result: [{ status: 200, message: 'ok' }] };
const produce = (kind: string): Call => ({
    ask: 'POST /.well-known/shopify/monorail/unstable/produce_batch',
    sent: JSON.stringify({
        events: [
            {
                schema_id: `trekkie_storefront_${kind}/1.4`,
                payload: { shopId: 6123, uniqToken: '9f6e2a10-aaaa-4bbb' },
                metadata: { event_created_at_ms: 1767000000000 },
            },
        ],
        metadata: { event_sent_at_ms: 1767000000000 },
    }),
    headers: { 'content-type': 'text/plain' },
    answer: PRODUCED,
});
const pixel = (kind: string): Call => ({
    ask: 'POST /api/collect',
    sent: JSON.stringify({ type: kind, shop_id: 6123, events: [{ name: kind, at: 1767000000000 }] }),
    headers: { 'content-type': 'text/plain;charset=UTF-8' },
    answer: '',
    status: 204,
});
const graphql = (query: string, variables: object, data: object): Call => ({
    ask: 'POST /api/2026-04/graphql.json',
    sent: { query, variables },
    headers: { 'x-shopify-storefront-access-token': '3f0a9b7c5d1e2f4a6b8c0d2e4f6a8b0c' },
    answer: { data },
});

const calls: Call[] = [
    { ask: 'GET /', answer: page('Lamps for ships', grid([0, 1, 2])) },
    produce('page_view'),
    pixel('page_viewed'),
    {
        ask: 'GET /wpm@6f2b9d0aw3a5c4e8fp1d7b2c9m0e8f7a6d/custom/web-pixel-shopify-custom-pixel@0220/sandbox/modern/',
        answer: '<html><script>0</script></html>',
    },
    { ask: 'GET /payments/config?currency=USD', answer: { supported: ['visa', 'master'], currency: 'USD' } },
    { ask: 'GET /cart.js', answer: cart([]) },
    ...COLLECTIONS.map((one): Call => ({ ask: `GET /collections/${one}`, answer: page(one, grid([0, 1, 2, 3])) })),
    produce('collection_view'),
    { ask: 'GET /collections/lamps?page=2', answer: page('lamps', grid([3, 4])) },
    {
        ask: 'GET /collections/lamps?filter.v.availability=1&filter.v.price.gte=10&filter.v.price.lte=50&sort_by=price-ascending',
        answer: page('lamps', grid([0, 2])),
    },
    { ask: 'GET /collections/ropes-and-lines?sort_by=title-descending', answer: page('ropes', grid([4, 1])) },
    {
        ask: `GET /collections/lamps?filter.v.availability=1&section_id=${MAIN}`,
        answer: fragment(MAIN, grid([0, 2, 4])),
    },
    { ask: `GET /collections/new-arrivals?sort_by=manual&section_id=${MAIN}`, answer: fragment(MAIN, grid([1, 3])) },
    ...[0, 1, 2].map((place): Call => ({ ask: `GET /products/${LAMPS[place]}`, answer: productPage(place) })),
    produce('product_view'),
    pixel('product_viewed'),
    { ask: `GET /products/${LAMPS[1]}?variant=${VARIANT + 1}`, answer: productPage(1) },
    {
        ask: `GET /products/${LAMPS[2]}?variant=${VARIANT + 2}&section_id=${MAIN}`,
        answer: fragment(MAIN, '<span class="price">$21.00</span>'),
    },
    { ask: `GET /collections/lamps/products/${LAMPS[3]}`, answer: productPage(3) },
    { ask: `GET /collections/new-arrivals/products/${LAMPS[4]}`, answer: productPage(4) },
    ...[0, 1, 2].map(
        (place): Call => ({
            ask: `GET /recommendations/products?product_id=${ID + place}&limit=4&section_id=related-products&intent=related`,
            answer: fragment('related-products', grid([3, 4])),
        }),
    ),
    ...[0, 3].map((place): Call => ({ ask: `GET /products/${LAMPS[place]}.js`, answer: product(place) })),
    { ask: 'GET /products.json?limit=3&page=1', answer: { products: [0, 1, 2].map(product) } },
    { ask: 'GET /products.json?limit=3&page=2', answer: { products: [3, 4].map(product) } },
    { ask: 'GET /collections/lamps/products.json?limit=2', answer: { products: [0, 1].map(product) } },
    { ask: 'GET /collections/new-arrivals/products.json?limit=2', answer: { products: [3, 4].map(product) } },
    ...['lan', 'storm'].map(
        (words): Call => ({
            ask: `GET /search/suggest?q=${words}&resources[type]=product,query&resources[limit]=4&section_id=predictive-search`,
            answer: fragment('predictive-search', grid([0, 1])),
        }),
    ),
    {
        ask: 'GET /search/suggest.json?q=red&resources[type]=product&resources[limit]=4',
        answer: { resources: { results: { products: [product(2)] } } },
    },
    { ask: 'GET /search?q=lamp&options%5Bprefix%5D=last', answer: page('Search: 3 results for lamp', grid([1, 2, 4])) },
    { ask: 'GET /search?q=red&type=product&page=2', answer: page('Search: 1 result for red', grid([2])) },
    produce('search'),
    {
        ask: 'POST /cart/add.js',
        sent: { items: [{ id: VARIANT, quantity: 1 }], sections: ['cart-drawer'] },
        answer: { items: [line(0, 1)], sections: {} },
    },
    {
        ask: 'POST /cart/add.js',
        sent: { items: [{ id: VARIANT + 2, quantity: 2 }], sections: ['cart-drawer'] },
        answer: { items: [line(2, 2)], sections: {} },
    },
    pixel('product_added_to_cart'),
    {
        ask: 'POST /cart/change.js',
        sent: { line: 1, quantity: 3, sections: ['main-cart-items'], sections_url: '/cart' },
        answer: cart([line(0, 3), line(2, 2)]),
    },
    {
        ask: 'POST /cart/change.js',
        sent: { line: 2, quantity: 0, sections: ['main-cart-items'], sections_url: '/cart' },
        answer: cart([line(0, 3)]),
    },
    { ask: 'POST /cart/update.js', sent: { note: 'Ring the bell twice' }, answer: cart([line(0, 3)], 'Ring the bell twice') },
    { ask: 'GET /cart.js', answer: cart([line(0, 3)]) },
    {
        ask: 'GET /cart',
        answer: page(
            'Your cart',
            `<table class="cart-items"><tr><td><a href="/products/${LAMPS[0]}">${TITLES[0]}</a></td><td>3</td></tr></table>`,
        ),
    },
    { ask: 'POST /cart/clear.js', answer: cart([]) },
    graphql(
        'query Shop { shop { name paymentSettings { currencyCode } } }',
        {},
        { shop: { name: 'Lantern House', paymentSettings: { currencyCode: 'USD' } } },
    ),
    ...[0, 1].map((place) =>
        graphql(
            'query ProductAvailability($handle: String!) { product(handle: $handle) { id availableForSale totalInventory } }',
            { handle: LAMPS[place] },
            { product: { id: `gid://shopify/Product/${ID + place}`, availableForSale: true, totalInventory: 3 + place } },
        ),
    ),
    ...['about-us', 'shipping-and-returns'].map(
        (one): Call => ({
            ask: `GET /pages/${one}`,
            answer: page(one, `<div class="rte"><p>What we tell you on ${one}: we light the coast since 1898.</p></div>`),
        }),
    ),
    {
        ask: 'GET /blogs/news',
        answer: page(
            'News',
            '<article><h2><a href="/blogs/news/how-to-trim-a-wick">How to trim a wick</a></h2></article><article><h2><a href="/blogs/news/our-new-pier">Our new pier</a></h2></article>',
        ),
    },
    ...['how-to-trim-a-wick', 'our-new-pier'].map(
        (one): Call => ({
            ask: `GET /blogs/news/${one}`,
            answer: page(one, `<article class="article"><p>${one}, told by our keeper in some detail.</p></article>`),
        }),
    ),
    ...['privacy-policy', 'refund-policy'].map(
        (one): Call => ({
            ask: `GET /policies/${one}`,
            answer: page(one, `<div class="shopify-policy__body"><p>The ${one} of the shop, in full.</p></div>`),
        }),
    ),
    ...['de', 'fr'].flatMap((language): Call[] => [
        { ask: `GET /${language}`, answer: page(`Lampen ${language}`, grid([0, 1], `/${language}`), language) },
        { ask: `GET /${language}/collections/lamps`, answer: page('Lampen', grid([0, 1, 2], `/${language}`), language) },
        { ask: `GET /${language}/products/${LAMPS[0]}`, answer: productPage(0, 'In den Warenkorb', language) },
        { ask: `GET /${language}/products/${LAMPS[1]}`, answer: productPage(1, 'In den Warenkorb', language) },
        { ask: `GET /${language}/search?q=lampe`, answer: page('Suche', grid([1]), language) },
        produce('page_view'),
    ]),
];

export const application = modelled('model-shop', 'lanterns.test', calls);
