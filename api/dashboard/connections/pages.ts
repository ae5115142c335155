import { personalPage } from '../page.ts';
import { confirmCallback, showCallback } from './callback.ts';

export const connectionPages = [
    personalPage({ method: 'GET', path: '/connections/callback', respond: showCallback }),
    personalPage({ method: 'POST', path: '/connections/callback', respond: confirmCallback }),
];
