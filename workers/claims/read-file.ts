import type { IncomingMessage } from 'node:http';
import { parseSiteUrl } from '../../shared/domain/site/parse-site-url.ts';
import { hasProofLine, PROOF_FILE_BYTES, proofUrl } from '../../shared/domain/site/proof.ts';
import { isOnDomain } from '../../shared/domain/site/site-name.ts';
import { readBounded } from '../../shared/platform/read-bounded.ts';
import { answerHead, type EgressConnector, EgressDenied, GuardedAgent, NoAnswer } from '../egress.ts';
import { type CallTime, openCallTime } from '../upstream/call-time.ts';
import { isRedirect } from '../upstream/redirects.ts';

const TIMEOUT_MS = 6000;
const HEADER_BYTES = 16 * 1024;

export type FileReader = ReturnType<typeof createFileReader>;

export function createFileReader(connector: EgressConnector, userAgent: () => string) {
    const agent = new GuardedAgent('https', connector);
    return {
        /** Looks for a claim's line in the domain's file. @returns undefined if it is there, otherwise why the claim is not proven */
        async read(registrable: string, token: string): Promise<string | undefined> {
            const time = openCallTime(Date.now() + TIMEOUT_MS);
            const url = new URL(proofUrl(registrable));
            let asked = url;
            try {
                const first = await get(agent, url, userAgent(), time);
                const www = new URL(url);
                www.hostname = `www.${registrable}`;
                const mayMove = isOnDomain(www.hostname, registrable);
                if ('moved' in first && !mayMove) return `${url.href} redirects, which the file of a public suffix may not.`;
                if ('moved' in first && first.moved !== www.href) return `${url.href} redirects elsewhere than to ${www.href}.`;
                if ('moved' in first) asked = www;
                const last = 'moved' in first ? await get(agent, www, userAgent(), time) : first;
                if ('moved' in last) return `${www.href} redirects again.`;
                if ('problem' in last) return `${asked.href} ${last.problem}.`;
                return hasProofLine(last.text, token) ? undefined : `${url.href} has no line with this value.`;
            } catch (error) {
                if (error instanceof NoAnswer) return `${asked.hostname} ${error.message}.`;
                if (error instanceof EgressDenied) return `${asked.hostname} has an address that may not be reached from here.`;
                return `${asked.href} ${time.isOver() ? 'did not answer in time' : 'could not be read over https'}.`;
            } finally {
                time.close();
            }
        },
        close: () => agent.destroy(),
    };
}

type Read = { text: string } | { moved: string } | { problem: string };

/** Sends one request. The connection closes when the file exceeds its limit. */
async function get(agent: GuardedAgent, url: URL, userAgent: string, time: CallTime): Promise<Read> {
    const headers = { host: url.hostname, 'user-agent': userAgent, accept: 'text/plain', 'accept-encoding': 'identity' };
    const request = agent.request(url, { method: 'GET', headers, maxHeaderSize: HEADER_BYTES }, time);
    request.end();
    try {
        return await read(await answerHead(request, time), url);
    } finally {
        request.destroy();
    }
}

async function read(response: IncomingMessage, url: URL): Promise<Read> {
    const { statusCode = 0, headers } = response;
    const { location } = headers;
    if (isRedirect(statusCode, location)) return { moved: parseSiteUrl(location, url.href)?.href ?? '' };
    if (statusCode !== 200) return { problem: `answers with status ${statusCode}` };
    if ((headers['content-encoding'] ?? 'identity') !== 'identity')
        return { problem: 'answers with a compressed file, which was not asked for' };
    const bytes = await readBounded(response, PROOF_FILE_BYTES);
    if (bytes === undefined) return { problem: `has more than ${PROOF_FILE_BYTES} bytes` };
    try {
        return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
    } catch {
        return { problem: 'is not UTF-8 text' };
    }
}
