import { BESIDE_NAMES, hasDigit, hasTokenRun, type KnownForm } from './secrets-scan/beside-names.ts';

/**
 * Finds text that looks like a credential: a key, a token, a cookie, a private key. Packages and schema requests that contain one are
 * refused (docs/api.md, "Schema packages" and "The registry"). Returns the kind of credential but never its text, so that no answer or log can
 * repeat it. Every pattern begins with fixed text and has a bounded length, so the time grows only linearly with the text.
 */
export function findSecrets(text: string): { kind: string } | undefined {
    if (text.length < MIN_LENGTH) return undefined;
    const form = KNOWN_FORMS.find(({ pattern, confirm }) => hasMatch(text, pattern, confirm));
    if (form !== undefined) return { kind: form.kind };
    return hasRandomToken(text) ? { kind: 'a long random token' } : undefined;
}

/** None of the patterns below matches a shorter text. */
const MIN_LENGTH = 8;

/** Prefixes of tokens. At least sixteen mixed letters and digits must follow. */
const SERVICE_PREFIXES = [
    ...'AGE-SECRET-KEY- AQVN ATATT3x CFPAT- HRKU- LTAI NRAK- PMAK- dapi dckr_oat_ dckr_pat_ dp.ct. dp.pt. dp.sa. dp.st.'.split(' '),
    ...'dt0c01. figd_ fo1_ glc_ glsa_ gsk_ hvb. hvr. hvs. lin_api_ lin_oauth_ lsv2_pt_ lsv2_sk_ nfp_ ntn_ ops_ phx_ pplx-'.split(' '),
    ...'pscale_oauth_ pscale_pw_ pscale_tkn_ pul- r8_ rnd_ rubygems_ sb_secret_ sbp_ secret_ sk.eyJ sntrys_ sntryu_ sq0atp-'.split(' '),
    ...'sq0csp- tfp_ tvly- xai- xapp- xkeysib- key-'.split(' '),
    'FlyV1 ',
].map((prefix) => prefix.replaceAll('.', '\\.'));

