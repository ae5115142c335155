import type { Request, RequestApplicationState } from '@hapi/hapi';
import type { ErrorBody } from '../../shared/refusals.ts';
import type { Caller } from '../../shared/store/accounts/callers.ts';
import { callOwnApi } from '../answers/own-api.ts';

export interface ApiCall {
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
    path: string;
    /** A value, or JSON text. */
    body?: object | string | undefined;
    headers?: Readonly<Record<string, string>>;
    /** By default the visitor in the selected workspace, but nobody on pages that are for anyone. */
    as?: Caller | undefined;
}

export type ApiAnswer = { headers: Readonly<Record<string, unknown>> } & (
    | {
          ok: true;
          body: Readonly<Record<string, unknown>>;
          /** Whether the answer is too large, so that `body` is only its beginning. */
          isCut: boolean;
      }
    | { ok: false; refused: ErrorBody }
);

export type Ask = (call: ApiCall) => Promise<ApiAnswer>;

/** Calls the API for a page, by default as this caller. Cancelled when the visitor disconnects. */
export function askFor(request: Request, caller: Caller | undefined, app: Pick<RequestApplicationState, 'gone' | 'visitorAgain'>): Ask {
    return async ({ as = caller, ...call }) => {
        const { error, headers, body, isCut } = await callOwnApi(request, { ...call, as, app });
        return error === undefined ? { ok: true, headers, body, isCut } : { ok: false, headers, refused: error };
    };
}
