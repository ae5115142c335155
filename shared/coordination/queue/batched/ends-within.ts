/** How far a call may run over its time before the worker uses its other connection, in milliseconds. */
export const HANGING_MS = 1000;

/** Whether the work ends in time. @throws what the work throws until then */
export async function endsWithin(work: Promise<unknown>, ms: number): Promise<boolean> {
    const late = Promise.withResolvers<false>();
    const timer = setTimeout(late.resolve, ms, false).unref();
    try {
        return await Promise.race([work.then(() => true), late.promise]);
    } finally {
        clearTimeout(timer);
    }
}
