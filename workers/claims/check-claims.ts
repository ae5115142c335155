import type { App } from '../../shared/app.ts';
import { watchConnection } from '../../shared/platform/connection-log.ts';
import { userAgent } from '../../shared/platform/user-agent.ts';
import { type DueCheck, endCheck, type ProofFound, takeDueCheck } from '../../shared/store/registry/claims.ts';
import type { EgressConnector } from '../egress.ts';
import { createFileReader, type FileReader } from './read-file.ts';
import { readTxt } from './read-txt.ts';

/** Concurrent look-ups, which are mostly idle. */
const MOST_LOOKUPS = 32;

export interface ClaimCheckOptions {
    connector?: EgressConnector;
    /** How often to check for due claims. Only tests change it. */
    lookMs?: number;
}

/**
 * Starts the checks of due claims, by DNS and by file in parallel: requested checks and repeated proofs. Every worker process may run
 * it; the store gives each claim to one of them.
 */
export function startClaimChecks(app: App, { connector, lookMs = 500 }: ClaimCheckOptions = {}): { stop(): Promise<void> } {
    const { config, db, log } = app;
    const rules = { allow: config.egressAllow, hosts: config.egressHosts, proxyUrl: config.egressProxyUrl };
    const files = createFileReader(rules, () => userAgent(app.publicUrl()), connector);
    const running = new Set<Promise<void>>();
    const status = watchConnection(log, 'claims');
    let isStopped = false;
    const begin = (due: DueCheck) => {
        const done = lookUp(app, files, due)
            .then((found) => endCheck(db, due.claimId, found))
            .catch((error: unknown) => log.warn({ part: 'claims', err: error }, 'a claim could not be checked; it will be retried'))
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
            status.up();
        } catch (error) {
            status.down(error);
        }
    };
    let looking: Promise<void> | undefined;
    const timer = setInterval(() => {
        looking ??= look().finally(() => {
            looking = undefined;
        });
    }, lookMs);
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
