import type { Kind } from '../../shared/domain/types.ts';
import type { Executor } from './executor.ts';
import { nextPlace } from './next-place.ts';
import { planPage } from './plan-page.ts';

/** One request to its caller, whatever it takes: any kind may prepare a form, and follow pages where its package says so. */
const single: Executor = {
    plan: planPage,
    read: ({ pagination }) => (pagination?.style === 'cursor' ? pagination.next : undefined),
    next: nextPlace,
    requests: () => 1,
};

/** Pages are what its caller pays for. */
const paged: Executor = { ...single, requests: (pagesWithItems) => pagesWithItems };

/** Every kind of endpoint and how it is called; a new kind does not compile until it stands here. */
export const KIND_EXECUTORS: Readonly<Record<Kind, Executor>> = {
    api_call: single,
    navigate: single,
    search: single,
    paginate: paged,
    submit_form: single,
};
