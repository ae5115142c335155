import { readFileSync } from 'node:fs';
import type { Json, JsonObject } from '../../shared/domain/types.ts';

/**
 * One promise of every client, in a form that each language can run (`stories.json`). `result` and `error` name what has to be in the
 * outcome; more may be.
 */
export interface Story {
    story: string;
    /** What the user calls, in the words of the runners, and with what. */
    call: string;
    with: JsonObject;
    /** Of the client; `api_key: null` is a client without a key. Seconds, not milliseconds. */
    options?: { api_key?: null; max_retries?: number; timeout?: number };
    /** Runs against Routebook itself, not against a server that answers as told. */
    live?: true;
    /** What the server answers, one after the other; the last one goes on. */
    answers?: Answer[];
    /** What the server was asked, in this order, and how often. */
    asked?: Asked[];
    /** All requests carried the same Idempotency-Key. */
    one_key?: true;
    webhook?: WebhookFacts;
    result?: Json;
    /** Stands in the JSON text of the result, for numbers that tests would round. */
    result_text?: string;
    /** The order of the list is not promised: sort it by this field first. */
    sort_by?: string;
    error?: JsonObject;
}

/** `lost` breaks the connection off; `never` leaves it open. */
export type Answer = 'lost' | 'never' | { status: number; headers?: Record<string, string>; body?: JsonObject; text?: string };

export interface Asked {
    method?: string;
    path?: string;
    query?: Record<string, string>;
    body?: Json;
    /** How many lines of JSON the body has. */
    lines?: number;
    headers?: Record<string, string>;
    /** Headers that must not be there. */
    without?: string[];
}

/** How a webhook is sent, by a sender that knows the secret of the story unless it says otherwise. */
export interface WebhookFacts {
    id: string;
    /** Seconds since it was signed. */
    age: number;
    secret?: string;
    /** The body that is signed, where it is not the one that is sent. */
    body?: string;
    /** Other signatures beside its own. */
    others?: string[];
    leave_out?: string;
}

export const STORIES = JSON.parse(readFileSync(new URL('stories.json', import.meta.url), 'utf8')) as Story[];

/** What a runner hands back for a story. */
export type Outcome = { result: Json; text: string } | { error: JsonObject };
