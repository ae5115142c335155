import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import { beginSession } from '../../../shared/store/accounts/user-sessions.ts';
import { eventually } from '../../support/eventually.ts';
import type { World } from '../../support/world.ts';
import type { MailServer } from './mail-server.ts';

/** A page for a browser without scripts. */
export interface PageAnswer {
    status: number;
    headers: IncomingHttpHeaders;
    html: string;
    /** The target of a redirect, as a path. */
    to: string | undefined;
}

/** A visitor without a browser: keeps cookies, and submits forms with their hidden fields. */
export interface Visitor {
    readonly cookies: Map<string, string>;
    get(path: string, headers?: Record<string, string>): Promise<PageAnswer>;
    /** Submits a form with these fields and the hidden ones of its page. */
    send(path: string, fields?: Record<string, string>, options?: { from?: string }): Promise<PageAnswer>;
    /** Sends bytes unchanged. */
    post(path: string, body: string | Buffer, headers?: Record<string, string>): Promise<PageAnswer>;
}

export const PASSWORD = 'four words for ada';

let visitors = 0;

/** A new browser, at an address of its own if the world trusts a proxy. */
export function visitor(world: World, options: { address?: string; base?: string } = {}): Visitor {
    visitors += 1;
    const { address = `10.${visitors >> 16}.${(visitors >> 8) % 256}.${visitors % 256}`, base = world.base } = options;
    const cookies = new Map<string, string>();
    const agent = new Agent({ keepAlive: false });

    function ask(method: string, path: string, body: string | Buffer | undefined, headers: Record<string, string>): Promise<PageAnswer> {
        return new Promise((resolve, reject) => {
            const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
            const sent = request(
                new URL(path, base),
                {
                    method,
                    agent,
                    headers: {
                        accept: 'text/html',
                        'x-forwarded-for': address,
                        'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) Firefox/150.0',
                        ...(cookie === '' ? {} : { cookie }),
                        ...(body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }),
                        ...headers,
                    },
                },
                (response) => {
                    const chunks: Buffer[] = [];
                    response.on('data', (chunk: Buffer) => chunks.push(chunk));
                    response.on('end', () => {
                        keep(response.headers['set-cookie'] ?? []);
                        const { location } = response.headers;
                        resolve({
                            status: response.statusCode ?? 0,
                            headers: response.headers,
                            html: Buffer.concat(chunks).toString('utf8'),
                            to: location,
                        });
                    });
                    response.on('error', reject);
                },
            );
            sent.on('error', reject);
            sent.end(body);
        });
    }

    function keep(lines: readonly string[]): void {
        for (const line of lines) {
            const [pair = '', ...attributes] = line.split('; ');
            const [name = '', value = ''] = pair.split('=');
            if (attributes.includes('Max-Age=0')) cookies.delete(name);
            else cookies.set(name, value);
        }
    }

    const post: Visitor['post'] = (path, body, headers = {}) =>
        ask('POST', path, body, { 'content-type': 'application/x-www-form-urlencoded', ...headers });
    const get: Visitor['get'] = (path, headers = {}) => ask('GET', path, undefined, headers);
    return {
        cookies,
        get,
        post,
        async send(path, fields = {}, { from } = {}) {
            const page = await get(from ?? (cookies.has('routebook_session') ? '/dashboard/settings' : '/login'));
            const hidden = { _form: hiddenOf(page.html, '_form'), _workspace: hiddenOf(page.html, '_workspace') };
            const all = Object.entries({ ...hidden, ...fields }).filter((entry): entry is [string, string] => entry[1] !== undefined);
            return post(path, new URLSearchParams(all).toString());
        },
    };
}

let addresses = 0;

/** An address that was not used before. */
export function freshAddress(): string {
    addresses += 1;
    return `ada${addresses}@pages.example`;
}

/**
 * Signs up like a new user. With a mail server, an account starts with its mailed link; here it already has a session, like accounts from
 * before the mail server was set.
 */
export async function signUp(world: World, email = freshAddress(), options: Parameters<typeof visitor>[1] = {}): Promise<Visitor> {
    const person = visitor(world, options);
    const { status, html } = await person.send('/signup', { email, password: PASSWORD }, { from: '/signup' });
    if (status === 200 && world.app.config.mail.smtpUrl !== undefined) await signInEarly(world, person, email);
    else if (status !== 303) throw new Error(`signing up ended with ${status}: ${html}`);
    return person;
}

/** Signs up with a mail server, and opens the link in the same browser. */
export async function signUpByMail(
    world: World,
    mail: MailServer,
    { email = freshAddress(), invite = '', ...options }: Parameters<typeof visitor>[1] & { email?: string; invite?: string } = {},
): Promise<Visitor & { email: string }> {
    const person = visitor(world, options);
    const { status, html } = await person.send('/signup', { email, password: PASSWORD, invite }, { from: '/signup' });
    if (status !== 200) throw new Error(`signing up ended with ${status}: ${html}`);
    const { to } = await person.get((await mail.mailTo(email)).link ?? '');
    if (to !== '/dashboard') throw new Error(`the mailed link led to ${to}`);
    return { ...person, email };
}

async function signInEarly({ app }: World, person: Visitor, email: string): Promise<void> {
    const find = async () => (await app.db.raw<{ rows: { id: string }[] }>('select id from users where email = ?', [email])).rows[0]?.id;
    await eventually(find, (userId) => userId !== undefined, 5000);
    const session = { userId: (await find()) ?? '', browser: 'Mozilla/5.0 (X11; Linux x86_64) Firefox/150.0', address: '127.0.0.1' };
    const token = await beginSession(app.db, session);
    person.cookies.set('routebook_session', token);
}

/** The value of a hidden field of a page. */
export function hiddenOf(html: string, name: string): string | undefined {
    return new RegExp(`name="${name}" value="([^"]*)"`).exec(html)?.[1];
}

/** The visible words of a page. */
export function wordsOf(html: string): string {
    return html
        .replaceAll(/<(script|style|svg)[\s\S]*?<\/\1>/g, ' ')
        .replaceAll(/<[^>]*>/g, ' ')
        .replaceAll('&lt;', '<')
        .replaceAll('&gt;', '>')
        .replaceAll('&quot;', '"')
        .replaceAll('&#39;', "'")
        .replaceAll('&amp;', '&')
        .replaceAll(/\s+/g, ' ')
        .trim();
}
