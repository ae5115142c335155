import type { PackageDocument } from '../../shared/domain/types.ts';
import * as accounts from '../../shared/store/accounts/accounts.ts';
import { checkAnswer } from './answers.ts';
import type { World } from './world.ts';

/** An answer of the API as a caller sees it. */
export interface Answer<Body = Record<string, unknown>> {
    status: number;
    headers: Headers;
    body: Body;
    /** The body as it was sent, where the person called. */
    text?: string;
}

type Fields = Record<string, never> | Record<string, unknown>;

/** Somebody who calls the API, with a key of theirs or without one. */
export interface Person {
    readonly apiKey: string | undefined;
    readonly userId: string;
    readonly workspaceId: string;
    call(method: string, path: string, options?: { body?: unknown; headers?: Record<string, string>; base?: string }): Promise<Answer>;
    fetch(site: string, endpoint: string, params?: Fields, more?: Fields): Promise<Answer>;
    publish(document: PackageDocument | object, query?: string): Promise<Answer>;
}

let people = 0;

/** A new account with a key; `credits` is bonus on top of the plan's allowance. */
export async function join(
    world: World,
    options: { plan?: 'free' | 'starter' | 'pro' | 'enterprise'; credits?: number; overrides?: accounts.NewAccount['overrides'] } = {},
): Promise<Person> {
    people += 1;
    const { plan = 'free', credits = 0, overrides } = options;
    const made = await accounts.createAccount(world.app.db, {
        email: `person${people}@people.example`,
        plan,
        bonus: credits,
        ...(overrides === undefined ? {} : { overrides }),
    });
    return person(world, made);
}

/** Somebody without a key. */
export function stranger(world: World): Person {
    return person(world, { apiKey: undefined, userId: '', workspaceId: '' });
}

/** The same person with another key. */
export function withKey(world: World, apiKey: string): Person {
    return person(world, { apiKey, userId: '', workspaceId: '' });
}

function person(world: World, made: { apiKey: string | undefined; userId: string; workspaceId: string }): Person {
    const { apiKey, userId, workspaceId } = made;
    const call: Person['call'] = async (method, path, { body, headers = {}, base = world.base } = {}) => {
        const response = await fetch(`${base}${path}`, {
            method,
            headers: {
                ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
                ...(body === undefined ? {} : { 'content-type': 'application/json' }),
                ...headers,
            },
            ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
        });
        const text = await response.text();
        const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false;
        // HEAD answers say that they are JSON and have no body.
        const answer = {
            status: response.status,
            headers: response.headers,
            body: isJson && text !== '' ? JSON.parse(text) : { text },
            text,
        };
        checkAnswer(method, path, answer);
        return answer;
    };
    return {
        apiKey,
        userId,
        workspaceId,
        call,
        fetch: (site, endpoint, params = {}, more = {}) => call('POST', '/v1/fetch', { body: { site, endpoint, params, ...more } }),
        publish: (document, query = '') => call('POST', `/v1/schemas${query}`, { body: document }),
    };
}
