import { domainToASCII, domainToUnicode } from 'node:url';
import { parse } from 'tldts';

type SiteName = { ok: true; site: string; registrable: string } | { ok: false; message: string };

/** Maximum input length. Longer input cannot be a name of 253 characters in any notation, so it is rejected before it is parsed. */
const MAX_INPUT = 1024;

/** Names with these suffixes never belong to a site on the public internet (RFC 6761, 6762, 7686, 9476 and ICANN's `.internal`). */
const SPECIAL_USE = new Set(['localhost', 'local', 'internal', 'onion', 'arpa', 'invalid']);

/**
 * Normalises the name of a site (docs/api.md, "Domains"): trimmed, lower case, A-labels, without a trailing dot and without leading `www.`
 * labels. Normalising twice changes nothing. For `registrable`, see `registrableDomain`. The message of a refusal is public and appears
 * together with `INVALID_DOMAIN`.
 */
export function normaliseSite(text: string): SiteName {
    const trimmed = text.trim();
    if (trimmed === '') return refused('is empty');
    if (trimmed.length > MAX_INPUT) return refused('is longer than 253 characters');
    const fault = strayCharacter(trimmed);
    if (fault !== undefined) return refused(fault);

    // This parser reads some texts as IPv4 addresses (`1.2`, `0x7f.1`) and returns an empty string for invalid texts.
    const ascii = domainToASCII(trimmed);
    if (ascii === '') return refused('is not a valid domain name');
    const bare = withoutWww(ascii.endsWith('.') ? ascii.slice(0, -1) : ascii);
    if (bare.length > 253) return refused('is longer than 253 characters');

    const labels = bare.split('.');
    const last = labels.at(-1) ?? '';
    if (/^[0-9]+$/.test(last)) return refused('is an IP address, not a domain name');
    for (const label of labels) {
        const problem = labelProblem(label);
        if (problem !== undefined) return refused(problem);
    }
    if (labels.length === 1) return refused('is a single label without a domain');
    if (SPECIAL_USE.has(last)) return refused(`ends in .${last}, which no public site does`);
    const registrable = registrableDomain(bare);
    if (registrable === undefined) return refused('is a public suffix, not a site');
    return { ok: true, site: bare, registrable };
}

/**
 * The domain that an owner registered, for a host in A-labels: `shop.example.co.uk` → `example.co.uk`. The private part of the public
 * suffix list applies (`b.a.github.io` → `a.github.io`), and a private suffix is itself a site of its operator (`github.io` → `github.io`).
 * `undefined` for IP addresses, single labels and ICANN suffixes.
 */
export function registrableDomain(host: string): string | undefined {
    const parsed = parse(host, { allowPrivateDomains: true, extractHostname: false });
    if (parsed.isIp || parsed.hostname === null) return undefined;
    if (parsed.domain !== null) return parsed.domain;
    return parsed.isPrivate === true ? parsed.hostname : undefined;
}

/** Whether `host` belongs to the owner of `registrable`: `a.github.io` does not belong to `github.io`. */
export function isOnDomain(host: string, registrable: string): boolean {
    return registrableDomain(host) === registrable;
}

function refused(fault: string): SiteName {
    return { ok: false, message: `The domain ${fault}; give a bare host such as shop.example.com.` };
}

/** Finds characters of URLs, addresses and typing errors before the IDNA step, which would remove or decode some of them. */
function strayCharacter(text: string): string | undefined {
    if (!text.isWellFormed() || /[\u0000-\u001f\u007f-\u009f]/.test(text)) return 'has control characters';
    if (/\s/.test(text)) return 'contains white space';
    if (text.includes('@')) return 'has user info';
    if (/^\[|^[0-9a-f.]*:[0-9a-f.]*:/i.test(text)) return 'is an IP address, not a domain name';
    if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return 'has a scheme';
    if (text.includes(':')) return 'has a port or a scheme';
    if (/[/\\?#]/.test(text)) return 'has a path';
    if (text.includes('%')) return 'has percent-encoding';
    return undefined;
}

/** Removes all leading `www.` labels, so that normalising a normalised name changes nothing. */
function withoutWww(name: string): string {
    let rest = name;
    while (rest.startsWith('www.')) rest = rest.slice(4);
    return rest;
}

function labelProblem(label: string): string | undefined {
    if (label === '') return 'has an empty label';
    if (label.length > 63) return 'has a label of more than 63 characters';
    if (label.includes('_')) return 'has an underscore';
    if (!/^[a-z0-9-]+$/.test(label)) return 'has characters that are not allowed in a domain name';
    if (label.startsWith('-') || label.endsWith('-')) return 'has a label that begins or ends with a hyphen';
    // The Unicode form of an A-label must encode to the same A-label: `xn--a` decodes to a name that cannot be registered.
    if (label.startsWith('xn--') && !isIdnLabel(label)) return 'has an A-label (xn--…) that is not valid';
    return undefined;
}

function isIdnLabel(label: string): boolean {
    const unicode = domainToUnicode(label);
    return unicode !== '' && unicode !== label && domainToASCII(unicode) === label;
}
