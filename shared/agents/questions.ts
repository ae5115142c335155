import {
    CLIENT_CAPABILITIES_META_KEY,
    type ClientCapabilities,
    type InputRequiredResult,
    inputRequired,
    inputResponse,
    type ServerContext,
} from '@modelcontextprotocol/server';
import { creditsToConfirm } from '../domain/accounts/confirm-above.ts';
import type { ApiError } from './ask.ts';

/** A call that a person confirmed, and its price in credits. */
export interface Agreed {
    tool: string;
    args: Record<string, unknown>;
    credits: number;
}

export interface Agreement {
    /** The credits that the person was asked about. */
    credits: number;
    /** The idempotency key for a call without one. With it, the call runs only once, however often the confirmation is sent. */
    once: string;
}

/** Seals a question, so that the answer is valid only for this call at this price. */
export interface Agreements {
    seal(agreed: Agreed): Promise<string>;
    /** Undefined if the confirmation is for another call or has expired. */
    open(state: string, call: Omit<Agreed, 'credits'>): Promise<Agreement | undefined>;
}

/** The protocol context of a call. Only the 2026 revision supports a question within an answer. */
type Request = ServerContext['mcpReq'];

const CONNECT = 'connect';
const CONFIRM = 'confirm';

export async function findAgreement(
    { inputResponses, requestState }: Request,
    call: Omit<Agreed, 'credits'>,
    agreements: Agreements | undefined,
): Promise<Agreement | undefined> {
    const answer = inputResponse(inputResponses, CONFIRM);
    const state = requestState<unknown>();
    if (answer.kind !== 'elicit' || answer.action !== 'accept' || typeof state !== 'string') return undefined;
    return agreements?.open(state, call);
}

/** The modes in which the client can ask its user; undefined if it cannot ask. */
function elicitationOf({ envelope }: Request): { form?: unknown; url?: unknown } | undefined {
    const capabilities = (envelope as Record<string, ClientCapabilities | null> | undefined)?.[CLIENT_CAPABILITIES_META_KEY];
    const elicitation: unknown = capabilities?.elicitation;
    return typeof elicitation === 'object' && elicitation !== null ? elicitation : undefined;
}

/** The question that follows an error; undefined if it was already asked or the client cannot ask. */
export async function questionOf(
    error: ApiError,
    request: Request,
    call: Omit<Agreed, 'credits'>,
    agreements: Agreements | undefined,
): Promise<InputRequiredResult | undefined> {
    const elicitation = elicitationOf(request);
    const answered = request.inputResponses ?? {};
    if (elicitation === undefined) return undefined;
    const { connect_url: url, message } = error;
    if (error.code === 'CONNECTION_REQUIRED' && url !== undefined && elicitation.url !== undefined && !(CONNECT in answered)) {
        return inputRequired({ inputRequests: { [CONNECT]: inputRequired.elicitUrl({ message, url }) } });
    }
    const credits = creditsToConfirm(error);
    // A client that names no mode supports forms.
    const showsForms = elicitation.form !== undefined || elicitation.url === undefined;
    if (credits === undefined || agreements === undefined || !showsForms || CONFIRM in answered) return undefined;
    const question = { message: `${message} Go ahead?`, requestedSchema: { type: 'object' as const, properties: {} } };
    return inputRequired({
        inputRequests: { [CONFIRM]: inputRequired.elicit(question) },
        requestState: await agreements.seal({ ...call, credits }),
    });
}
