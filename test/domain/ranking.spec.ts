import { expect } from 'chai';
import { checkIntent } from '../../shared/domain/search/intent.ts';
import { rankEndpoints, searchWords } from '../../shared/domain/search/ranking.ts';
import { tokensOf } from '../../shared/domain/search/tokens.ts';
import type { Endpoint } from '../../shared/domain/types.ts';
import { anEndpoint, bodyParam, queryParam } from './an-endpoint.ts';

const shop = [
    anEndpoint({ name: 'home_page', kind: 'navigate', description: 'The front page of the shop.' }),
    anEndpoint({
        name: 'search_products',
        kind: 'search',
        description: 'Search the catalogue of the shop.',
        params: [queryParam('query')],
    }),
    anEndpoint({ name: 'product_detail', description: 'Title, price and stock of one product.' }),
    anEndpoint({ name: 'list_reviews', kind: 'paginate', description: 'What customers of the shop say about a product.' }),
    anEndpoint({
        name: 'add_to_cart',
        method: 'POST',
        description: 'Puts a product into the shopping cart.',
        params: [bodyParam('quantity')],
    }),
    anEndpoint({ name: 'cancelOrder', method: 'DELETE', description: 'Withdraws an order that was not shipped yet.' }),
];

function ranked(endpoints: readonly Endpoint[], intent: string): string[] {
    const checked = checkIntent(intent);
    if (!checked.ok) throw new Error(checked.code);
    return rankEndpoints(endpoints, searchWords(checked.words)).map(({ name }) => name);
}

describe('the order of a catalog', () => {
    it('begins with the closest match of the intent', () => {
        expect(ranked(shop, 'I want to search the shop for red running shoes')[0]).to.equal('search_products');
        expect(ranked(shop, 'read what customers wrote: the reviews of a product')[0]).to.equal('list_reviews');
        expect(ranked(shop, 'get the price and stock of this one product')[0]).to.equal('product_detail');
        expect(ranked(shop, 'please add two of these to my shopping cart')[0]).to.equal('add_to_cart');
        expect(ranked(shop, 'cancel the orders that I made by mistake yesterday')[0]).to.equal('cancelOrder');
    });

    it('has every endpoint exactly once, whatever the intent', () => {
        for (const intent of [
            'search the shop for red running shoes',
            'something entirely different without any match',
            '検索 したい 商品 の 値段 を 知りたい です から よろしく',
        ]) {
            expect(ranked(shop, intent)).to.have.members(shop.map(({ name }) => name));
        }
    });

    it('keeps the package’s order for equal matches', () => {
        expect(ranked(shop, 'quantum chromodynamics lattice gauge theory')).to.deep.equal(shop.map(({ name }) => name));
        expect(rankEndpoints(shop, [])).to.deep.equal(shop);
        const same = ['c', 'a', 'b'].map((name) => anEndpoint({ name, description: 'Weather forecast for a city' }));
        expect(ranked(same, 'weather forecast for the city of Ulm')).to.deep.equal(['c', 'a', 'b']);
    });

    it('is deterministic and does not modify its input', () => {
        const before = [...shop];
        const first = ranked(shop, 'compare prices of products in this shop');
        expect(ranked(shop, 'compare prices of products in this shop')).to.deep.equal(first);
        expect(shop).to.deep.equal(before);
    });

    it('weighs a word less the more endpoints mention it', () => {
        const many = [
            ...['product_a', 'product_b', 'product_c'].map((name) => anEndpoint({ name, description: 'A product of the shop' })),
            anEndpoint({ name: 'delivery', description: 'Delivery times and fees' }),
        ];
        expect(ranked(many, 'when is the delivery of the product')[0]).to.equal('delivery');
    });

    it('finds words in names and descriptions of params', () => {
        const endpoints = [
            anEndpoint({ name: 'a', params: [queryParam('city')] }),
            anEndpoint({ name: 'b', params: [queryParam('loc', { description: 'An airport code' })] }),
            anEndpoint({ name: 'c' }),
        ];
        expect(ranked(endpoints, 'what is going on at the airports nearby')[0]).to.equal('b');
        expect(ranked([...endpoints].reverse(), 'what is going on in cities around me')[0]).to.equal('a');
    });

    it('reads accents, plurals, endings and camel case like people do', () => {
        const endpoints = [
            anEndpoint({ name: 'other' }),
            anEndpoint({ name: 'findHotels', description: 'Hôtels à proximité' }),
            anEndpoint({ name: 'menu', description: 'Menüs der Cafés in Zürich' }),
        ];
        expect(ranked(endpoints, 'hotel pres de la gare de Lyon')[0]).to.equal('findHotels');
        expect(ranked(endpoints, 'Wo gibt es ein Cafe in Zurich?')[0]).to.equal('menu');
        expect(tokensOf('searchProducts')).to.deep.equal(tokensOf('search_product'));
        expect(tokensOf('SEARCHING PRODUCTS')).to.deep.equal(tokensOf('searches product'));
        expect(tokensOf('price prices priced pricing')).to.have.length(1);
        expect(tokensOf('categories category')).to.have.length(1);
        expect(tokensOf('status news new address bus')).to.have.length(5);
    });

    it('compares scripts without spaces by pairs of characters', () => {
        const endpoints = [
            anEndpoint({ name: 'a', description: '酒店预订和价格' }),
            anEndpoint({ name: 'b', description: '查询城市的天气预报' }),
            anEndpoint({ name: 'c', description: '東京のホテルを検索する' }),
        ];
        const words = (text: string) => searchWords(text.split(' '));
        expect(rankEndpoints(endpoints, words('我想知道北京 天气预报'))[0]?.name).to.equal('b');
        expect(rankEndpoints(endpoints, words('ホテル 探す'))[0]?.name).to.equal('c');
        expect(tokensOf('天气预报')).to.deep.equal(['天气', '气预', '预报']);
    });

    it('accepts unusual words', () => {
        const odd = ['constructor', '__proto__', 'toString', 'a'.repeat(100_000), '\u0301', '🙂'];
        expect(rankEndpoints(shop, searchWords(odd))).to.have.length(shop.length);
    });

    it('finds the same words in a text of ASCII only as beside other scripts', () => {
        const texts = [
            'searchProducts',
            'HTTPServer v2Api x9Y',
            'get_product_by-id (the 3rd), BOXES & classes!',
            'aB1cD',
            '__proto__ A1B2 99b',
        ];
        for (const text of texts) expect(tokensOf(text), text).to.deep.equal(tokensOf(`${text} ж`).slice(0, -1));
        for (let code = 0; code < 128; code++) {
            const text = `ab${String.fromCharCode(code)}Cd${String.fromCharCode(code)}1`;
            expect(tokensOf(text), JSON.stringify(text)).to.deep.equal(tokensOf(`${text} ж`).slice(0, -1));
        }
    });
});
