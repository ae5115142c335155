import { findSecrets } from '../../../shared/domain/package/secrets-scan.ts';

/** Words in the names of headers, query params and body fields that contain credentials. */
const CREDENTIAL_WORDS: ReadonlySet<string> = new Set(
    (
        'auth authorization authentication bearer cookie credential credentials jwt otp passcode passwd password pin pwd secret session ' +
        'sessionid sid signature sig token apikey accesskey secretkey clientsecret accesstoken refreshtoken idtoken authtoken sessiontoken ' +
        'privatekey phpsessid jsessionid csrf csrftoken xsrf xsrftoken csrfmiddlewaretoken authenticitytoken requestverificationtoken ' +
        'nonce wpnonce captcha recaptcha'
    ).split(' '),
);

/** Names of params whose value only bypasses caches. */
export const CACHE_BREAKERS = /^(?:_|_t|_ts|_dc|cb|cachebuster?|_?nocache|rnd|rand|random|nc)$/i;

/** Whether a field of this name contains a credential, or a one-time token from a page. */
export function namesCredential(name: string): boolean {
    // `password2` repeats the password.
    const words = wordsOf(name).map((word) => word.replace(/(?<=[a-z])\d$/, ''));
    if (CREDENTIAL_WORDS.has(words.join(''))) return true;
    return words.some((word, place) => {
        // Some join the words: `securitytoken`.
        if (word.endsWith('token')) return !PLACE_IN_A_LIST.has(word.slice(0, -'token'.length) || (words[place - 1] ?? ''));
        if (word === 'password') return !ABOUT_PASSWORDS.has(words[place + 1] ?? '');
        if (word === 'key') return KEY_OWNERS.has(words[place - 1] ?? '');
        return CREDENTIAL_WORDS.has(word);
    });
}

/** Whether a param contains a credential. `p` is the password of the user `u` beside it. */
export function holdsCredential(name: string, beside: { has(name: string): boolean }): boolean {
    return namesCredential(name) || (name === 'p' && beside.has('u'));
}

/** A `page_token` identifies a page and not a person. */
const PLACE_IN_A_LIST: ReadonlySet<string> = new Set(['page', 'next', 'continuation', 'cursor', 'sync', 'resume', 'previous', 'prev']);
/** `password_expiry` is the setting of a site and no password. */
const ABOUT_PASSWORDS: ReadonlySet<string> = new Set(['age', 'expiration', 'expires', 'expiry', 'length', 'policy', 'strength']);
const KEY_OWNERS: ReadonlySet<string> = new Set('api app access private secret auth client consumer rapidapi subscription'.split(' '));

/** `csrfMiddlewareToken` and `csrf_middleware-token` → csrf, middleware, token. */
export function wordsOf(name: string): string[] {
    return name
        .slice(0, 200)
        .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
        .toLowerCase()
        .split(/[^a-z0-9]+/)
        .filter((word) => word !== '');
}

const MAIL = /[^\s@,;:<>"'/]{1,64}@[^\s@,;:<>"'/]{1,190}\.[a-z]{2,}/i;
const PHONE =
    /(?<![\w.])(?:\+|00)\d[\d ()./-]{6,20}\d(?![\w.])|(?<![\w.])0\d{1,4}[ /-]\d[\d -]{4,12}(?![\w.])|(?<![\w.])\(?\d{3}\)?[ .-]\d{3}[ .-]\d{4}(?![\w.])/;
const IBAN = /\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){3,7}(?: ?[A-Z0-9]{1,3})?\b/;
const CARD = /(?<![\d.])[3-6](?:[ -]?\d){12,18}(?![\d.])/;

/** The kind of personal data that a text resembles; `undefined` if none. Reads the first 10,000 characters. */
export function personalKind(text: string): string | undefined {
    const looked = text.length > 10_000 ? text.slice(0, 10_000) : text;
    if (looked.includes('@') && MAIL.test(looked)) return 'a mail address';
    if (!/\d{2}/.test(looked)) return undefined;
    if (IBAN.test(looked)) return 'a bank account';
    const card = CARD.exec(looked)?.[0].replaceAll(/\D/g, '');
    if (card !== undefined && isLuhn(card)) return 'a card number';
    return PHONE.test(looked) ? 'a phone number' : undefined;
}

