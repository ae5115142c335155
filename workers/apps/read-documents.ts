import type { App } from '../../shared/app.ts';
import { describeApp } from '../../shared/domain/apps/describe-app.ts';
import { userAgent } from '../../shared/platform/user-agent.ts';
import { DOCUMENT_IS_DUE, keepDocument, takeDocument } from '../../shared/store/apps/apps.ts';
import { createGuardedFetch, type FetchBounds } from '../credentials/guarded-fetch.ts';
import { type EgressConnector, egressRules } from '../egress.ts';
import { type DuePoller, type Repeated, runDue } from '../repeat.ts';

/** Maximum number of documents that are read concurrently. */
const MAX_READS = 16;
const BOUNDS: FetchBounds = { timeoutMs: 5000, answerBytes: 64 * 1024 };

/** Reads requested Client ID Metadata Documents through the egress guard. */
export function startReadingDocuments(app: App, poller: DuePoller, connector: EgressConnector): Repeated {
    const { db } = app;
    const ask = createGuardedFetch(egressRules(app.config), () => userAgent(app.publicUrl()), connector, BOUNDS);
    const reads = runDue(poller, {
        part: 'app documents',
        due: DOCUMENT_IS_DUE,
        concurrency: MAX_READS,
        take: () => takeDocument(db),
        run: async ({ appId }) => keepDocument(db, appId, await read(ask, appId)),
        about: ({ appId }) => ({ app: appId }),
    });
    return {
        async stop() {
            await reads.stop();
            ask.close();
        },
    };
}

async function read(ask: ReturnType<typeof createGuardedFetch>, appId: string) {
    try {
        const response = await ask(appId, {
            method: 'GET',
            headers: { accept: 'application/json' },
            body: undefined,
            redirect: 'manual',
        });
        if (response.status !== 200) return { problem: `It answered with status ${response.status}.` };
        const document = JSON.parse(await response.text()) as { client_id?: unknown };
        // Without this check a document could claim to be another app.
        if (document.client_id !== appId) return { problem: 'Its client_id differs from its URL.' };
        const facts = describeApp(document);
        return 'code' in facts ? { problem: facts.message } : facts;
    } catch (error) {
        // The message must not reveal private addresses or their answers.
        return { problem: error instanceof SyntaxError ? 'It is not JSON.' : 'It could not be read over https.' };
    }
}
