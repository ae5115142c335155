import { type Path, quoted, type Report } from './report.ts';

/** Words in names of fields with credentials or ways around a protection. Their message says more than that a field is unknown. */
const FORBIDDEN_WORDS: readonly string[] = [
    ...'cookie session token secret password passwd credential authorization authentication apikey privatekey proxy proxies'.split(' '),
    ...'clearance captcha turnstile challenge bypass evade evasion stealth antibot botwall unblock fingerprint impersonate'.split(' '),
    ...'useragent tlsprofile ja3'.split(' '),
];

/** Whether the name of a field suggests content that packages may not contain. */
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
            'A package may not have cookies, credentials, proxies or ways around a protection: remove this field.',
        );
        return;
    }
    report.add(at, 'UNKNOWN_FIELD', `There is no field ${quoted(name)} here; the fields are ${known.join(', ')}.`);
}
