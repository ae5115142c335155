import type { App } from '../../shared/app.ts';
import { userAgent } from '../../shared/platform/user-agent.ts';
import { CHECK_IS_DUE, type DueCheck, endCheck, type ProofFound, takeDueCheck } from '../../shared/store/registry/claim-checks.ts';
import type { EgressConnector } from '../egress.ts';
import { type DuePoller, type Repeated, runDue } from '../repeat.ts';
import { createFileReader, type FileReader } from './read-file.ts';
import { readTxt } from './read-txt.ts';

/** Maximum number of concurrent look-ups. They mostly wait for the network. */
const MAX_LOOKUPS = 32;

/**
 * Starts the checks of due claims: requested checks and repeated proofs. It checks DNS and the file in parallel. Every worker process may
 * run it; the store gives each claim to one process.
 */
export function startClaimChecks(app: App, poller: DuePoller, connector: EgressConnector): Repeated {
    const { db } = app;
    const files = createFileReader(connector, () => userAgent(app.publicUrl()));
    const checks = runDue(poller, {
        part: 'claims',
        due: CHECK_IS_DUE,
        concurrency: MAX_LOOKUPS,
        take: () => takeDueCheck(db),
        run: async (due) => endCheck(db, due.claimId, await lookUp(app, files, due)),
        about: ({ registrable }) => ({ site: registrable }),
    });
    return {
        async stop() {
            await checks.stop();
            files.close();
        },
    };
}

/** Looks for the token in DNS and in the file. One proof is enough. */
async function lookUp({ config }: App, files: FileReader, { registrable, token, isBlocked }: DueCheck): Promise<ProofFound> {
    const byDns = readTxt(registrable, token, config.claimResolvers);
    const byFile = isBlocked ? undefined : files.read(registrable, token);
    const dnsProblem = await byDns;
    if (dnsProblem === undefined) return { result: 'proven', method: 'dns' };
    if (byFile === undefined) {
        return { result: 'undecided', reason: `${dnsProblem} The site is blocked here, so that its file is not read: use DNS.` };
    }
    const fileProblem = await byFile;
    if (fileProblem === undefined) return { result: 'proven', method: 'file' };
    return { result: 'failed', reason: `${dnsProblem} ${fileProblem}` };
}
