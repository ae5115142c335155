/** So long beyond its time a connection may take; then the other one is used. */
export const HANGING_MS = 1000;

/** Whether it ends in time. @throws what it throws until then */
export async function endsWithin(work: Promise<unknown>, ms: number): Promise<boolean> {
    const late = Promise.withResolvers<false>();
    const timer = setTimeout(late.resolve, ms, false).unref();
    try {
        return await Promise.race([work.then(() => true), late.promise]);
    } finally {
        clearTimeout(timer);
    }
}
