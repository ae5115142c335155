import { expect } from 'chai';
import { CATEGORIES, isCategory } from '../../shared/domain/package/taxonomy.ts';

describe('the intent taxonomy', () => {
    it('has the twenty parents of the contract, each with children', () => {
        expect(CATEGORIES.map(({ slug }) => slug).join(' ')).to.equal(
            'commerce travel jobs social media reference food finance real-estate communication productivity knowledge developer sports government health education events weather automotive',
        );
        for (const { slug, children } of CATEGORIES) expect(children.length, slug).to.be.at.least(4);
    });

    it('shows each category with a display name and the path that a package declares', () => {
        const commerce = CATEGORIES[0];
        expect(commerce?.name).to.equal('Commerce');
        expect(commerce?.children[0]).to.deep.equal({ slug: 'product-detail', name: 'Product Detail', path: 'commerce/product-detail' });
        expect(CATEGORIES.find(({ slug }) => slug === 'real-estate')?.name).to.equal('Real Estate');
    });

    it('accepts a parent or a leaf in a package, in exact spelling', () => {
        for (const path of ['commerce', 'commerce/product-search', 'government/open-data', 'real-estate/agents'])
            expect(isCategory(path), path).to.equal(true);
        const wrong = [
            '',
            'Commerce',
            'product-search',
            'commerce/',
            'commerce/flights',
            'commerce/product-search/x',
            'constructor',
            '__proto__',
            'jobs/toString',
        ];
        for (const path of wrong) expect(isCategory(path), path).to.equal(false);
    });

    it('names no path twice', () => {
        const paths = CATEGORIES.flatMap(({ slug, children }) => [slug, ...children.map(({ path }) => path)]);
        expect(new Set(paths).size).to.equal(paths.length);
    });
});
