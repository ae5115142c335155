import type { Detail, RefusalCode } from '../../refusals.ts';
import type { BlockedPath } from '../site/site-policy.ts';
import type { Effect } from '../types.ts';
import type { LoginSign } from './login-words.ts';
import type { PaginationEnd } from './pages.ts';

/** Messages of the queue, without anything large. An expected refusal is an outcome, not an exception (docs/ARCHITECTURE.md, "A fetch"). */
export interface FetchJob {
    /** `op_…`: our id of this call. Hold, ledger, job and reply refer to it. */
    operation: string;
    /** Used for logs only. */
    requestId: string;
    /** The account that pays, if any. Accounts take turns when answers are read. */
    account?: string | undefined;
    site: string;
    /** Row id of the immutable version that the admission chose. */
    versionId: number;
    endpoint: string;
    effect: Effect;
    /** Bound values, with defaults, as JSON text: jsonb would change the order of keys and the digits that callers gave. */
    values: string;
    /** When the site must have answered, in milliseconds since the epoch: the caller's deadline minus the time for the charge. */
    deadlineAt: number;
    /** When the API admitted the call, in milliseconds since the epoch (real time). */
    admittedAt: number;
    /** Maximum number of results that the hold pays for. */
    maxResults: number;
    /** Maximum number of pages that the hold pays for. */
    maxPages: number;
    /** The page from which a paginated call continues, in the format of `writeContinuation`; absent: the first page. */
    from?: string | undefined;
    /** Whether the call returns the earlier pages when a page fails. */
    partial?: true | undefined;
    /** The package and the caller ask for more results or pages than the hold pays for. */
    isCutByCredits?: true | undefined;
    /** Present if requests wait for turns: `rate` a second to the domain (owner, operator), `hosts` a minute to a host (packages). */
    pace?: { rate?: number | undefined; hosts?: Readonly<Record<string, number>> | undefined } | undefined;
    /** For jobs and batch items, which only take free turns, so that live calls go first. `turn`: the host whose turn it has. */
    queued?: { turn?: string | undefined } | undefined;
    /** Paths that the owner of the site blocks in packages, in page links and in redirects. */
    blockedPaths?: readonly BlockedPath[] | undefined;
    /** `con_…`: the connection. A worker decrypts its value only when it sends the request. */
    connection?: string | undefined;
    /** The revision of the connection's value. A worker never sends an older value. */
    connectionRevision?: number | undefined;
    /** 1 on the first run; 2 when a read runs again after its worker died. */
    run: number;
}

export interface UpstreamFigures {
    status: number;
    /** Number of requests sent, including retries and requests that were redirected. */
    attempts: number;
    durationMs: number;
    /** Size of the bodies after decompression, in bytes. */
    bytes: number;
}

export type FetchOutcome =
    | {
          ok: true;
          /** The result for the caller, as the text of a JSON object. */
          text: string;
          /** Length of the array at `billing.results`, otherwise 1. */
          results: number;
          /** Number of billed pages: 1, or for `paginate` the number of fetched pages that had items. */
          requests: number;
          truncated: boolean;
          paginationEnd?: PaginationEnd;
          /** Where the next call continues, in the format of `writeContinuation`. Present if the call stopped before the last page. */
          next?: string;
          /** The same position, encrypted for the caller. */
          nextCursor?: string;
          /** The page that failed and ended a `partial` call. */
          failedPage?: FailedPage;
          /** Whether the answer is HTML that asks the user to sign in. */
          login?: LoginSign;
          /** Whether the site allows the answer to be stored and returned again to the account that paid for it (`max_age`). */
          mayKeep: boolean;
          upstream: UpstreamFigures;
          /** The hosts that the call sent requests to, each once, in the order of their last requests. The call ended at the last host. */
          hosts?: readonly string[];
          /** When a worker took the job, in milliseconds since the epoch. */
          startedAt: number;
          /** How long a worker ran the job, in milliseconds; 0: the worker dropped it. */
          ranMs?: number;
      }
    | FetchFailure;

/** Why one page failed in a call that returns the other pages. */
export type FailedPage = Pick<FetchFailure, 'code' | 'message' | 'upstream' | 'isCallers'>;

export interface FetchFailure {
    ok: false;
    code: RefusalCode;
    /** Shown to the caller. Absent: the default message of the code. */
    message?: string | undefined;
    details?: Detail[];
    /** Whole seconds. */
    retryAfter?: number;
    upstream?: { status: number; snippet: string };
    /** The site refused the credential of the caller. This says nothing about the site or its schema. */
    isCallers?: true;
    /** Like the field of a success. */
    hosts?: readonly string[];
    /** No worker reported in time. The sent mark of the hold decides between DEADLINE_EXCEEDED and OUTCOME_UNKNOWN. */
    lost?: 'worker' | 'deadline';
    /** This worker marked the write as sent, but had no time left to send it. Others see only the mark. */
    isUnsent?: true;
    startedAt?: number;
    ranMs?: number;
    attempts?: number;
}
