import { isOnDomain } from '../../site/site-name.ts';
import { splitOnce } from '../../text/split-once.ts';
import { type Path, quoted, type Report } from './report.ts';

/** The allowed targets of a package: its domain (absent if `site` is invalid) and the ports that EGRESS_ALLOW contains. */
export interface UrlContext {
    registrable: string | undefined;
    isPortAllowed(port: number): boolean;
}

/** Names of the placeholders of a URL template, in order and without repetitions. Names of extracted values begin with `prepare.`. */
export function placeholdersOf(template: string): string[] {
    return [...new Set([...template.matchAll(PLACEHOLDER)].map((match) => match[1] ?? ''))];
}

export const PLACEHOLDER_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Maximum number of placeholders and query pairs in one URL. Exports describe each of them in full. */
export const MAX_PLACEHOLDERS = 100;
export const MAX_PAIRS = 200;

/** Refuses URLs with many more parts than any site has. */
function checkParts(template: string, at: Path, report: Report): void {
    const placeholders = [...template.matchAll(PLACEHOLDER)].length;
    if (placeholders > MAX_PLACEHOLDERS)
        report.add(
            at,
            'TOO_COMPLEX',
            `A URL has at most ${MAX_PLACEHOLDERS} placeholders, repeated ones included; here are ${placeholders}.`,
        );
    const [, query = ''] = splitOnce(template, '?');
    const pairs = query.split('&').length;
    if (pairs > MAX_PAIRS) report.add(at, 'TOO_COMPLEX', `The query of a URL has at most ${MAX_PAIRS} pairs; here are ${pairs}.`);
}

const PLACEHOLDER = /\{((?:prepare\.)?[A-Za-z_][A-Za-z0-9_]{0,63})\}/g;

/** The rules for URLs (docs/api.md, "Schema packages"). Placeholders are in path and query only, hosts on the site's domain. */
export function checkUrlTemplate(
    template: string,
    at: Path,
    report: Report,
    context: UrlContext,
    { placeholders }: { placeholders: boolean },
): void {
    const start = /^(https?):\/\/([^/?#\\]*)/.exec(template);
    if (start === null) {
        report.refuse(at, 'A URL begins with https:// in small letters and names a host.');
        return;
    }
    const authority = start[2] ?? '';
    const faults = FAULTS.filter(({ applies }) => applies(template, authority, placeholders));
    for (const { message } of faults) report.refuse(at, message);
    // With these faults, the parser would find another host than a person reads.
    if (faults.some((fault) => fault.hidesHost)) return;
    checkParts(template, at, report);
    const url = URL.parse(fill(template));
    if (url === null) {
        report.refuse(at, 'This is not a valid URL.');
        return;
    }
    checkSpelling(template, url, at, report, faults.length > 0);
    checkReach(url, at, report, context);
}

interface Fault {
    applies: (template: string, authority: string, placeholders: boolean) => boolean;
    message: string;
    hidesHost?: true;
}

const FAULTS: readonly Fault[] = [
    {
        applies: (_template, authority) => /[{}]/.test(authority),
        message: 'Placeholders are allowed only in the path and the query of a URL. Write out the host.',
        hidesHost: true,
    },
    { applies: (_template, authority) => authority.includes('@'), message: 'A URL carries no user name and no password.', hidesHost: true },
    { applies: (_template, authority) => /\.(?::|$)/.test(authority), message: 'Leave the dot at the end of the host out.' },
    { applies: (template) => template.includes('#'), message: 'A URL for a request has no fragment: leave # and what follows out.' },
    {
        applies: (template, authority, placeholders) =>
            !placeholders && /[{}]/.test(template.slice(template.indexOf(authority) + authority.length)),
        message: 'This URL takes no placeholders.',
    },
    {
        applies: (template, _authority, placeholders) => placeholders && /[{}]/.test(template.replaceAll(PLACEHOLDER, '')),
        message: 'A brace has no counterpart. A placeholder is {name}, with a name of letters, digits and underscores.',
    },
    {
        // With the value 2e, `%{x}` would become a dot after decoding.
        applies: (template) => /%(?![0-9A-Fa-f]{2})/.test(template),
        message: 'A percent sign must be followed by two hex digits. Write a literal percent sign as %25.',
    },
    {
        applies: (template) => pathOf(template).split('/').some(isDotSegment),
        message: 'A path has no segments . or .., written out or percent-encoded.',
    },
];

function pathOf(template: string): string {
    const [beforeQuery = ''] = template.split(/[?#]/, 1);
    return beforeQuery.replace(/^https?:\/\/[^/\\]*/, '');
}

function isDotSegment(segment: string): boolean {
    const plain = segment.replaceAll(/%2e/gi, '.');
    return plain === '.' || plain === '..';
}

/** Replaces placeholders by letters that need no encoding, so that only the literal part is checked. */
function fill(template: string): string {
    return template.replaceAll(PLACEHOLDER, 'P');
}

/** The form in which the URL parser writes a template, with its placeholders as they are. */
function canonical(template: string): string {
    const names = [...template.matchAll(PLACEHOLDER)].map(([placeholder]) => placeholder);
    const parts = new URL(template.replaceAll(PLACEHOLDER, MARK)).href.split(MARK);
    return parts.map((part, index) => `${part}${names[index] ?? ''}`).join('');
}

/** Letters that need no encoding and stand in no URL. */
const MARK = '~~placeholder~~';

/** The URL parser silently fixes tabs, backslashes, upper case and default ports. The result then differs from what the author wrote. */
function checkSpelling(template: string, url: URL, at: Path, report: Report, isFaulty: boolean): void {
    if (isFaulty || url.href === fill(template)) return;
    report.refuse(at, `The URL is not in its canonical form. Write ${quoted(canonical(template))}.`);
}

function checkReach(url: URL, at: Path, report: Report, context: UrlContext): void {
    const isDefault = url.protocol === 'https:' && url.port === '';
    const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port);
    if (!isDefault && !context.isPortAllowed(port)) {
        report.refuse(
            at,
            url.port === ''
                ? 'A URL must begin with https://.'
                : `A URL has to use https on its default port: leave port ${port} out. For a server of your own, set EGRESS_ALLOW=127.0.0.1/32:${port} (its address and port) where you check and where you publish.`,
        );
    }
    if (context.registrable !== undefined && !isOnDomain(url.hostname, context.registrable)) {
        report.add(
            at,
            'HOST_NOT_IN_SITE',
            `The host of this URL is not on ${context.registrable}, the domain of the site; publish it under its own site.`,
        );
    }
}
