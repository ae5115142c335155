import type { Json, JsonObject } from '../../../shared/domain/types.ts';

/** A form of JSON-LD on real sites, as two pages of one route have it. */
export interface JsonLdPage {
    /** Where the form is found. */
    form: string;
    /** The blocks of a page whose item is called `name`. */
    blocks: (name: string) => Json[];
    /** What the draft selects from the page of `Ferry`. */
    selected: JsonObject;
}

const SITE = 'https://shop.example';
const ORGANIZATION = { '@type': 'Organization', '@id': `${SITE}/#organization`, name: 'Harbour', url: SITE };

/** Forms of JSON-LD, from what shops, publishers, forums and boards send. */
export const JSON_LD_PAGES: readonly JsonLdPage[] = [
    {
        form: 'an article of a blog, in a graph with its page, site and author',
        blocks: (name) => [
            {
                '@context': 'https://schema.org',
                '@graph': [
                    {
                        '@type': ['Article', 'NewsArticle'],
                        '@id': `${SITE}/x/#article`,
                        isPartOf: { '@id': `${SITE}/x/` },
                        headline: name,
                        author: { name: 'Kay', '@id': `${SITE}/#/schema/person/1` },
                        datePublished: '2026-01-02T03:04:05+00:00',
                        wordCount: 700,
                        keywords: ['boats', 'tides'],
                        inLanguage: 'en-US',
                    },
                    { '@type': 'WebPage', '@id': `${SITE}/x/`, url: `${SITE}/x/`, name },
                    { '@type': 'BreadcrumbList', itemListElement: [{ '@type': 'ListItem', position: 1, name: 'Home' }] },
                    { '@type': 'WebSite', '@id': `${SITE}/#website`, name: 'Harbour' },
                    ORGANIZATION,
                ],
            },
        ],
        selected: {
            headline: 'Ferry',
            author: 'Kay',
            date_published: '2026-01-02T03:04:05+00:00',
            word_count: 700,
            keywords: ['boats', 'tides'],
        },
    },
    {
        form: 'a product of a shop, with offers of several sellers and a rating',
        blocks: (name) => [
            {
                '@context': 'http://schema.org/',
                '@type': 'Product',
                name,
                image: 'https://cdn.shop.example/1.jpg',
                description: 'A boat',
                sku: 'B-1',
                brand: { '@type': 'Brand', name: 'Keel' },
                aggregateRating: { '@type': 'AggregateRating', ratingValue: '4.5', reviewCount: 12 },
                offers: { '@type': 'AggregateOffer', lowPrice: 10, highPrice: 20, priceCurrency: 'EUR', offerCount: 2 },
            },
            ORGANIZATION,
        ],
        selected: {
            name: 'Ferry',
            image: 'https://cdn.shop.example/1.jpg',
            description: 'A boat',
            sku: 'B-1',
            brand: 'Keel',
            rating_value: '4.5',
            review_count: 12,
            low_price: 10,
            high_price: 20,
            price_currency: 'EUR',
            offer_count: 2,
        },
    },
    {
        form: 'a product inside the page that is about it',
        blocks: (name) => [
            { '@type': 'ItemPage', url: `${SITE}/1`, mainEntity: { '@type': 'Product', name, sku: 'B-1', offers: { price: '9.90' } } },
        ],
        selected: { name: 'Ferry', sku: 'B-1', price: '9.90' },
    },
    {
        form: 'a recipe in a list of one block, with steps and an image that is an object',
        blocks: (name) => [
            [
                {
                    '@context': 'http://schema.org',
                    '@type': ['Recipe'],
                    image: { '@type': 'ImageObject', url: 'https://cdn.shop.example/2.jpg', width: 800, height: 600 },
                    url: `${SITE}/recipe`,
                    name,
                    recipeYield: ['4'],
                    totalTime: 'PT30M',
                    recipeIngredient: ['1 fish', '2 lemons'],
                    recipeInstructions: [
                        { '@type': 'HowToStep', text: 'Clean.' },
                        { '@type': 'HowToStep', text: 'Fry.' },
                    ],
                },
            ],
        ],
        selected: {
            image: 'https://cdn.shop.example/2.jpg',
            width: 800,
            height: 600,
            url: `${SITE}/recipe`,
            name: 'Ferry',
            recipe_yield: ['4'],
            total_time: 'PT30M',
            recipe_ingredient: ['1 fish', '2 lemons'],
            recipe_instructions: ['Clean.', 'Fry.'],
        },
    },
    {
        form: 'questions and answers of a help page',
        blocks: (name) => [
            {
                '@context': 'https://schema.org',
                '@type': 'FAQPage',
                mainEntity: [name, 'Other'].map((question) => ({
                    '@type': 'Question',
                    name: question,
                    acceptedAnswer: { '@type': 'Answer', text: `<p>${question}</p>` },
                })),
            },
        ],
        selected: {
            items: [
                { name: 'Ferry', accepted_answer: '<p>Ferry</p>' },
                { name: 'Other', accepted_answer: '<p>Other</p>' },
            ],
        },
    },
    {
        form: 'a question of a forum, with its answers',
        blocks: (name) => [
            {
                '@type': 'QAPage',
                mainEntity: {
                    '@type': 'Question',
                    name,
                    text: 'How?',
                    answerCount: 1,
                    upvoteCount: 3,
                    author: { '@type': 'Person', name: 'kay' },
                    suggestedAnswer: [{ '@type': 'Answer', text: 'So.', upvoteCount: 1 }],
                },
            },
        ],
        selected: {
            name: 'Ferry',
            text: 'How?',
            answer_count: 1,
            upvote_count: 3,
            author: 'kay',
            suggested_answer: ['So.'],
            suggested_answer_upvote_count: [1],
        },
    },
    {
        form: 'results of a search, as a list inside their page',
        blocks: (name) => [
            {
                '@type': 'SearchResultsPage',
                mainEntity: {
                    '@type': 'ItemList',
                    numberOfItems: 2,
                    itemListElement: [name, 'Raft'].map((title, place) => ({
                        '@type': 'ListItem',
                        position: place + 1,
                        item: { '@type': 'Product', name: title, url: `${SITE}/${title}`, offers: { price: 5 } },
                    })),
                },
            },
        ],
        selected: {
            items: [
                { name: 'Ferry', url: `${SITE}/Ferry`, price: 5 },
                { name: 'Raft', url: `${SITE}/Raft`, price: 5 },
            ],
        },
    },
    {
        form: 'a carousel, whose entries have names and addresses only',
        blocks: (name) => [
            {
                '@type': 'ItemList',
                itemListElement: [name, 'Raft'].map((title, place) => ({
                    '@type': 'ListItem',
                    position: place + 1,
                    name: title,
                    url: `${SITE}/${title}`,
                })),
            },
        ],
        selected: {
            items: [
                { name: 'Ferry', url: `${SITE}/Ferry` },
                { name: 'Raft', url: `${SITE}/Raft` },
            ],
        },
    },
    {
        form: 'events in one list, as ticket shops send them',
        blocks: (name) => [
            [name, 'Regatta'].map((title) => ({
                '@context': 'https://schema.org',
                '@type': 'Event',
                name: title,
                startDate: '2026-06-01',
                location: { '@type': 'Place', name: 'Pier', address: { '@type': 'PostalAddress', addressLocality: 'Kiel' } },
                offers: [{ '@type': 'Offer', price: '12.00' }],
            })),
        ],
        selected: {
            items: ['Ferry', 'Regatta'].map((name) => ({ name, start_date: '2026-06-01', location: 'Pier', price: ['12.00'] })),
        },
    },
    {
        form: 'several products in one graph',
        blocks: (name) => [
            {
                '@context': 'https://schema.org',
                '@graph': [ORGANIZATION, ...[name, 'Raft'].map((title) => ({ '@type': 'Product', name: title, sku: title }))],
            },
        ],
        selected: {
            items: [
                { name: 'Ferry', sku: 'Ferry' },
                { name: 'Raft', sku: 'Raft' },
            ],
        },
    },
    {
        form: 'a job, with the pay as a quantity',
        blocks: (name) => [
            {
                '@type': 'JobPosting',
                title: name,
                datePosted: '2026-01-02',
                employmentType: 'FULL_TIME',
                hiringOrganization: { '@type': 'Organization', name: 'Harbour', sameAs: SITE },
                jobLocation: { '@type': 'Place', address: { '@type': 'PostalAddress', addressLocality: 'Kiel' } },
                baseSalary: { '@type': 'MonetaryAmount', currency: 'EUR', value: 50000 },
            },
        ],
        selected: {
            title: 'Ferry',
            date_posted: '2026-01-02',
            employment_type: 'FULL_TIME',
            hiring_organization: 'Harbour',
            currency: 'EUR',
            base_salary: 50000,
        },
    },
    {
        form: 'a film, with people in lists',
        blocks: (name) => [
            {
                '@type': 'https://schema.org/Movie',
                name,
                datePublished: '1999',
                genre: ['Drama', 'Sea'],
                director: [{ '@type': 'Person', name: 'Kay' }],
                actor: [
                    { '@type': 'Person', name: 'Ada' },
                    { '@type': 'Person', name: 'Bo' },
                ],
            },
        ],
        selected: { name: 'Ferry', date_published: '1999', genre: ['Drama', 'Sea'], director: ['Kay'], actor: ['Ada', 'Bo'] },
    },
    {
        form: 'a video, whose counts are interactions',
        blocks: (name) => [
            {
                '@type': 'VideoObject',
                name,
                uploadDate: '2026-01-02',
                duration: 'PT3M',
                thumbnailUrl: ['https://cdn.shop.example/3.jpg'],
                interactionStatistic: { '@type': 'InteractionCounter', userInteractionCount: 7 },
            },
        ],
        selected: {
            name: 'Ferry',
            upload_date: '2026-01-02',
            duration: 'PT3M',
            thumbnail_url: ['https://cdn.shop.example/3.jpg'],
            user_interaction_count: 7,
        },
    },
];
