import { openPage } from '../page.ts';
import { ask, askForm } from './ask-for-schema.ts';
import { listWanted, showRequest } from './show.ts';

/** Pages of requested schemas: which ones are in demand, and the state of each request. */
export const requestPages = [
    openPage({ method: 'GET', path: '/requests', respond: listWanted }),
    openPage({ method: 'GET', path: '/requests/new', respond: askForm }),
    openPage({ method: 'POST', path: '/requests/new', respond: ask }),
    openPage({ method: 'GET', path: '/requests/{request_id}', respond: showRequest }),
];
