import type { DetailCode } from '../../../refusals.ts';
import { MAX_HEADER_TEXT } from '../../fetch/param-place.ts';
import { preparedIn } from '../../fetch/prepared-values.ts';
import { isVisibleAscii } from '../../fetch/visible-ascii.ts';
import type { BodyFormat } from '../../types.ts';
import { MAX_HEADER_NAME, MAX_HEADERS } from './bounds.ts';
import { checkExtracted, extractedBy } from './prepare.ts';
import { type Path, quoted, type Report } from './report.ts';
import type { Subject } from './subject.ts';
import { reportSecret } from './tree.ts';

/** Headers that a package may not set, in lower case, and why. `*` matches the rest of a name. The first row that matches applies. */
const FORBIDDEN = Object.entries({
    'Routebook controls the connection':
        'host connection keep-alive te trailer transfer-encoding upgrade http2-settings alt-used via max-forwards date expect',
    'Routebook sets it from the request that it sends':
        'content-length content-encoding content-range content-md5 content-digest accept-encoding range if-*',
    'only a browser sets it, and a package does not pretend to be one': 'sec-*',
    'Routebook names itself': 'user-agent',
    'it claims another sender':
        'proxy-* forwarded x-forwarded x-forwarded-* x-real-ip *-client-ip *-connecting-ip client-ip x-originating-ip x-remote-ip x-remote-addr x-host',
    'it makes the site read another request than the package declares':
        'x-http-method x-http-method-override x-method-override x-tunneled-method x-original-url x-original-uri x-rewrite-url',
    'it opens metadata services':
        'metadata metadata-* *-metadata x-aws-ec2-metadata-* x-google-metadata* *-metadata-token *-metadata-flavor',
    'it carries a session': 'cookie cookie2 set-cookie set-cookie2',
    'it carries a credential': 'authorization www-authenticate *-authorization *-authenticate',
}).map(([why, names]) => ({ why, names: names.split(' ') }));

/** Parts of a header name, separated by hyphens or underscores, that only headers with credentials have. */
const CREDENTIAL_PARTS: ReadonlySet<string> = new Set([
    ...'apikey auth authentication bearer clearance cookie credential credentials csrf jwt pass passwd password secret'.split(' '),
    ...'session sessionid sid signature token xsrf'.split(' '),
]);

/** The content types that a package may declare for each format. None for multipart, since we choose the boundary. */
const CONTENT_TYPES: Record<Exclude<BodyFormat, 'multipart'>, RegExp> = {
    json: contentTypePattern('application\\/(?:[a-z0-9.-]{1,100}\\+)?json'),
    form: contentTypePattern('application\\/x-www-form-urlencoded'),
    xml: contentTypePattern('(?:application|text)\\/(?:[a-z0-9.-]{1,100}\\+)?xml'),
    ndjson: contentTypePattern('(?:application|text)\\/(?:x-)?(?:ndjson|jsonl|jsonlines|json-lines|json)'),
    // All content types that do not belong to another format.
    text: contentTypePattern(
        '(?!multipart\\/|application\\/x-www-form-urlencoded|[^;]*[/+](?:json|xml)\\b)[a-z]{1,20}\\/[a-z0-9.+-]{1,100}',
    ),
};

/** Matches a media type, optionally with the charset UTF-8. */
function contentTypePattern(essence: string): RegExp {
    return new RegExp(`^${essence}(?:\\s{0,3};\\s{0,3}charset="?utf-8"?)?$`, 'i');
}

export function checkHeaders(subject: Subject): void {
    const { report } = subject;
    const { headers = {} } = subject.draft;
    const at = [...subject.at, 'headers'];
    const names = Object.keys(headers);
    if (names.length > MAX_HEADERS) report.add(at, 'TOO_COMPLEX', `An endpoint may set at most ${MAX_HEADERS} headers.`);
    const seen = new Set<string>();
    for (const name of names.slice(0, MAX_HEADERS)) {
        const place = [...at, name];
        const lower = name.toLowerCase();
        if (seen.has(lower)) report.add(place, 'DUPLICATE_NAME', `The header ${quoted(lower)} is given twice; case makes no difference.`);
        seen.add(lower);
        const fault = TOKENS_OF_PAGES.has(lower) && isWhollyPrepared(headers[name]) ? undefined : headerNameFault(lower);
        if (fault !== undefined) report.add(place, fault.code, fault.message);
        checkHeaderValue(lower, headers[name], place, subject);
    }
}

