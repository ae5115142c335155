import type { WindowState } from './types.ts';

/** `X-RateLimit-*` describes the tightest window. The structured fields of the IETF draft describe all windows (docs/api.md, "Limits"). */
export function limitHeaders(windows: readonly WindowState[]): Record<string, string> {
    // On a tie, the window that resets last.
    const [tightest] = windows.toSorted((a, b) => a.remaining - b.remaining || b.resetsIn - a.resetsIn);
    if (tightest === undefined) return {};
    return {
        'RateLimit-Policy': windows.map(({ name, limit, seconds }) => `"${name}";q=${limit};w=${seconds}`).join(', '),
        RateLimit: windows.map(({ name, remaining, resetsIn }) => `"${name}";r=${remaining};t=${resetsIn}`).join(', '),
        'X-RateLimit-Limit': String(tightest.limit),
        'X-RateLimit-Remaining': String(tightest.remaining),
        'X-RateLimit-Reset': String(tightest.resetsIn),
    };
}
