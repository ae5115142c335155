/** "Sign in" in titles, headings and paths of pages, in several languages. */
const LOGIN =
    /(?<!\p{L})(?:log|sign)[\s_-]{0,2}[io]n(?!\p{L})|(?<!\p{L})(?:anmelden|anmeldung|einloggen|inloggen|logga in|connexion|se connecter|accedi|acceso|iniciar sesi[oó]n|iniciar sess[aã]o|войти|вход)(?!\p{L})/iu;

/** `page`: a sign-in page; `form`: a page with only one sign of it, as many other pages have. */
export type LoginSign = 'page' | 'form';

export function isLoginTitle(text: string): boolean {
    return LOGIN.test(text.slice(0, 500));
}

/** A sign-in page asks for a password and says so in these texts: title, first heading and path. Any page may do one of both. */
export function loginSign(asksForPassword: boolean, texts: readonly string[]): LoginSign | undefined {
    const says = texts.some(isLoginTitle);
    if (asksForPassword && says) return 'page';
    return asksForPassword || says ? 'form' : undefined;
}
