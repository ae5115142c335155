import type { Request } from '@hapi/hapi';

/** Aborted when the connection closes before the answer was written; made only for routes that ask. */
export function goneSignal(request: Request): AbortSignal {
    const controller = new AbortController();
    const { res } = request.raw;
    res.once('close', () => {
        if (!res.writableFinished) controller.abort();
    });
    return controller.signal;
}
