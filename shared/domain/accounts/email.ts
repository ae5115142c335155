import { domainToASCII, domainToUnicode } from 'node:url';

export type Email = { ok: true; address: string; normalised: string } | { ok: false; message: string };

/** Mailboxes at these domains ignore dots, and both domains are equivalent. */
const GMAIL = new Set(['gmail.com', 'googlemail.com']);

/**
 * An email address, and the normalised form that identifies a person (docs/billing.md): lower case, without `+tag`, and for gmail.com and
 * googlemail.com without dots. Mail goes to `address`, which is the trimmed input. If IDNA maps its domain to a different one
 * (`exam\u00adple.com`, `ｅxample.com`), `address` has the mapped domain.
 */
export function readEmail(text: string): Email {
    const address = text.trim();
    const at = address.lastIndexOf('@');
    const local = address.slice(0, at);
    const written = address.slice(at + 1);
    // Before the domain is read, which takes quadratic time.
    if (at < 1 || address.length > 254 || local.length > 64) return WRONG;
    const domain = domainToASCII(written);
    if (!/^[^\s@<>()[\]\\,;:"\u0000-\u001f\u007f-\u009f]+$/.test(local) || !local.isWellFormed()) return WRONG;
    if (!/^[a-z0-9-]+(\.[a-z0-9-]+)+$/.test(domain)) return WRONG;
    const isItself = [domain, domainToUnicode(domain)].includes(written.normalize('NFC').toLowerCase());
    return {
        ok: true,
        address: isItself ? address : `${local}@${domain}`,
        normalised: mailbox(local.normalize('NFC').toLowerCase(), domain),
    };
}

const WRONG: Email = { ok: false, message: 'This is not an email address; give one such as ada@example.com.' };

function mailbox(local: string, domain: string): string {
    const plus = local.indexOf('+');
    const untagged = plus > 0 ? local.slice(0, plus) : local;
    if (!GMAIL.has(domain)) return `${untagged}@${domain}`;
    return `${untagged.replaceAll('.', '') || untagged}@gmail.com`;
}
