/** One form of credential that the scan recognises. */
export interface KnownForm {
    kind: string;
    /** Global, so that `confirm` can check every match. It checks the first group, if there is one. */
    pattern: RegExp;
    confirm?: (match: string) => boolean;
}

const CREDENTIAL_NAME =
    '(?:api[_-]?key|access[_-]?key|access[_-]?token|auth[_-]?token|bearer[_-]?token|refresh[_-]?token|id[_-]?token|client[_-]?secret|secret[_-]?key|app[_-]?secret|private[_-]?key|password|passwd|secret)';

/** Names that say whose key or token the value is. A text may mention other keys and tokens without containing one. */
const OWNED_NAME =
    '(?:(?:api|access|app|auth|client|consumer|private|rapidapi|secret|subscription)[ _-]?key|' +
    '(?:access|api|app|auth|authenticity|bearer|csrf|csrf[ _-]?middleware|id|login|oauth|refresh|remember|remember[ _-]?me|request[ _-]?verification|security|session|user|xsrf)[ _-]?token|' +
    '(?:api|app|client|consumer)[ _-]?secret)';

const SESSION_NAME = '(?:sess(?:ion)?(?:[ _-]?(?:id|key))?|sid|cookie)';

const COOKIE_NAME =
    '(?:cf_clearance|__cf_bm|_abck|ak_bmsc|bm_sz|datadome|incap_ses_[0-9]{1,6}|visid_incap_[0-9]{1,9}|aws-waf-token|PHPSESSID|JSESSIONID|ASP\\.NET_SessionId|connect\\.sid|laravel_session|session[_-]?id)';

/** The sign between a name and its value, in text and in JSON. A sentence has `is` or nothing there. */
const SIGN = '["\']?\\s{0,3}[=:]\\s{0,3}["\'`]?';
const SAYS = '["\'`]?(?:[ \\t]{0,3}[=:])?[ \\t]{1,3}(?:is[ \\t]{1,3})?["\'`]?';
const SIGN_OR_IS = `(?:${SIGN}|["'\`]?[ \\t]{1,3}is[ \\t]{1,3}["'\`]?)`;

/** A page token identifies a page, not a person, whether it is written as one word or as two. */
const NO_PAGE = '(?<!(?:page|next|continuation|cursor|sync|resume|previous|prev)[ \\t])';

/** Credentials that only an adjacent name reveals. The more specific the name, the less the value itself has to look like a credential. */
export const BESIDE_NAMES: readonly KnownForm[] = [
    {
        kind: 'a credential beside its name',
        pattern: new RegExp(`(?<![A-Za-z])${CREDENTIAL_NAME}["']?\\s{0,3}[=:]\\s{0,3}["']?([^\\s"'&{}<>,;()]{8,100})`, 'gi'),
        confirm: hasLetterAndDigit,
    },
    {
        kind: 'a credential beside its name',
        // `pass` is also a verb, and `pwd` also the current folder.
        pattern: new RegExp(
            `(?<![A-Za-z])(?:(?:${OWNED_NAME}|pwd|pass|passcode|passphrase)${SIGN_OR_IS}|pass(?:word|wd|code|phrase)${SAYS})([^\\s"'&{}<>,;()/~.][^\\s"'&{}<>,;()]{7,99})`,
            'gi',
        ),
        confirm: hasMixedRun,
    },
    {
        kind: 'a credential beside its name',
        // These words have other meanings too, so they count only before a value that nobody writes by hand.
        pattern: /(?<![A-Za-z0-9_-])(?:(?:token|auth)["']?\s{0,3}[=:]|key["']?\s{0,3}=)\s{0,3}["']?([A-Za-z0-9_~.+/-]{16,200})/gi,
        confirm: hasTokenRun,
    },
    {
        kind: 'a credential beside its name',
        pattern: new RegExp(`(?<![A-Za-z])${NO_PAGE}(?:${OWNED_NAME}|token|secret|credentials?)${SAYS}([A-Za-z0-9_~.+/-]{16,200})`, 'gi'),
        confirm: hasTokenRun,
    },
    {
        kind: 'a session',
        pattern: new RegExp(`(?<![A-Za-z0-9])${SESSION_NAME}(?:${SIGN}|${SAYS})([A-Za-z0-9_~.%+/-]{16,200})`, 'gi'),
        confirm: hasTokenRun,
    },
    {
        kind: 'a bearer token',
        pattern: /(?<![A-Za-z0-9])authorization["']?\s{0,3}[=:]\s{0,3}["']?bearer[ \t]{1,4}([A-Za-z0-9._~+/-]{16,200})/gi,
        confirm: hasLongWord,
    },
    { kind: 'a cookie', pattern: new RegExp(`(?<![A-Za-z0-9])${COOKIE_NAME}=([^\\s;&{}"']{8,100})`, 'gi') },
    {
        kind: 'a cookie',
        pattern:
            /(?<![A-Za-z0-9])(?:set-)?cookie["']?:[ \t]{0,4}["']?[A-Za-z0-9_.-]{1,64}=(?!your|value(?![A-Za-z0-9]))([A-Za-z0-9%_~+/-][^\s;{}"'<>]{0,99})/gi,
        confirm: isNotPlaceholder,
    },
];

export function hasDigit(text: string): boolean {
    return /[0-9]/.test(text);
}

function hasLetterAndDigit(text: string): boolean {
    return hasDigit(text) && /[A-Za-z]/.test(text);
}

/** Whether a text has eight letters and digits in a row, including both kinds. `8-character` and `iso-8601` are words. */
function hasMixedRun(text: string): boolean {
    return (text.match(/[A-Za-z0-9]{8,}/g) ?? []).some(hasLetterAndDigit);
}

/** Sixteen letters and digits in a row, of both kinds. Slugs and paths have shorter words, names of types one number. */
export function hasTokenRun(text: string): boolean {
    return !ADDRESS.test(text) && (text.match(/[A-Za-z0-9]{16,}/g) ?? []).some((run) => hasLetterAndDigit(run) && !TYPE_NAME.test(run));
}

/** `CheckoutSessionV2Input`: words joined by their capitals, with at most one short number. */
const TYPE_NAME = /^[A-Za-z][a-z]+(?:[A-Z][a-z]+)*(?:V?[0-9]{1,2}(?:[A-Z][a-z]+)*)?$/;

/** The address of a contract on a blockchain. It is called a token but is public. */
const ADDRESS = /^0x[0-9a-f]{40}$/i;

/** Whether a text has a run of letters that is too long for a word of a sentence. */
function hasLongWord(text: string): boolean {
    return /[A-Za-z0-9]{16}/.test(text) && !/^(?:your|my|the|some|example|insert)/i.test(text);
}

/** `YOUR_SESSION` is a placeholder for a value. */
function isNotPlaceholder(text: string): boolean {
    return !/^[A-Z]+(?:_[A-Z]+)+$/.test(text);
}
