/** Beginning of the line in which a stopped load prints how many calls it sent per second. */
export const SENT = 'sent a second: ';

/** Ends this process at SIGTERM and prints that line. The time counts from now. */
export function printRateWhenStopped(countSent: () => number): void {
    const began = performance.now();
    process.once('SIGTERM', () => {
        const perSecond = countSent() / ((performance.now() - began) / 1000);
        process.stdout.write(`${SENT}${perSecond}\n`, () => process.exit(0));
    });
}
