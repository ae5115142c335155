/** The allowed length of a password. Longer passwords are no safer and take longer to hash. */
const PASSWORD_LENGTH = { min: 10, max: 200 } as const;

/** Common beginnings of passwords. Additional digits and punctuation do not make them safer. */
const COMMON = ['password', 'passwort', 'qwertyuiop', 'qwerty', 'letmein', 'iloveyou', 'administrator', 'welcome', 'routebook', 'changeme'];

/**
 * Checks a new password. Returns a sentence, or undefined if the password is acceptable. The length matters, not the kinds of characters
 * (NIST SP 800-63B). Passwords that attackers try first are refused.
 * @param isCommon whether a lower-case text is one of the most common passwords
 */
export function passwordProblem(password: string, address: string, isCommon: (text: string) => boolean): string | undefined {
    const length = [...password].length;
    if (length < PASSWORD_LENGTH.min) return `Use at least ${PASSWORD_LENGTH.min} characters. A few words are easy to remember.`;
    if (length > PASSWORD_LENGTH.max) return `Use at most ${PASSWORD_LENGTH.max} characters.`;
    const plain = password.toLowerCase();
    const local = address.toLowerCase().split('@')[0] ?? '';
    if (/^\d+$/.test(plain) && length < 16) return 'Digits alone are easy to guess. Add a few words.';
    if (new Set(plain).size < 5 || isRun(plain)) return 'This password repeats itself and is easy to guess.';
    if (isCommon(plain) || isCommonWithPadding(plain, isCommon)) return 'This password is too common.';
    const rest = [...COMMON, local].filter((word) => word.length >= 4).reduce((text, word) => text.replaceAll(word, ''), plain);
    if (rest.replaceAll(/[^\p{L}]/gu, '').length === 0 && rest.length < 8) return 'This password is too common.';
    return undefined;
}

/** `letmein12345`: after common passwords, attackers try them with a few digits and punctuation marks around them. */
function isCommonWithPadding(plain: string, isCommon: (text: string) => boolean): boolean {
    const core = plain.replaceAll(/^[^\p{L}]+|[^\p{L}]+$/gu, '');
    return core.length >= 4 && plain.length - core.length < 8 && isCommon(core);
}

/** `abcdefghij`, `0987654321`: each character follows the previous one. */
function isRun(text: string): boolean {
    const steps = new Set([...text].slice(1).map((sign, index) => (sign.codePointAt(0) ?? 0) - ([...text][index]?.codePointAt(0) ?? 0)));
    const [step = 0] = steps;
    return steps.size === 1 && Math.abs(step) <= 1;
}
