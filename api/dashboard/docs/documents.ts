import { readFileSync } from 'node:fs';

/** A document of the repository that is also served as a page. */
export interface DocumentRow {
    path: `/docs/${string}`;
    /** The name of its file in docs/. */
    file: string;
    name: string;
    about: string;
    group: 'Guides' | 'Reference';
    /** Each heading of level 2 is a page of its own, and the document's page lists them. */
    isSplit?: true;
}

/** In the order of the menu. */
export const DOCUMENTS: readonly DocumentRow[] = [
    {
        path: '/docs/caller',
        file: 'guide-caller.md',
        name: 'As a caller',
        about: 'From a key to a typed call in a program, in ten minutes.',
        group: 'Guides',
    },
    {
        path: '/docs/agents',
        file: 'guide-agent.md',
        name: 'For agents',
        about: 'From nothing to a first result in three calls, over the Model Context Protocol.',
        group: 'Guides',
    },
    {
        path: '/docs/contributor',
        file: 'guide-contributor.md',
        name: 'As a contributor',
        about: 'From an empty folder to a published and verified schema, in ten minutes.',
        group: 'Guides',
    },
    {
        path: '/docs/owners',
        file: 'guide-owner.md',
        name: 'As a site owner',
        about: 'How site owners verify a domain and decide what is called there, how often and when.',
        group: 'Guides',
    },
    {
        path: '/docs/operator',
        file: 'guide-operator.md',
        name: 'As an operator',
        about: 'Accounts, limits, sites and money, for those who run Routebook.',
        group: 'Guides',
    },
    {
        path: '/docs/api',
        file: 'api.md',
        name: 'HTTP API',
        about: 'Rules of all routes: requests, errors, limits, order of checks, idempotency, and what a fetch does.',
        group: 'Reference',
        isSplit: true,
    },
    {
        path: '/docs/jobs',
        file: 'jobs.md',
        name: 'Jobs and webhooks',
        about: 'Calls answered later, batches, monitors, events, webhooks, and connections.',
        group: 'Reference',
    },
    {
        path: '/docs/packages',
        file: 'packages.md',
        name: 'Package format',
        about: 'What a schema package says: params, bodies, forms, results, pages and billing, with an example each.',
        group: 'Reference',
    },
    {
        path: '/docs/billing',
        file: 'billing.md',
        name: 'Billing',
        about: 'What is billed, when, and what each behaviour of a site costs.',
        group: 'Reference',
    },
    {
        path: '/docs/operations',
        file: 'operations.md',
        name: 'Operations',
        about: 'Deploying, settings, alerts and what to do about each.',
        group: 'Reference',
        isSplit: true,
    },
];

/** Facts about the server and the reader for which a document is rendered. */
interface Reader {
    /** Replaces `http://localhost:8080`, the address of `npm start` that the documents contain. */
    publicUrl: string;
    /** Whether `.data/demo-key` exists. `npm start` creates it. */
    hasDemo: boolean;
}

/** Reads a document, and inserts the address of this server and the reader's own key. */
export function documentText({ file }: DocumentRow, { publicUrl, hasDemo }: Reader): string {
    const text = readFileSync(new URL(`../../../docs/${file}`, import.meta.url), 'utf8').replaceAll(/<!--.*?(?:-->\n?|$)/gs, '');
    const here = text.replaceAll('http://localhost:8080', publicUrl);
    return hasDemo ? here : here.replaceAll(' < .data/demo-key', '').replaceAll('$(cat .data/demo-key)', '$ROUTEBOOK_API_KEY');
}
