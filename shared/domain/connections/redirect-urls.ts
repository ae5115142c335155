export const MAX_REDIRECTS = 20;

/** Why a list of redirect URLs is rejected; undefined if it is valid. */
export function redirectProblem(urls: readonly string[]): string | undefined {
    if (urls.length > MAX_REDIRECTS) return `At most ${MAX_REDIRECTS} URLs are accepted.`;
    const wrong = urls.find((text) => !isRedirectUrl(text));
    return wrong && `${wrong.slice(0, 100)} is not a URL with https, or with http on a loopback address.`;
}

function isRedirectUrl(text: string): boolean {
    const url = text.length > 2048 ? null : URL.parse(text);
    if (url === null || url.username !== '' || url.password !== '' || url.hash !== '') return false;
    const isLoopback = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname);
    return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback);
}

export function hostOf(url: string): string {
    return new URL(url).host;
}
