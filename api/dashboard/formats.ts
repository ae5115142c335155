/** Formats numbers and times for pages. Views use it as `it.f`. Times are UTC, as everywhere in the product. */
export const formats = {
    /** `15,000` */
    number: (value: number) => value.toLocaleString('en-US'),
    /** `3 calls`, `1 call` */
    count: (value: number, one: string, many = `${one}s`) => `${value.toLocaleString('en-US')} ${value === 1 ? one : many}`,
    /** `21 Nov 2026` */
    day: (date: Date) => DAY.format(date),
    /** `21 Nov 2026, 14:05 UTC` */
    moment: (date: Date) => `${DAY.format(date)}, ${TIME.format(date)} UTC`,
    /** `21 Nov 14:05:09`, for lists that reach back less than a year */
    second: (date: Date) => SECOND.format(date).replace(',', ''),
    /** `21 Nov 2026, 14:05:09`, for lists that reach back longer */
    exact: (date: Date) => `${DAY.format(date)}, ${CLOCK.format(date)}`,
    /** `3 minutes ago`; `now` comes from the page's clock. */
    ago(date: Date, now: number) {
        const seconds = Math.max(0, Math.round((now - date.getTime()) / 1000));
        if (seconds < 60) return 'just now';
        const [size, unit] = STEPS.findLast(([min]) => seconds >= min) ?? [60, 'minute'];
        return `${formats.count(Math.floor(seconds / size), unit)} ago`;
    },
    /** `in 3 days`; `in less than a minute` also for a past date. */
    until(date: Date, now: number) {
        const seconds = Math.max(0, Math.round((date.getTime() - now) / 1000));
        if (seconds < 60) return 'in less than a minute';
        const [size, unit] = STEPS.findLast(([min]) => seconds >= min) ?? [60, 'minute'];
        return `in ${formats.count(Math.round(seconds / size), unit)}`;
    },
    /** `every hour`, `every 15 minutes`; from `1h`, `15m` */
    every(text: string) {
        const unit = { m: 'minute', h: 'hour', d: 'day' }[text.slice(-1)] ?? text.slice(-1);
        const count = Number(text.slice(0, -1));
        return `every ${count === 1 ? unit : formats.count(count, unit)}`;
    },
    /** `about 12 seconds`. Uses minutes, hours or days from two of that unit on. */
    about(seconds: number) {
        const [size, unit] = STEPS.findLast(([min]) => seconds >= 2 * min) ?? [1, 'second'];
        return `about ${formats.count(Math.max(1, Math.round(seconds / size)), unit)}`;
    },
    /** `$49.00`, from the amount in cents of any currency. */
    money: (cents: number, currency: string) => (cents / 100).toLocaleString('en-US', { style: 'currency', currency }),
    /** For the `datetime` of a `<time>`. */
    iso: (date: Date) => date.toISOString(),
};

const DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' });
const TIME = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', timeZone: 'UTC' });
const CLOCK = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium', timeZone: 'UTC' });
const SECOND = new Intl.DateTimeFormat('en-GB', {
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    timeZone: 'UTC',
});
const STEPS: readonly (readonly [number, string])[] = [
    [60, 'minute'],
    [3600, 'hour'],
    [86_400, 'day'],
];
