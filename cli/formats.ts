/** Formats of numbers and times for people. `--json` prints them as the API sends them. Times are UTC. */

/** `15,000` */
export const formatNumber = (value: number): string => value.toLocaleString('en-US');

/** `23 Dec 2026` @param time ISO 8601 */
export const formatDay = (time: string): string => DAY.format(new Date(time));

/** `59 s`, `59 min`, `3 h` */
export function formatSeconds(seconds: number): string {
    if (seconds < 60) return `${seconds} s`;
    return seconds < 2 * 3600 ? `${Math.floor(seconds / 60)} min` : `${Math.floor(seconds / 3600)} h`;
}

const DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' });
