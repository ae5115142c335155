import { type Path, quoted, type Report } from './report.ts';

/**
 * Words in a field's name that say it would carry credentials, or a recipe for getting past a site's protection. A package
 * documents routes and does not evade, so there is no such field, and the answer says why rather than "unknown".
 */
const FORBIDDEN_WORDS: readonly string[] = [
    'cookie',
    'session',
    'token',
    'secret',
    'password',
    'passwd',
    'credential',
    'authorization',
    'authentication',
    'apikey',
    'privatekey',
    'proxy',
    'proxies',
    'clearance',
    'captcha',
    'turnstile',
    'challenge',
    'bypass',
    'evade',
    'evasion',
    'stealth',
    'antibot',
    'botwall',
    'unblock',
    'fingerprint',
    'impersonate',
    'useragent',
    'tlsprofile',
    'ja3',
];

/** Whether a field of this name would carry what packages may not carry. */
function isForbiddenField(name: string): boolean {
    const plain = name
        .slice(0, 200)
        .toLowerCase()
        .replaceAll(/[^a-z0-9]/g, '');
    return plain === 'auth' || FORBIDDEN_WORDS.some((word) => plain.includes(word));
}

/** Reports a field that the format does not have. */
export function unknownField(name: string, at: Path, known: readonly string[], report: Report): void {
    if (isForbiddenField(name)) {
        report.add(
            at,
            'FORBIDDEN_FIELD',
            'A package carries no cookies, credentials, proxies or ways around a protection: take this field out.',
        );
        return;
    }
    report.add(at, 'UNKNOWN_FIELD', `There is no field ${quoted(name)} here; known are ${known.join(', ')}.`);
}
