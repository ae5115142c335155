import type { Told } from './ask.ts';

const BY_CODE: ReadonlyMap<string, string> = new Map([
    ['API_KEY_REQUIRED', 'This needs an API key. Ask the person you work for to sign up and give you one.'],
    ['INVALID_API_KEY', 'The key is mistyped, revoked or expired. Ask for another one.'],
    ['INSUFFICIENT_CREDITS', 'The credits are used up. Tell the person you work for; upgrade_url leads to more.'],
    ['SPENDING_LIMIT', 'A cap that the account set itself is reached. Tell the person you work for.'],
    ['FORBIDDEN', 'The key you work with may not do this; the message says which scope it lacks. Tell the person you work for.'],
    [
        'SITE_NOT_FOUND',
        'Nobody has described this site yet. Use one of did_you_mean if that was meant, look for another one with find_endpoint, or ask for it with request_schema.',
    ],
    ['ENDPOINT_NOT_FOUND', 'The site has no such endpoint. Use one of did_you_mean, or look the site up again.'],
    ['ENDPOINT_NOT_HOSTED', 'This endpoint is for calling it yourself: build the request from what look_up_site says.'],
    ['INVALID_PARAMS', 'Correct the params that details name, as look_up_site describes them, and call again.'],
    ['SITE_BLOCKED', 'The owner of this site does not want it called. Do not try again.'],
    ['UPSTREAM_BLOCKED', 'The site shows a bot wall. Do not try to get round it.'],
    [
        'UPSTREAM_INVALID_RESPONSE',
        'The site has changed and its schema no longer fits. Tell the person you work for, or use another endpoint.',
    ],
    ['UPSTREAM_STATUS', 'The site itself refused; upstream has its status and what it said. Check the params before you call again.'],
    ['OUTCOME_UNKNOWN', 'It may have happened or not. Do not repeat it; look at the site whether it happened.'],
]);

/** One or two sentences on what an agent does next. */
export function whatToDo({ code, retryable, retry_after: seconds, details = [] }: Told): string {
    const known = BY_CODE.get(code);
    const again = retryable ? `The same call may succeed ${seconds === undefined ? 'in a moment' : `in ${seconds} s`}.` : undefined;
    const correct = known === undefined && details.length > 0 ? 'Correct what details name, and call again.' : undefined;
    return [known, correct, again].filter((text) => text !== undefined).join(' ') || 'Do not repeat this call as it is.';
}
