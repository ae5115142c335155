import { hash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { Agreed, Agreements } from '../../shared/agents/questions.ts';
import type { App } from '../../shared/app.ts';
import { randomBase62 } from '../../shared/domain/text/ids.ts';
import type { Caller } from '../../shared/store/accounts/callers.ts';

const PURPOSE = "question to an agent's person";
/** How long a person may take to answer. */
const LASTS_MS = 10 * 60 * 1000;
/** The maximum length of a state, in characters. Ours are shorter. */
const MAX = 2000;

/** The state that the client keeps between question and answer. Encrypted. It binds the answer to the call, the key and the price. */
interface Held {
    at: number;
    /** The id of this question, which can be answered only once. */
    once: string;
    keyId: string;
    /** Hash of the tool and its arguments. */
    call: string;
    credits: number;
}

/** Creates agreements that any process can open. */
export function sealedAgreements({ secrets, clock }: App, { keyId }: Caller): Agreements {
    return {
        async seal({ credits, ...call }) {
            const held: Held = { at: clock.now(), once: `agreed-${randomBase62(22)}`, keyId, call: hashOf(call), credits };
            return (await secrets.seal(JSON.stringify(held), PURPOSE)).toString('base64url');
        },
        async open(state, call) {
            const opened = state.length > MAX ? undefined : await secrets.open(Buffer.from(state, 'base64url'), PURPOSE);
            if (opened === undefined) return undefined;
            const held = JSON.parse(opened.toString()) as Held;
            const isSame = held.keyId === keyId && held.call === hashOf(call) && clock.now() - held.at <= LASTS_MS;
            return isSame ? { credits: held.credits, once: held.once } : undefined;
        },
    };
}

function hashOf({ tool, args }: Omit<Agreed, 'credits'>): string {
    return hash('sha256', canonicalize([tool, args]) ?? '', 'base64url');
}
