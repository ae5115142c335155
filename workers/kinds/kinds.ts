import type { Kind } from '../../shared/domain/types.ts';
import type { Executor } from './executor.ts';
import { nextPlace } from './next-place.ts';
import { planPage } from './plan-page.ts';

/** Bills one request, also with a prepared form or several pages. */
const single: Executor = {
    plan: planPage,
    read: ({ pagination }) => (pagination?.style === 'cursor' ? pagination.next : undefined),
    next: nextPlace,
    requests: () => 1,
};

/** Bills each page. */
const paged: Executor = { ...single, requests: (pagesWithItems) => pagesWithItems };

/** The executor of each kind of endpoint. A new kind does not compile until it is listed here. */
export const KIND_EXECUTORS: Readonly<Record<Kind, Executor>> = {
    api_call: single,
    navigate: single,
    search: single,
    paginate: paged,
    submit_form: single,
};
