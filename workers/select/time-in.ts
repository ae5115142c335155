/** `2026-11-24`, `2026-11-24T10:00:00+01:00` and the like. */
const ISO = /^(\d{4}-\d\d(?:-\d\d)?)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)\s?(Z|[+-]\d\d:?\d\d)?)?$/i;

/** `Tue, 24 Nov 2026 10:00:00 GMT` and the like (RFC 822). */
const MAIL = /^(?:[a-z]{3,9},?\s+)?\d{1,2}\s+[a-z]{3,9}\s+\d{2,4}\s+\d{1,2}:\d\d(?::\d\d)?(\s*(?:[+-]\d{4}|[a-z]{1,4}))?$/i;

/**
 * The time in a text of a feed, in UTC with milliseconds; null without one. A time without a zone is in UTC.
 * @param text a time in the format of ISO 8601 or RFC 822
 */
export function timeIn(text: unknown): string | null {
    const written = typeof text === 'string' ? text.trim() : '';
    const time = new Date(isoTime(written) ?? mailTime(written) ?? Number.NaN);
    return Number.isNaN(time.getTime()) ? null : time.toISOString();
}

function isoTime(text: string): string | undefined {
    const [, day, time, zone = 'Z'] = ISO.exec(text) ?? [];
    if (day === undefined || time === undefined) return day;
    return `${day}T${time}${zone.toUpperCase().replace(/^([+-]\d\d)(\d\d)$/, '$1:$2')}`;
}

function mailTime(text: string): string | undefined {
    const found = MAIL.exec(text);
    return found === null || found[1] !== undefined ? found?.[0] : `${text} GMT`;
}
