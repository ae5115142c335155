const BROWSERS: readonly (readonly [RegExp, string])[] = [
    [/\bEdg\//, 'Edge'],
    [/\bOPR\//, 'Opera'],
    [/\bFirefox\//, 'Firefox'],
    [/\b(Chrome|Chromium|HeadlessChrome)\//, 'Chrome'],
    [/\bSafari\//, 'Safari'],
];

const SYSTEMS: readonly (readonly [RegExp, string])[] = [
    [/\b(iPhone|iPad)\b/, 'iOS'],
    [/\bAndroid\b/, 'Android'],
    [/\bWindows\b/, 'Windows'],
    [/\bMac OS X\b/, 'macOS'],
    [/\bLinux\b/, 'Linux'],
];

/** A short name such as `Firefox on Linux`, from a User-Agent header. */
export function browserName(userAgent: string): string {
    const find = (table: typeof BROWSERS) => table.find(([pattern]) => pattern.test(userAgent))?.[1];
    const [browser, system] = [find(BROWSERS) ?? 'A browser', find(SYSTEMS)];
    return system === undefined ? browser : `${browser} on ${system}`;
}
