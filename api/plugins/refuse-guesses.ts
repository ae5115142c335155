import { setTimeout as sleep } from 'node:timers/promises';
import type { Server } from '@hapi/hapi';
import type { App } from '../../shared/app.ts';
import { isWellFormedKey, keyHash } from '../../shared/domain/api-key.ts';
import { Refusal } from '../../shared/refusals.ts';
import { answerRaw } from './answer-raw.ts';
import { atListener } from './at-listener.ts';
import { bearerKey } from './bearer-key.ts';
import { openBucket } from './bucket.ts';
import { openContractPaths } from './contract-paths.ts';
import { headerCopies } from './header-copies.ts';
import { openTally } from './tell-refused.ts';

/** How many wrong keys come to this process. */
export interface Guesses {
    /** A key came that nobody has. */
    made(): void;
    /** Whether more come than people and programs bring by mistake. */
    areMany(): boolean;
}

/** @param usualPerSecond so many wrong keys are judged as any other call */
export function openGuesses(usualPerSecond: number): Guesses {
    const bucket = openBucket(usualPerSecond);
    return { made: () => void bucket.take(), areMany: bucket.isEmpty };
}

/**
 * While somebody guesses keys, refuses wrong ones before they become requests of hapi's, which would cost several times as much
 * (GOALS I12): with the same answer. Right keys go their usual way; one that this process has not seen for ten minutes is looked up a moment
 * later than else, together with the guesses. Register it last, after all routes.
 */
export function refuseGuesses(server: Server, app: App, guesses: Guesses): void {
    const contractOf = openContractPaths(server, ({ auth }) => auth !== 'ignored');
    const tell = openTally(app, { code: 'INVALID_API_KEY', message: 'somebody tries keys that nobody has' });
    const together = openGathering();

    atListener(server, (request, response, pass) => {
        const { authorization } = request.headers;
        const isLooked = authorization !== undefined && guesses.areMany() && headerCopies(request, 'authorization') === 1;
        const key = isLooked ? bearerKey(authorization) : undefined;
        const contract = key === undefined ? undefined : contractOf(request.method, request.url);
        if (key === undefined || contract === undefined) return pass();
        const refuse = () => {
            guesses.made();
            tell(contract.method, contract.path);
            answerRaw(app, { request, response, isOpen: contract.auth !== 'required' }, new Refusal('INVALID_API_KEY'));
        };
        if (!isWellFormedKey(key)) return refuse();
        const hash = keyHash(key);
        const judge = async () => {
            if (!app.keys.isFamiliar(hash)) await together();
            return app.keys.find(hash);
        };
        // What cannot be looked up now is told so by the usual way.
        judge().then((caller) => (caller === undefined ? refuse() : pass()), pass);
    });
}

/** One question for all of them costs the database a tenth of one for each turn of the event loop. */
const GATHER_MS = 25;

function openGathering(): () => Promise<void> {
    let next: Promise<void> | undefined;
    return () => {
        next ??= sleep(GATHER_MS).then(() => {
            next = undefined;
        });
        return next;
    };
}
