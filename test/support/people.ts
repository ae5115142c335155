import type { PackageDocument } from '../../shared/domain/types.ts';
import * as accounts from '../../shared/store/accounts/accounts.ts';
import { checkAnswer } from './answers.ts';
import type { World } from './world.ts';

/** An answer of the API as a caller sees it. */
export interface Answer<Body = Record<string, unknown>> {
    status: number;
    headers: Headers;
    body: Body;
    /** The original body, if the person made the call. */
    text?: string;
}

type Fields = Record<string, never> | Record<string, unknown>;

/** A caller of the API, with or without a key. */
export interface Person {
    readonly apiKey: string | undefined;
    readonly userId: string;
    readonly workspaceId: string;
    call(method: string, path: string, options?: { body?: unknown; headers?: Record<string, string>; base?: string }): Promise<Answer>;
    fetch(site: string, endpoint: string, params?: Fields, more?: Fields): Promise<Answer>;
    publish(document: PackageDocument | object, query?: string): Promise<Answer>;
}

let people = 0;

/** Creates an account with a key. `credits` are a bonus beyond the plan's allowance. */
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

/** A caller without a key. */
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
        // HEAD answers have the content type JSON but no body.
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
