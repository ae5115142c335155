import type { FetchRequest } from '../../shared/contracts/fetch.ts';
import type { OnceRules } from '../answers/idempotency.ts';
import { AFTERMATH_MS } from './deadlines.ts';
import { judgeReplay } from './judge-replay.ts';

/** The rules of an Idempotency-Key for a fetch: dry runs are not stored, and an answer that is forbidden by now is not replayed. */
export const fetchOnce: OnceRules<FetchRequest> = {
    isKept: (body) => body.dry_run !== true,
    lastsMs: ({ app, body }) => (body.timeout_ms ?? app.config.fetchTimeoutMs) + AFTERMATH_MS,
    mayReplay: judgeReplay,
};
