import type { Identity, PreparedForm } from '../../shared/domain/build-request.ts';
import type { PagePlace } from '../../shared/domain/pages.ts';
import type { Endpoint, UpstreamRequest, Values } from '../../shared/domain/types.ts';
import type { NextFound } from '../select/reader.ts';

/** What a page that was read says about the one after it. */
export interface SeenPage {
    /** Where it came from, after redirects. */
    url: string;
    /** Its Link header. */
    link: string | undefined;
    /** What `pagination.next` found in it. */
    found: NextFound | undefined;
    /** How many results it had. */
    items: number;
}

/** The place of the next page; `none` after the last one; `unusable`: what the site says cannot be sent back to it. */
export type NextPlace = PagePlace | 'none' | 'unusable';

/** How a kind of endpoint is called. Pure: what it plans is sent, read and billed by others. */
export interface Executor {
    /** The request of the page at `place`, the first one where none is given. */
    plan(endpoint: Endpoint, values: Values, identity: Identity, form?: PreparedForm, place?: PagePlace): UpstreamRequest;
    /** What the page itself is asked about the next one: an expression or a selector. */
    read(endpoint: Endpoint): string | undefined;
    /** Where the page after the one at `place` stands. */
    next(endpoint: Endpoint, place: PagePlace, seen: SeenPage): NextPlace;
    /** Requests that are billed, of so many pages that had results. */
    requests(pagesWithItems: number): number;
}
