import type { Identity } from '../../shared/domain/fetch/build-request.ts';
import type { PagePlace } from '../../shared/domain/fetch/pages.ts';
import type { PreparedForm } from '../../shared/domain/fetch/prepared-form.ts';
import type { Endpoint, UpstreamRequest, Values } from '../../shared/domain/types.ts';
import type { NextFound } from '../select/reader.ts';

/** What a page reveals about the next one. */
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

/** The place of the next page; `none` after the last one; `unusable`: the site's value cannot be sent back. */
export type NextPlace = PagePlace | 'none' | 'unusable';

/** Plans the calls of a kind of endpoint. It has no side effects. */
export interface Executor {
    /** Plans the request of the page at `place`, or of the first page. */
    plan(endpoint: Endpoint, values: Values, identity: Identity, form?: PreparedForm, place?: PagePlace): UpstreamRequest;
    /** The expression or selector that finds the next page in a page. */
    read(endpoint: Endpoint): string | undefined;
    /** The place of the page after `place`. */
    next(endpoint: Endpoint, place: PagePlace, seen: SeenPage): NextPlace;
    /** Number of billed requests. */
    requests(pagesWithItems: number): number;
}
