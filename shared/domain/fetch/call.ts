import type { Detail, RefusalCode } from '../../refusals.ts';
import type { BlockedPath } from '../site/site-policy.ts';
import type { Effect } from '../types.ts';
import type { PaginationEnd } from './pages.ts';

/**
 * Messages of the queue. A job names an immutable version and carries the bound values, nothing large; an outcome is a
 * value in both directions: an expected refusal is no exception (docs/ARCHITECTURE.md, "the path of a fetch").
 */
export interface FetchJob {
    /** Our own id of this call: holds, ledger, job and reply hang on it. `op_…` */
    operation: string;
    /** Only logged. */
    requestId: string;
    site: string;
    /** Row id of the immutable version that was chosen at admission. */
    versionId: number;
    endpoint: string;
    effect: Effect;
    /**
     * Bound values, defaults filled in, as the text of a JSON object: sites get the order of keys and the digits that their caller gave,
     * and PostgreSQL's jsonb would change both.
     */
    values: string;
    /** Absolute end of the site's time, milliseconds since the epoch, real time: the caller's wait, less what a charge takes. */
    deadlineAt: number;
    /** When the API admitted the call, milliseconds since the epoch, real time. */
    admittedAt: number;
    /** The most results; the hold pays for them. */
    maxResults: number;
    /** The most pages; the hold pays for them. */
    maxPages: number;
    /** Where the walk over pages begins, if not with the first page: as `writeContinuation` made it. */
    from?: string;
    /** Whether the pages before one that fails are the result. */
    partial?: true;
    /** Package and caller ask for more results or pages than the hold pays for. */
    isCutByCredits?: true;
    /**
     * Present where each request towards the site has to wait for its turn. `rate`: requests a second that owner or operator allow the
     * whole domain. `hosts`: requests a minute to a host, as packages ask for.
     */
    pace?: { rate?: number; hosts?: Readonly<Record<string, number>> };
    /**
     * A job or an item of a batch: it takes a turn only when that is free now, so that live calls are first. `turn`: the host whose turn it
     * took before it began.
     */
    queued?: { turn?: string };
    /** Paths that the site's owner blocks, in the package, in page links and in redirects. */
    blockedPaths?: readonly BlockedPath[];
    /** `con_…`: a worker opens its value in the moment of the call. */
    connection?: string;
    /** Counts its values: the worker sends none that is older. */
    connectionRevision?: number;
    /** 1 on the first run; 2 when a read runs again after its worker died. */
    run: number;
}

export interface UpstreamFigures {
    status: number;
    /** Requests sent, retries and redirects' first tries included. */
    attempts: number;
    durationMs: number;
    /** Body bytes after decompression. */
    bytes: number;
}

export type FetchOutcome =
    | {
          ok: true;
          /** The result for the caller, as the text of a JSON object. */
          text: string;
          /** Length of the array at `billing.results`, otherwise 1. */
          results: number;
          /** Pages that are billed: 1, or for `paginate` the pages fetched that had items. */
          requests: number;
          truncated: boolean;
          /** Present where pages were followed. */
          paginationEnd?: PaginationEnd;
          /** Where the walk goes on, as `writeContinuation` made it; present where it stopped before its last page. */
          next?: string;
          /** The same, sealed for the caller. */
          nextCursor?: string;
          /** The page that ended the walk of a `partial` call. */
          failedPage?: FailedPage;
          /** The answer is a page of HTML that asks to sign in. */
          isLogin?: true;
          /** Whether the site allows that it is served again to the account that paid for it (`max_age`). */
          mayKeep: boolean;
          upstream: UpstreamFigures;
          /** The hosts that the call reached out to, each once, in the order of its last request; the call ended at the last one. */
          hosts?: readonly string[];
          /** When a worker picked the job up, milliseconds since the epoch. */
          startedAt: number;
          /** For how long a worker had it, in milliseconds; 0: it was dropped. */
          ranMs?: number;
      }
    | FetchFailure;

/** Why a page of a walk failed whose other pages are answered. */
export type FailedPage = Pick<FetchFailure, 'code' | 'message' | 'upstream' | 'isCallers'>;

export interface FetchFailure {
    ok: false;
    code: RefusalCode;
    /** Public; the table's meaning when absent. */
    message?: string;
    details?: Detail[];
    /** Whole seconds. */
    retryAfter?: number;
    upstream?: { status: number; snippet: string };
    /** The site refused the caller's own credential, which says nothing of the site or its schema. */
    isCallers?: true;
    /** As of a success. */
    hosts?: readonly string[];
    /**
     * No worker reported: it died, or the reply did not come by the deadline. The API looks at the hold's mark to tell
     * DEADLINE_EXCEEDED from OUTCOME_UNKNOWN, and may queue a read once more.
     */
    lost?: 'worker' | 'deadline';
    /** The worker that marked this write as sent had no time left to send it. Nobody else can tell: a second worker finds only the mark. */
    isUnsent?: true;
    startedAt?: number;
    ranMs?: number;
    attempts?: number;
}
