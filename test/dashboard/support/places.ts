import type { Page } from '../../../api/dashboard/page.ts';
import { PAGES } from '../../../api/dashboard/pages.ts';
import { newWebToken } from '../../../shared/domain/accounts/web-token.ts';
import { newId } from '../../../shared/domain/text/ids.ts';

/** Values for the placeholders of paths and the fields of forms. */
export interface Values {
    key_id: string;
    passkey_id: string;
    session_id: string;
    user_id: string;
    invitation_id: string;
    token: string;
    workspace: string;
    /** A site that the person's workspace maintains, with this endpoint and version, and a request of the person. */
    site: string;
    endpoint: string;
    version: string;
    request_id: string;
    /** A domain that the person's workspace owns, and the claim that proved it. */
    domain: string;
    claim_id: string;
    /** A private connection of the person. */
    connection_id: string;
    webhook_id: string;
    delivery_id: string;
    job_id: string;
    batch_id: string;
    monitor_id: string;
    /** A chapter of the API's routes. */
    chapter: string;
    /** A page of a split document. */
    section: string;
}

/** Ids that do not exist. */
export function absentValues(): Values {
    const site = `${newId('wsp').slice(-8).toLowerCase()}-absent.example`;
    const claim = { domain: site, claim_id: newId('clm') };
    const schema = { site, endpoint: 'no_such_endpoint', version: '999999999', request_id: newId('srq') };
    return {
        chapter: 'no-such-chapter',
        section: 'no-such-section',
        key_id: newId('key'),
        connection_id: newId('con'),
        passkey_id: newId('pky'),
        session_id: newId('ses'),
        user_id: newId('usr'),
        invitation_id: newId('inv'),
        token: newWebToken(),
        workspace: newId('wsp'),
        webhook_id: newId('whk'),
        delivery_id: newId('dlv'),
        job_id: newId('job'),
        batch_id: newId('bat'),
        monitor_id: newId('mon'),
        ...schema,
        ...claim,
    };
}

/** The path of a page with its placeholders filled. An unknown placeholder fails, so that no page is forgotten. */
export function pathOf({ path }: Page, values: Values): string {
    return path.replaceAll(/\{([a-z_]+)\}/g, (_whole, name: string) => {
        const value = (values as unknown as Record<string, string | undefined>)[name];
        if (value === undefined) throw new Error(`test/dashboard/support/places.ts has no value for ${name} of ${path}`);
        return encodeURIComponent(value);
    });
}

/** Rows of the table of pages, by method. */
export const SHOWN = PAGES.filter(({ method }) => method === 'GET');
export const FORMS = PAGES.filter(({ method }) => method === 'POST');
