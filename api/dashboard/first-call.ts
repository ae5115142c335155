import { LRUCache } from 'lru-cache';
import type { App } from '../../shared/app.ts';
import { shellWord } from '../../shared/domain/text/shell-word.ts';
import { type FirstCall, findFirstCall } from '../../shared/store/usage/first-call.ts';

interface CurlLine {
    /** Works unchanged in any POSIX shell. */
    line: string;
    /** Describes the call. Pages show it after a name and a colon. */
    words: string;
    /** Whether the call is a fetch. Fetches are charged, and the user's first one earns a bonus. */
    isFetch: boolean;
}

/** Cached, since packages are large and change rarely. */
const firstCalls = new LRUCache<App, { call: FirstCall | undefined }>({
    max: 10,
    ttl: 30_000,
    fetchMethod: async (app) => ({ call: await findFirstCall(app.db) }),
});

/**
 * Builds a `curl` line with a key, or with the environment variable ROUTEBOOK_API_KEY. It fetches from a site that has an example or, if no
 * site has one, reads the account.
 */
export async function curlLine(app: App, apiKey?: string): Promise<CurlLine> {
    const { call } = await firstCalls.forceFetch(app);
    const authorization = `-H ${apiKey === undefined ? '"Authorization: Bearer $ROUTEBOOK_API_KEY"' : shellWord(`Authorization: Bearer ${apiKey}`)}`;
    if (call === undefined) {
        return {
            line: `curl -s ${app.publicUrl()}/v1/account ${authorization}`,
            words: 'it shows your plan and remaining credits.',
            isFetch: false,
        };
    }
    const body = JSON.stringify({ site: call.site, endpoint: call.endpoint, params: call.params });
    return {
        line: `curl -s ${app.publicUrl()}/v1/fetch ${authorization} -H 'Content-Type: application/json' -d ${shellWord(body)}`,
        words: `it calls ${call.endpoint} on ${call.site} for one credit.`,
        isFetch: true,
    };
}

/** Commands that sign in and queue the same call, for a terminal. Without a suitable endpoint only the first one. */
export async function jobCommands(app: App): Promise<string> {
    const { call } = await firstCalls.forceFetch(app);
    const signIn = `npx routebook login --server ${app.publicUrl()}`;
    if (call === undefined) return signIn;
    return `${signIn}\nnpx routebook job add ${call.site} ${call.endpoint} --params ${shellWord(JSON.stringify(call.params))}`;
}