const KNOWN_FORMS: readonly KnownForm[] = [
    { kind: 'a Routebook API key', pattern: /(?<![A-Za-z0-9])rb_live_[0-9A-Za-z]{20}/g },
    { kind: 'an AWS access key id', pattern: /(?<![A-Za-z0-9])(?:AKIA|ASIA|AGPA|AROA|AIDA|ANPA|ANVA)[A-Z0-9]{16}(?![A-Za-z0-9])/g },
    { kind: 'a GitHub token', pattern: /(?<![A-Za-z0-9])(?:gh[pousr]_[A-Za-z0-9]{30}|github_pat_[A-Za-z0-9_]{30})/g },
    {
        kind: 'a GitLab token',
        pattern: /(?<![A-Za-z0-9])gl(?:pat|dt|rt|cbt|ptt|oas|soat|ft|agent|imt)-[A-Za-z0-9_-]{20}/g,
        confirm: hasDigit,
    },
    { kind: 'a Slack token', pattern: /(?<![A-Za-z0-9])xox[abeoprs]-[A-Za-z0-9-]{10,60}/g, confirm: hasDigit },
    { kind: 'a Slack webhook', pattern: /hooks\.slack\.com\/(?:services|workflows)\/[A-Z0-9]{6}/g },
    { kind: 'a Stripe key', pattern: /(?<![A-Za-z0-9])(?:[srp]k_(?:live|test)|whsec)_[A-Za-z0-9]{10}/g },
    { kind: 'a Google API key', pattern: /(?<![A-Za-z0-9])AIza[0-9A-Za-z_-]{35}/g },
    { kind: 'a Google OAuth secret', pattern: /(?<![A-Za-z0-9])(?:GOCSPX-[0-9A-Za-z_-]{20}|ya29\.[0-9A-Za-z_-]{20})/g },
    { kind: 'a model provider key', pattern: /(?<![A-Za-z0-9])sk-[A-Za-z0-9_-]{20,80}/g, confirm: isMixed },
    { kind: 'a Hugging Face token', pattern: /(?<![A-Za-z0-9])hf_[A-Za-z0-9]{30}/g },
    { kind: 'an npm token', pattern: /(?<![A-Za-z0-9])npm_[A-Za-z0-9]{36}/g },
    { kind: 'a PyPI token', pattern: /(?<![A-Za-z0-9])pypi-AgE[A-Za-z0-9_-]{20}/g },
    { kind: 'a SendGrid key', pattern: /(?<![A-Za-z0-9])SG\.[A-Za-z0-9_-]{16,30}\.[A-Za-z0-9_-]{16}/g },
    { kind: 'a Twilio key', pattern: /(?<![A-Za-z0-9])SK[0-9a-f]{32}(?![A-Za-z0-9])/g },
    { kind: 'a DigitalOcean token', pattern: /(?<![A-Za-z0-9])do[opr]_v1_[0-9a-f]{32}/g },
    { kind: 'a Shopify token', pattern: /(?<![A-Za-z0-9])shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}/g },
    { kind: 'a Telegram bot token', pattern: /(?<![A-Za-z0-9])[0-9]{8,10}:AA[A-Za-z0-9_-]{33}/g },
    {
        kind: 'a token of a known service',
        pattern: new RegExp(`(?<![A-Za-z0-9_])(?:${SERVICE_PREFIXES.join('|')})([A-Za-z0-9_.=/+-]{20,120})`, 'g'),
        confirm: hasTokenRun,
    },
    { kind: 'a Mailchimp key', pattern: /(?<=[0-9a-f]{32})-us[0-9]{1,2}(?![A-Za-z0-9])/g },
    { kind: 'a Terraform token', pattern: /(?<=[A-Za-z0-9]{14})\.atlasv1\.[A-Za-z0-9_-]{40}/g },
    { kind: 'an Airtable token', pattern: /(?<![A-Za-z0-9])pat[A-Za-z0-9]{14}\.[0-9a-f]{40}/g },
    { kind: 'an Azure client secret', pattern: /(?<=[A-Za-z0-9_~.-]{3})8Q~[A-Za-z0-9_~.-]{31}/g },
    { kind: 'an Azure storage key', pattern: /AccountKey=[A-Za-z0-9+/]{40}/g },
    { kind: 'an Azure signature', pattern: /[?&]sig=[A-Za-z0-9%+/]{40}/g },
    { kind: 'a Braintree token', pattern: /access_token\$(?:production|sandbox)\$[0-9a-z]{16}/g },
    { kind: 'a Discord webhook', pattern: /discord(?:app)?\.com\/api\/webhooks\/[0-9]{15,22}\/[A-Za-z0-9_-]{20}/g },
    { kind: 'a Discord bot token', pattern: /(?<![A-Za-z0-9_-])[MNO][A-Za-z0-9_-]{22,28}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27}/g },
    { kind: 'a Google refresh token', pattern: /(?<![A-Za-z0-9/])1\/\/0[A-Za-z0-9_-]{30}/g },
    { kind: 'a PuTTY private key', pattern: /PuTTY-User-Key-File-[23]/g },
    // The payload of a JSON web token also begins with {". No file name or version number does.
    { kind: 'a JSON web token', pattern: /(?<=[A-Za-z0-9_-]{10})\.eyJ[A-Za-z0-9_-]{8}/g },
    { kind: 'a private key', pattern: /-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY/g },
    { kind: 'a user name and password inside a URL', pattern: /:\/\/[^\s/?#@:]{1,128}:[^\s/?#@]{1,128}@/g },
    { kind: 'a bearer token', pattern: /(?<![A-Za-z0-9])bearer[ \t]{1,4}([A-Za-z0-9._~+/-]{12,200})/gi, confirm: hasDigit },
    { kind: 'a basic authorization', pattern: /(?<![A-Za-z0-9])basic[ \t]{1,4}([A-Za-z0-9+/]{8,200}={0,2})/gi, confirm: isUserAndPassword },
    ...BESIDE_NAMES,
];

function hasMatch(text: string, pattern: RegExp, confirm: KnownForm['confirm']): boolean {
    pattern.lastIndex = 0;
    if (confirm === undefined) return pattern.test(text);
    let checked = 0;
    for (const match of text.matchAll(pattern)) {
        if (confirm(match[1] ?? match[0])) return true;
        checked++;
        if (checked === MAX_CHECKED) return false;
    }
    return false;
}

/** Maximum number of matches to confirm, because confirming costs more than matching. Only a text that is meant to be slow has more. */
const MAX_CHECKED = 500;

function isMixed(text: string): boolean {
    return hasDigit(text) && /[A-Z]/.test(text) && /[a-z]/.test(text);
}

function isUserAndPassword(base64: string): boolean {
    return /^[\x20-\x7e]{1,100}:[\x20-\x7e]{1,150}$/.test(Buffer.from(base64, 'base64').toString('latin1'));
}

/** AWS secret keys have 40 characters. Ids of videos, places and pages are shorter. */
const TOKEN_LENGTH = 40;

/**
 * Finds a run of letters and digits that nobody wrote by hand. In such a run, lower case, upper case and digits alternate at almost half of
 * all positions (in words joined by capitals, at a third), and hardly any character repeats. Hex hashes, UUIDs and slugs have no capitals
 * or few changes.
 */
function hasRandomToken(text: string): boolean {
    if (text.length < TOKEN_LENGTH) return false;
    // The lookbehind keeps the engine from retrying every letter of a shorter run.
    for (const [run] of text.matchAll(/(?<![A-Za-z0-9+/_=-])[A-Za-z0-9+/_=-]{40,}/g)) {
        // Only the start of a long run is checked. The start of a base64 image looks random too.
        if (!looksRandom(run.slice(0, 256))) continue;
        // Checksums follow `sha512-`. Page cursors are often readable text in base64.
        if (!/^sha(?:256|384|512)-/.test(run) && !isReadableInBase64(run)) return true;
    }
    return false;
}

function looksRandom(run: string): boolean {
    const counts = new Map<string, number>();
    let changes = 0;
    let digits = 0;
    let before = '';
    for (const char of run) {
        counts.set(char, (counts.get(char) ?? 0) + 1);
        const kind = kindOf(char);
        if (kind === 'digit') digits++;
        if (kind !== before) changes++;
        before = kind;
    }
    // Paths and slugs are short words between punctuation; random text has little punctuation.
    if (digits < 3 || !/[A-Z]/.test(run) || !/[a-z]/.test(run) || !/[A-Za-z0-9]{16}/.test(run)) return false;
    let entropy = 0;
    for (const count of counts.values()) entropy -= (count / run.length) * Math.log2(count / run.length);
    return changes / run.length >= 0.45 && entropy >= 4.3;
}

function kindOf(char: string): string {
    if (char >= '0' && char <= '9') return 'digit';
    if (char >= 'a' && char <= 'z') return 'small';
    return char >= 'A' && char <= 'Z' ? 'capital' : 'sign';
}

function isReadableInBase64(run: string): boolean {
    const bytes = Buffer.from(run.slice(0, 256), 'base64');
    let readable = 0;
    for (const byte of bytes) {
        if (byte >= 0x20 && byte < 0x7f) readable++;
    }
    return bytes.length > 0 && readable / bytes.length >= 0.9;
}
