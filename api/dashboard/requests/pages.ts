import { openPage } from '../page.ts';
import { ask, askForm } from './ask-for-schema.ts';
import { listWanted, showRequest } from './show.ts';

/** What people wish for: the demand for schemas that are not there, and how each request goes on. */
export const requestPages = [
    openPage({ method: 'GET', path: '/requests', respond: listWanted }),
    openPage({ method: 'GET', path: '/requests/new', respond: askForm }),
    openPage({ method: 'POST', path: '/requests/new', respond: ask }),
    openPage({ method: 'GET', path: '/requests/{request_id}', respond: showRequest }),
];
