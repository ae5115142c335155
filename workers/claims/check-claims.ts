import type { App } from '../../shared/app.ts';
import { watchOutage } from '../../shared/outage.ts';
import { endCheck, type ProofFound } from '../../shared/store/claim-checks.ts';
import { type DueCheck, takeDueCheck } from '../../shared/store/claims.ts';
import { userAgent } from '../../shared/user-agent.ts';
import type { EgressConnector } from '../egress.ts';
import { createFileReader, type FileReader } from './read-file.ts';
import { readTxt } from './read-txt.ts';

/** How often a worker looks for claims that are due, and how many it looks up at once, each mostly waiting for somebody's server. */
const LOOK_MS = 500;
const MOST_LOOKUPS = 32;

/**
 * Looks up the claims that are due, by DNS and by file at once: those that a caller asked for, and proofs that are due again. Every
 * worker process may run it; the store gives each claim to one of them.
 */
export function startClaimChecks(app: App, connector?: EgressConnector): { stop(): Promise<void> } {
    const { config, db, log } = app;
    const rules = { allow: config.egressAllow, hosts: config.egressHosts, proxyUrl: config.egressProxyUrl };
    const files = createFileReader(rules, () => userAgent(app.publicUrl()), connector);
    const running = new Set<Promise<void>>();
    const outage = watchOutage(log, 'claims');
    let isStopped = false;
    const begin = (due: DueCheck) => {
        const done = lookUp(app, files, due)
            .then((found) => endCheck(db, due.claimId, found))
            .catch((error: unknown) => log.warn({ part: 'claims', err: error }, 'a claim could not be checked; it is tried again'))
            .finally(() => running.delete(done));
        running.add(done);
    };
    const look = async () => {
        try {
            while (running.size < MOST_LOOKUPS && !isStopped) {
                const due = await takeDueCheck(db);
                if (due === undefined) break;
                begin(due);
            }
            outage.up();
        } catch (error) {
            outage.down(error);
        }
    };
    let looking: Promise<void> | undefined;
    const timer = setInterval(() => {
        looking ??= look().finally(() => {
            looking = undefined;
        });
    }, LOOK_MS);
    return {
        async stop() {
            isStopped = true;
            clearInterval(timer);
            await looking;
            await Promise.all(running);
            files.close();
        },
    };
}

/** One proof is enough. */
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
