/** Begins the line in which a load that was stopped tells how many calls it sent a second. */
export const SENT = 'sent a second: ';

/** Has SIGTERM end this process with that line; the time counts from now. */
export function tellWhenStopped(countSent: () => number): void {
    const began = performance.now();
    process.once('SIGTERM', () => {
        const perSecond = countSent() / ((performance.now() - began) / 1000);
        process.stdout.write(`${SENT}${perSecond}\n`, () => process.exit(0));
    });
}
