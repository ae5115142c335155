import { expect } from 'chai';
import { didYouMean } from '../../shared/domain/text/suggestions.ts';
import { roomFor } from '../support/eventually.ts';
import { cpuMsOf } from '../support/stopwatch.ts';

const NAMES = ['search_products', 'product_detail', 'list_reviews', 'submit_review', 'cart', 'add_to_cart'];

describe('did you mean', () => {
    it('finds a mistyped name', () => {
        expect(didYouMean('serach_products', NAMES)[0]).to.equal('search_products');
        expect(didYouMean('search_product', NAMES)[0]).to.equal('search_products');
        expect(didYouMean('searchProducts', NAMES)[0]).to.equal('search_products');
        expect(didYouMean('Product-Detail', NAMES)[0]).to.equal('product_detail');
        expect(didYouMean('crat', NAMES)[0]).to.equal('cart');
    });

    it('finds a name by a part of it', () => {
        expect(didYouMean('products', NAMES)).to.include('search_products');
        expect(didYouMean('review', NAMES)).to.have.members(['list_reviews', 'submit_review']);
    });

    it('suggests nothing if nothing is near', () => {
        for (const wanted of ['', '___', 'weather_forecast', '天気', 'x']) expect(didYouMean(wanted, NAMES), wanted).to.deep.equal([]);
    });

    it('names at most three, the nearest first', () => {
        const names = ['item_10', 'item_11', 'item_1', 'item_12', 'item_13'];
        expect(didYouMean('item_2', names)).to.deep.equal(['item_1', 'item_12', 'item_10']);
    });

    it('costs little for a long text or many names', () => {
        const many = Array.from({ length: 500 }, (_, i) => `endpoint_with_a_rather_long_name_that_goes_on_and_on_${i}`);
        const suggest = () => {
            expect(didYouMean('x'.repeat(1_000_000), many)).to.deep.equal([]);
            expect(didYouMean('endpoint_with_a_rather_long_name_that_goes_on_and_on_x', many)).to.have.length(3);
        };
        expect(cpuMsOf(suggest)).to.be.below(roomFor(1000));
    });
});