/** Headers whose value comes from an earlier page of the site. A package cannot contain such a value. */
const TOKENS_OF_PAGES: ReadonlySet<string> = new Set(['x-csrf-token', 'x-csrftoken', 'x-xsrf-token']);

function isWhollyPrepared(value: unknown): boolean {
    return typeof value === 'string' && preparedIn(value).some((name) => value === `{prepare.${name}}`);
}

/** Why a package may not set a header, or let callers set it. @param name in lower case @param options.isCredential used by `auth` */
export function headerNameFault(
    name: string,
    { isCredential = false }: { isCredential?: boolean } = {},
): { code: DetailCode; message: string } | undefined {
    if (name.length > MAX_HEADER_NAME || !/^[!#$%&'*+.^_`|~0-9a-z-]+$/.test(name)) {
        return {
            code: 'INVALID_VALUE',
            message: `The name of a header is a token of at most ${MAX_HEADER_NAME} letters, digits and signs such as the hyphen.`,
        };
    }
    // Many servers treat every character except letters and digits as a hyphen. They read `x_forwarded_for` as X-Forwarded-For.
    const hyphened = name.replaceAll(/[^0-9a-z]/g, '-');
    const row = FORBIDDEN.find(({ names }) => names.some((pattern) => fits(hyphened, pattern)));
    const why = row?.why ?? (!isCredential && namesCredential(name) ? 'it carries a credential' : undefined);
    if (why === undefined || (isCredential && name === 'authorization')) return undefined;
    const way = TOKENS_OF_PAGES.has(name)
        ? 'If a page of the site carries the value, extract it in "prepare" and write {prepare.name} as the whole value.'
        : 'Leave it out.';
    return { code: 'FORBIDDEN_FIELD', message: `A package may not set the header ${quoted(name)}: ${why}. ${way}` };
}

function fits(name: string, pattern: string): boolean {
    if (pattern.endsWith('*')) return name.startsWith(pattern.slice(0, -1));
    return pattern.startsWith('*') ? name.endsWith(pattern.slice(1)) : name === pattern;
}

function namesCredential(name: string): boolean {
    const parts = name.split(/[-_.]/);
    return parts.some(
        (part, index) => CREDENTIAL_PARTS.has(part) || (part === 'key' && (index === 0 || KEY_OWNERS.has(parts[index - 1] ?? ''))),
    );
}

/** Words that precede `key` in the names of headers with keys: `x-api-key`, `x-access-key`. */
const KEY_OWNERS: ReadonlySet<string> = new Set('api app access private secret auth client consumer rapidapi subscription x'.split(' '));

function checkHeaderValue(name: string, value: unknown, at: Path, { draft, report, sendsBody, bodyFormat }: Subject): void {
    if (typeof value !== 'string') {
        report.add(at, 'INVALID_TYPE', 'The value of a header must be a string.');
        return;
    }
    if (!isVisibleAscii(value, MAX_HEADER_TEXT)) {
        report.refuse(
            at,
            `The value of a header must be visible ASCII, at most ${MAX_HEADER_TEXT} characters, without line breaks or blanks at its ends.`,
        );
    }
    if (value.includes('{') && /\{[A-Za-z_][A-Za-z0-9_]*\}/.test(value)) {
        report.refuse(at, 'The only placeholder in a header is {prepare.name}; everything else is sent exactly as written.');
    }
    for (const extract of new Set(preparedIn(value))) checkExtracted(extract, extractedBy(draft), at, report);
    // The scan needs the name: the value of `x-service: key=…` alone may look like a word. A refused name is reported alone.
    if (!report.has(at, 'FORBIDDEN_FIELD')) reportSecret(at, 'This header', `${name}: ${value.slice(0, 200)}`, report);
    if (name === 'content-type') checkContentType(value, at, report, sendsBody ? bodyFormat : undefined);
}

function checkContentType(value: string, at: Path, report: Report, body: BodyFormat | undefined): void {
    if (body === undefined) report.refuse(at, 'This endpoint sends no body, so it has no content-type: leave the header out.');
    else if (body === 'multipart')
        report.refuse(at, 'The content-type of a multipart body is set with its boundary: leave the header out.');
    else if (!CONTENT_TYPES[body].test(value)) report.refuse(at, `The content-type contradicts body_format, which is ${body}.`);
}
