import type { Visitor } from '../dashboard/support/visitor.ts';
import type { AuthorizationServer } from './authorization-server.ts';
import type { Answer } from './people.ts';
import { dataOf } from './routes.ts';

/** What a person saw during a consent. */
interface Consented {
    /** The page that asks for the consent, and the page at the end. */
    asked: string;
    to: string;
}

/** Does what a person does after POST /v1/connections/authorize: consents at the site, returns, and confirms at Routebook. */
export async function consent(server: AuthorizationServer, begun: Answer, browser: Visitor): Promise<Consented> {
    const back = await server.consent(dataOf<{ authorize_url: string }>(begun).authorize_url);
    const from = back.pathname + back.search;
    const asked = await browser.get(from);
    if (asked.status !== 200) throw new Error(`the callback answered ${asked.status}: ${asked.html.slice(0, 300)}`);
    const [state = '', code = ''] = ['state', 'code'].map((name) => back.searchParams.get(name) ?? '');
    const { to, html, status } = await browser.send('/connections/callback', { state, code }, { from });
    if (status !== 303) throw new Error(`confirming ended with ${status}: ${html.slice(0, 3000)}`);
    return { asked: asked.html, to: to ?? '' };
}
