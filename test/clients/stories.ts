import { readFileSync } from 'node:fs';
import type { Json, JsonObject } from '../../shared/domain/types.ts';

/**
 * One promise of every client, in a form that each language can run (`stories.json`). `result` and `error` are the required parts of the
 * outcome.
 */
export interface Story {
    story: string;
    /** The call, in the names of the runners, and its arguments. */
    call: string;
    with: JsonObject;
    /** Options of the client; `api_key: null` is a client without a key. Seconds, not milliseconds. */
    options?: { api_key?: null; max_retries?: number; max_answer_bytes?: number; timeout?: number };
    /** Runs against Routebook itself instead of scripted responses. */
    live?: true;
    /** The server's responses, one after the other. The last one is repeated. */
    answers?: Answer[];
    /** The requests that the server got, in this order. */
    asked?: Asked[];
    /** All requests carried the same Idempotency-Key. */
    one_key?: true;
    webhook?: WebhookFacts;
    result?: Json;
    /** A part of the JSON text of the result, for numbers that tests would round. */
    result_text?: string;
    /** The list has no guaranteed order: sort it by this field first. */
    sort_by?: string;
    error?: JsonObject;
}

/** `lost` closes the connection; `never` leaves it open; `endless` and `endless_error` send a body that does not end. */
type Answer =
    | 'lost'
    | 'never'
    | 'endless'
    | 'endless_error'
    | { status: number; headers?: Record<string, string>; body?: JsonObject; text?: string };

export interface Asked {
    method?: string;
    path?: string;
    query?: Record<string, string>;
    body?: Json;
    /** The number of JSON lines in the body. */
    lines?: number;
    headers?: Record<string, string>;
    /** Headers that must be absent. */
    without?: string[];
}

/** A webhook delivery. By default, its sender knows the secret of the story. */
export interface WebhookFacts {
    id: string;
    /** Seconds since it was signed. */
    age: number;
    secret?: string;
    /** The signed body, if another one is sent. */
    body?: string;
    /** Other signatures beside its own. */
    others?: string[];
    leave_out?: string;
}

export const STORIES = JSON.parse(readFileSync(new URL('stories.json', import.meta.url), 'utf8')) as Story[];

/** A runner's outcome of a story. */
export type Outcome = { result: Json; text: string } | { error: JsonObject };
