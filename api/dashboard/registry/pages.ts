import { openPage, USERS, workspacePage } from '../page.ts';
import { browse } from './browse.ts';
import { showSite } from './site.ts';
import { showTrending } from './trending.ts';
import { showTry, tryIt } from './try-it.ts';
import { showVersions } from './versions.ts';

export const registryPages = [
    openPage({ method: 'GET', path: '/registry', respond: browse }),
    openPage({ method: 'GET', path: '/trending', respond: showTrending }),
    openPage({ method: 'GET', path: '/registry/{site}', respond: showSite }),
    openPage({ method: 'GET', path: '/registry/{site}/versions', respond: showVersions }),
    workspacePage({ method: 'GET', path: '/registry/{site}/try/{endpoint}', audience: USERS, respond: showTry }),
    workspacePage({ method: 'POST', path: '/registry/{site}/try/{endpoint}', audience: USERS, queuesElsewhere: true, respond: tryIt }),
];
