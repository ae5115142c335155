import { type LoginSign, loginSign } from '../../shared/domain/fetch/login-words.ts';
import type { Page } from '../upstream/answers.ts';
import { decode } from './decode.ts';
import type { RawPage } from './parse-page.ts';

/** The beginning of the message for a page that asks to sign in instead of an answer. */
export const SIGN_IN = 'The site asks to sign in.';

/** The part of a page that says whether it is for signing in, in bytes. */
const READ = 128 * 1024;

/** A copy of the beginning of a page, as HTML. It says whether the page asks to sign in, also after the page was freed. */
export function beginningOf({ headers, body, ...page }: Page): RawPage {
    return { ...page, contentType: headers['content-type'], body: body.slice(0, READ), type: 'html' };
}

/** What is not a part of the page that a person sees. */
const UNSEEN = /<!--[\s\S]*?(?:-->|$)|<(script|style|svg|template)\b[\s\S]*?(?:<\/\1\s*>|$)/gi;

/**
 * Whether a page that could not be read asks to sign in. Sites answer so without a session, whatever the endpoint expects. It is told by
 * the source, because the processes that read JSON have no parser for HTML. Where HTML is expected, one sign alone may be on any page.
 */
export function asksToSignIn(page: RawPage): boolean {
    const sign = signOf(page);
    return page.type === 'html' ? sign === 'page' : sign !== undefined;
}

function signOf(page: RawPage): LoginSign | undefined {
    const source = decode({ ...page, body: page.body.subarray(0, READ), type: 'html' }).replaceAll(UNSEEN, ' ');
    if (!/^\s*(?:<\?xml[^<>]{0,200}>\s*)?<(?:!doctype\s+html|html|head|body|title|form|h1)\b/i.test(source)) return undefined;
    const title = /<title\b[^<>]{0,200}>([^<]{0,500})/i.exec(source)?.[1] ?? '';
    // The end is looked for only after the first heading: looking for it from every heading takes a second where none ends.
    const [heading = ''] = (/<h1\b[^<>]{0,500}>([\s\S]{0,500})/i.exec(source)?.[1] ?? '').split(/<\/h1/i);
    const asksForPassword = /<input\b[^<>]{0,1000}\btype\s{0,9}=\s{0,9}["']?password\b/i.test(source);
    return loginSign(asksForPassword, [title, heading.replaceAll(/<[^<>]*(?:>|$)/g, ' '), URL.parse(page.url)?.pathname ?? '']);
}
