import type { App } from '../shared/app.ts';

const SWEEP_MS = 1000;

/**
 * Once a second: releases holds whose request never ended, and resets allowances of accounts that nobody used on their
 * billing date. Every process may run it; the store lets each row be swept once.
 */
export function startSweeper({ credits, log }: App): { stop(): Promise<void> } {
    let running: Promise<void> = Promise.resolve();
    const timer = setInterval(() => {
        running = running.then(async () => {
            try {
                const swept = await credits.sweep();
                if (swept.released > 0) log.info({ released: swept.released }, 'released holds whose request never ended');
            } catch (error) {
                log.warn({ part: 'sweep', err: error }, 'the sweep failed; it runs again in a second');
            }
        });
    }, SWEEP_MS);
    return {
        async stop() {
            clearInterval(timer);
            await running;
        },
    };
}
