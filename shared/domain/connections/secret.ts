import type { Detail } from '../../refusals.ts';
import type { PackageAuth } from '../types.ts';

/** A credential as its owner gave it. */
export type Secret = { value: string } | { username: string; password: string };

/** Bytes of a value, or of user name and password together. */
export const SECRET_BYTES = 8 * 1024;

/** Why a secret does not fit an entry of a package's auth; the value is never repeated. */
export function secretProblems({ type, prefix = '' }: PackageAuth, secret: Partial<Record<string, string>>): Detail[] {
    const wanted = type === 'basic' ? ['username', 'password'] : ['value'];
    const problems: Detail[] = [];
    const add = (field: string, code: Detail['code'], message: string) => problems.push({ path: `/secret/${field}`, code, message });
    for (const field of Object.keys(secret)) {
        if (!wanted.includes(field)) add(field, 'UNKNOWN_FIELD', `A credential of type ${type} has ${wanted.join(' and ')} alone.`);
    }
    for (const field of wanted) {
        if (secret[field] === undefined) add(field, 'REQUIRED', `A credential of type ${type} has ${wanted.join(' and ')}.`);
    }
    const texts = wanted.flatMap((field) => (secret[field] === undefined ? [] : [[field, secret[field]] as const]));
    const bytes = texts.reduce((sum, [, text]) => sum + Buffer.byteLength(text), 0);
    if (bytes > SECRET_BYTES)
        problems.push({ path: '/secret', code: 'INVALID_VALUE', message: `A secret has at most ${SECRET_BYTES} bytes.` });
    for (const [field, text] of texts) {
        if (!FITS[type].test(text)) add(field, 'INVALID_VALUE', UNFIT[type]);
    }
    const { value, username } = secret;
    if (type === 'basic' && username?.includes(':')) add('username', 'INVALID_VALUE', 'A user name has no colon.');
    if (prefix !== '' && value?.startsWith(prefix))
        add('value', 'INVALID_VALUE', `Leave out "${prefix}": it is put before the value by itself.`);
    return problems;
}

const HEADER_VALUE = /^[!-~](?:[ -~]*[!-~])?$/;
const TEXT = /^[^\p{Cc}\p{Cs}]+$/u;
const FITS: Readonly<Record<PackageAuth['type'], RegExp>> = {
    header: HEADER_VALUE,
    bearer: HEADER_VALUE,
    cookie: /^[!-:<-~]+$/,
    query: TEXT,
    basic: TEXT,
};
const IN_HEADER = 'A value for a header has visible ASCII characters, without blanks at its ends.';
const UNFIT: Readonly<Record<PackageAuth['type'], string>> = {
    header: IN_HEADER,
    bearer: IN_HEADER,
    cookie: 'The value of a cookie has visible ASCII characters, without blanks and semicolons.',
    query: 'A value has no control characters.',
    basic: 'User name and password have no control characters.',
};

/** What people know a secret by: its end, where that reveals little of the whole. */
export function hintOf(secret: Secret): string {
    const text = 'value' in secret ? secret.value : secret.password;
    return text.length < 12 ? '…' : `…${text.slice(-4)}`;
}