function isLuhn(digits: string): boolean {
    let sum = 0;
    for (let i = 0; i < digits.length; i++) {
        const digit = Number(digits[digits.length - 1 - i]);
        const doubled = i % 2 === 1 ? digit * 2 : digit;
        sum += doubled > 9 ? doubled - 9 : doubled;
    }
    return sum % 10 === 0;
}

/**
 * Whether a recorded value is a word of the program and not a user's: short, of letters, with at most two digits at its end or those of usual
 * abbreviations (`p2p_peers`), and neither secret nor personal. Ids, hashes, mail addresses, phone numbers and tokens are not.
 */
export function isProgramWord(text: string): boolean {
    const parts = text.split(/[_-]/);
    const last = parts.pop() ?? '';
    const isSpelt = parts.every((part) => /^[A-Za-z]+$/.test(part) || NUMERONYMS.test(part));
    const isWord = isSpelt && (/^[A-Za-z]+\d{0,2}$/.test(last) || NUMERONYMS.test(last));
    return text.length <= 24 && isWord && findSecrets(text) === undefined && !looksScrambled(text);
}

/** Whether a title is that of a special page of MediaWiki, which the program makes, such as `Special:RecentChanges`. */
export function isSpecialPage(title: string): boolean {
    return /^Special:[A-Z][A-Za-z]{2,30}$/.test(title);
}

/** Words of programs with digits inside. */
const NUMERONYMS =
    /^(?:errors?[45]\d\d|i18n|l10n|a11y|k8s|[a-z]2[a-z]|\dfa|\dd|x509|x86(?:[_-]64)?|h[1-6]|base(?:32|58|64)|md[45]|sha\d{0,3}|utf\d{1,2}|ipv[46]|s3|ec2|mp[34])$/i;

/**
 * Whether a word does not look like one that a programmer writes into a URL: a digit at its beginning or between letters, a number after a
 * hyphen or of three digits, or hardly a vowel. Dots end the names of files and hosts.
 */
export function isUnlikelyWord(text: string): boolean {
    if (!/^[A-Za-z\d-][\w-]+$/.test(text)) return false;
    if (text.split(/[_-]/).some((part) => NUMERONYMS.test(part))) return false;
    if (/\d/.test(text)) return /^[\d-]|\d{3}|\d[A-Za-z]|[_-]\d/.test(text) && !/^v\d/i.test(text);
    return !/[_-]/.test(text) && hasFewVowels(text);
}

/** Whether letters are in an order that no language has: capitals inside the word, or hardly a vowel. */
function looksScrambled(text: string): boolean {
    const letters = text.replaceAll(/[^A-Za-z]/g, '');
    const changes = [...letters].filter(
        (letter, place) => place > 0 && /[A-Z]/.test(letter) && /[a-z]/.test(letters[place - 1] ?? ''),
    ).length;
    return changes > 3 || hasFewVowels(text);
}

function hasFewVowels(text: string): boolean {
    const letters = text.replaceAll(/[^A-Za-z]/g, '');
    return letters.length > 7 && (letters.match(/[aeiouy]/gi)?.length ?? 0) / letters.length < 0.15;
}

/** Names of fields that contain people's names or texts that people write. Their values are never words of the program. */
const PEOPLES_WORDS: ReadonlySet<string> = new Set(
    (
        'u user username login author owner name nick nickname email mail phone tel mobile fax address street city zip zipcode postal postcode ' +
        'first last middle full given family surname birth birthday dob gender ssn contact customer assignee reviewer member members person ' +
        'people account profile recipient sender from to cc bcc q query search s text term terms keyword keywords words title comment ' +
        'comments message body subject note notes description content bio about company organization iban card latitude longitude lat lon lng'
    ).split(' '),
);

/** Whether a field of this name contains names of people or texts that people write. A draft contains none of its values. */
export function namesPeoplesWords(name: string): boolean {
    return wordsOf(name).some((word) => PEOPLES_WORDS.has(word));
}
