import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import type { RecordedApplication } from '../starting.ts';
import { ask, KEEPER, open } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'vendure',
    host: 'shop.test',
    ready: '/health',
    visit,
    start(folder, port, npm) {
        const things = [...GOODS, 'Green lamp', 'Red lamp', 'Oak tiller', 'Ash tiller'];
        const rows = things.map((name, place) => {
            const kind = name.split(' ')[1];
            return `${name},${name.toLowerCase().replace(' ', '-')},A ${name.toLowerCase()} of the harbour,,kind:${kind},,,H${place},${10 + place},standard,100,false,,`;
        });
        writeFileSync(
            join(folder, 'goods.csv'),
            `name,slug,description,assets,facets,optionGroups,optionValues,sku,price,taxCategory,stockOnHand,trackInventory,variantAssets,variantFacets\n${rows.join('\n')}\n`,
        );
        writeFileSync(join(folder, 'server.cjs'), VENDURE_SERVER);
        return `NODE_PATH=${npm} VENDURE_DISABLE_TELEMETRY=true exec ${process.execPath} server.cjs ${port}`;
    },
};

/** Shops by GraphQL: lists and searches, fills an order, sets its address and shipping, and registers. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, `${base}/health`);
    const send = async (query: string, variables?: object) => {
        const operationName = /^\s*(?:query|mutation)\s+(\w+)/.exec(query)?.[1];
        return JSON.parse(await ask(page, 'POST', '/shop-api', { operationName, query, variables })) as { data?: Record<string, unknown> };
    };
    for (const _ of [1, 2]) {
        await send('query ActiveChannel { activeChannel { id code defaultLanguageCode defaultCurrencyCode } }');
        await send('query Collections { collections { items { id name slug parent { id name } } totalItems } }');
        await send('query Countries { availableCountries { id code name } }');
        await send('query Facets { facets { items { id code name values { id code name } } } }');
    }
    for (const skip of [0, 3])
        await send(
            'query Products($options: ProductListOptions) { products(options: $options) { items { id name slug description variants { id sku price } } totalItems } }',
            { options: { skip, take: 3, sort: { name: 'ASC' } } },
        );
    for (const slug of ['hemp-rope', 'brass-kettle'])
        await send(
            `query Product($slug: String!) { product(slug: $slug) { ...Detail } }
             fragment Detail on Product { id name slug description variants { ...Variant } }
             fragment Variant on ProductVariant { id sku priceWithTax currencyCode stockLevel }`,
            { slug },
        );
    for (const term of ['rope', 'lamp'])
        await send(
            'query Search($term: String!, $take: Int) { search(input: { term: $term, take: $take, groupByProduct: true }) { items { productName slug } totalItems } }',
            { term, take: 5 },
        );
    for (const id of [2, 3]) await send(`query CollectionOf { collection(id: "${id}") { id name slug children { id name } } }`);
    const added: string[] = [];
    for (const variant of ['1', '2', '3']) {
        const { data } = await send(
            'mutation AddItem($variant: ID!, $quantity: Int!) { addItemToOrder(productVariantId: $variant, quantity: $quantity) { __typename ... on Order { id code lines { id quantity } totalWithTax } ... on ErrorResult { errorCode message } } }',
            { variant, quantity: 2 },
        );
        const order = data?.['addItemToOrder'] as { lines?: { id: string }[] } | undefined;
        added.push(...(order?.lines ?? []).map(({ id }) => id));
    }
    const lines = [...new Set(added)];
    for (const _ of [1, 2])
        await send('query ActiveOrder { activeOrder { id code state lines { id productVariant { name } quantity } totalWithTax } }');
    for (const line of lines.slice(0, 2))
        await send(
            'mutation AdjustLine($line: ID!, $quantity: Int!) { adjustOrderLine(orderLineId: $line, quantity: $quantity) { ... on Order { id totalQuantity } } }',
            { line, quantity: 5 },
        );
    for (const line of lines.slice(1, 3))
        await send('mutation RemoveLine($line: ID!) { removeOrderLine(orderLineId: $line) { ... on Order { id totalQuantity } } }', {
            line,
        });
    for (const coupon of ['HIGHTIDE', 'LOWTIDE'])
        await send(
            'mutation ApplyCoupon($coupon: String!) { applyCouponCode(couponCode: $coupon) { __typename ... on ErrorResult { errorCode message } } }',
            { coupon },
        );
    for (const city of ['Bergen', 'Bodø'])
        await send(
            'mutation SetAddress($input: CreateAddressInput!) { setOrderShippingAddress(input: $input) { __typename ... on Order { id shippingAddress { city } } } }',
            { input: { fullName: 'Grace Keeper', streetLine1: 'Quay 1', city, postalCode: '5003', countryCode: 'NO' } },
        );
    for (const _ of [1, 2]) await send('query ShippingMethods { eligibleShippingMethods { id name priceWithTax } }');
    for (const id of ['1', '2'])
        await send(
            'mutation SetShipping($id: [ID!]!) { setOrderShippingMethod(shippingMethodId: $id) { __typename ... on Order { id shippingWithTax } } }',
            {
                id: [id],
            },
        );
    for (const name of ['Grace', 'Mary'])
        await send(
            'mutation SetCustomer($input: CreateCustomerInput!) { setCustomerForOrder(input: $input) { __typename ... on Order { id } ... on ErrorResult { message } } }',
            { input: { firstName: name, lastName: 'Keeper', emailAddress: `${name.toLowerCase()}@harbour.example` } },
        );
    for (const _ of [1, 2]) await send('query NextStates { nextOrderStates }');
    await send('mutation Transition($state: String!) { transitionOrderToState(state: $state) { __typename ... on Order { id state } } }', {
        state: 'ArrangingPayment',
    });
    await page.close();
}

const GOODS = ['Hemp rope', 'Steel rope', 'Brass kettle', 'Iron kettle'];

const VENDURE_SERVER = `
const { bootstrap, DefaultJobQueuePlugin, DefaultSearchPlugin, dummyPaymentHandler, JobQueueService, LanguageCode } = require('@vendure/core');
const { populate } = require('@vendure/core/cli');
const config = {
    apiOptions: { port: Number(process.argv[2]), hostname: '127.0.0.1', adminApiPath: 'admin-api', shopApiPath: 'shop-api' },
    authOptions: { tokenMethod: ['bearer', 'cookie'], superadminCredentials: { identifier: 'keeper', password: '${KEEPER.password}' }, cookieOptions: { secret: 'harbour' }, requireVerification: false },
    dbConnectionOptions: { type: 'sqljs', autoSave: false, synchronize: true, logging: false },
    paymentOptions: { paymentMethodHandlers: [dummyPaymentHandler] },
    plugins: [DefaultJobQueuePlugin.init({}), DefaultSearchPlugin.init({ bufferUpdates: false, indexStockStatus: false })],
};
const goods = {
    defaultLanguage: LanguageCode.en,
    defaultZone: 'Europe',
    countries: [{ name: 'Norway', code: 'NO', zone: 'Europe' }, { name: 'Iceland', code: 'IS', zone: 'Europe' }],
    taxRates: [{ name: 'Standard', percentage: 20 }],
    shippingMethods: [{ name: 'By ferry', price: 500 }, { name: 'By courier', price: 1000 }],
    paymentMethods: [{ name: 'On account', handler: { code: dummyPaymentHandler.code, arguments: [{ name: 'automaticSettle', value: 'false' }] } }],
    collections: ['Rope', 'Kettle', 'Lamp'].map((name) => ({ name, filters: [{ code: 'facet-value-filter', args: { facetValueNames: [name.toLowerCase()], containsAny: false } }] })),
};
populate(async () => {
    const app = await bootstrap(config);
    await app.get(JobQueueService).start();
    return app;
}, goods, 'goods.csv').catch((error) => { console.error(error); process.exit(1); });
`;
