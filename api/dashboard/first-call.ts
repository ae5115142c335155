import type { App } from '../../shared/app.ts';
import { type FirstCall, findFirstCall } from '../../shared/store/usage/first-call.ts';

interface CurlLine {
    /** Works as it stands, in any POSIX shell. */
    line: string;
    /** Shown after the name and a colon. */
    words: string;
    /** It is a fetch, which is charged: the first one earns something. */
    isFetch: boolean;
}

const KEPT_MS = 30_000;
const kept = new WeakMap<App, { call: FirstCall | undefined; until: number }>();

/** A `curl` line for a key: a fetch of some site that has an example, or a look at the account where the registry has none. */
export async function curlLine(app: App, apiKey: string): Promise<CurlLine> {
    const call = await firstCall(app);
    const authorization = `-H ${quoted(`Authorization: Bearer ${apiKey}`)}`;
    if (call === undefined) {
        return {
            line: `curl -s ${app.publicUrl()}/v1/account ${authorization}`,
            words: 'it shows your plan and remaining credits.',
            isFetch: false,
        };
    }
    const body = JSON.stringify({ site: call.site, endpoint: call.endpoint, params: call.params });
    return {
        line: `curl -s ${app.publicUrl()}/v1/fetch ${authorization} -H 'Content-Type: application/json' -d ${quoted(body)}`,
        words: `it calls ${call.endpoint} on ${call.site} for one credit.`,
        isFetch: true,
    };
}

/** Packages are large and seldom change: looked for twice a minute at most. */
async function firstCall(app: App): Promise<FirstCall | undefined> {
    const known = kept.get(app);
    if (known !== undefined && known.until > performance.now()) return known.call;
    const call = await findFirstCall(app.db);
    kept.set(app, { call, until: performance.now() + KEPT_MS });
    return call;
}

/** One word of a shell, whatever is in it. */
function quoted(text: string): string {
    return `'${text.replaceAll("'", `'\\''`)}'`;
}
